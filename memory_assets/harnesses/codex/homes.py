"""Where Codex keeps its settings and transcripts."""

import os
from collections.abc import Mapping
from pathlib import Path

from memory_assets.harnesses.home import folder_named


def home_of(home: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Returns the folder of its settings, whether or not it exists."""
    return folder_named(environ.get("CODEX_HOME"), home / ".codex")


def transcript_places(home: Path, environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Returns the folders of its transcripts, whether or not they exist."""
    settings = home_of(home, environ)
    return [settings / "sessions", settings / "archived_sessions"]
