"""Finds the folders in which the harnesses keep their settings and transcripts.

Variables of the environment may name other folders than the usual ones.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from memory_assets.schema.vocabulary import Harness

CLAUDE_FOLDER = "CLAUDE_CONFIG_DIR"
"""The variable that names another folder for the settings of Claude Code."""

_UNREAD = ".qwen/projects .copilot/session-state .gemini/tmp .cursor/projects".split()
"""Below the person's home: transcripts that cannot be read yet."""


def harness_homes(home: Path, environ: Mapping[str, str] = os.environ) -> dict[Harness, Path]:
    """Returns the folder of each harness's settings and memories, whether or not it exists."""
    return {
        "claude_code": _folder(environ.get(CLAUDE_FOLDER), home / ".claude"),
        "codex": _folder(environ.get("CODEX_HOME"), home / ".codex"),
        "pi": _folder(environ.get("PI_CODING_AGENT_DIR"), home / ".pi" / "agent"),
    }


def transcript_places(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Returns the folders in which the harnesses keep transcripts, whether or not they exist."""
    homes = harness_homes(home, environ)
    return [
        homes["claude_code"] / "projects",
        homes["codex"] / "sessions",
        homes["codex"] / "archived_sessions",
        _folder(environ.get("PI_CODING_AGENT_SESSION_DIR"), homes["pi"] / "sessions"),
    ]


def usual_places(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Returns the existing folders in which the harnesses keep transcripts."""
    return [place for place in transcript_places(home, environ) if place.is_dir()]


def unread_places(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Returns the usual places of transcripts that cannot be read yet; some may not exist."""
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return [*(home / place for place in _UNREAD), data / "opencode" / "opencode.db"]


def _folder(variable: str | None, usual: Path) -> Path:
    return Path(variable).expanduser() if variable else usual
