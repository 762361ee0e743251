"""Where pi keeps its settings and transcripts."""

import os
from collections.abc import Mapping
from pathlib import Path

from memory_assets.harnesses.home import folder_named


def home_of(home: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Returns the folder of its settings, whether or not it exists."""
    return folder_named(environ.get("PI_CODING_AGENT_DIR"), home / ".pi" / "agent")


def transcript_places(home: Path, environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Returns the folder of its transcripts, whether or not it exists."""
    sessions = environ.get("PI_CODING_AGENT_SESSION_DIR")
    return [folder_named(sessions, home_of(home, environ) / "sessions")]
