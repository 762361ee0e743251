"""Where Claude Code keeps its settings and transcripts."""

import os
from collections.abc import Mapping
from pathlib import Path

from memory_assets.harnesses.home import folder_named

VARIABLE = "CLAUDE_CONFIG_DIR"


def home_of(home: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Returns the folder of its settings, whether or not it exists."""
    return folder_named(environ.get(VARIABLE), home / ".claude")


def transcript_places(home: Path, environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Returns the folders of its transcripts, whether or not they exist."""
    return [home_of(home, environ) / "projects"]
