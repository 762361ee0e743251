"""Lays out the bundled sample: three weeks of one invented developer's sessions, as files of the three harnesses.

Takes the folder of the sample and a moment, returns the folder that was filled, laid out as the harnesses do. All dates
are shifted by whole days so that the last session was yesterday (in UTC, as the clock times in the scripts). A folder
that was filled once keeps its dates: a sample store stays as it was made.
"""

import json
import os
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from memory_assets.errors import TranscriptError
from memory_assets.stages.capture.sample_claude import claude_files
from memory_assets.stages.capture.sample_codex import codex_files
from memory_assets.stages.capture.sample_pi import pi_files
from memory_assets.stages.capture.sample_script import Script, read_scripts
from memory_assets.store.places import CHECKOUT
from memory_assets.text.files import write_atomically, write_json

PACKAGE = Path(__file__).resolve().parents[2]
MARKER = "sample.json"
"""Lies in a folder that was filled, and holds the day of the last session."""


def sample_root() -> Path:
    """Returns the folder of the sample: `data/sample` in a checkout, else the copy in the installed package."""
    for folder in (Path(CHECKOUT, "data", "sample"), PACKAGE / "_sample"):
        if (folder / "sessions").is_dir():
            return folder
    raise TranscriptError(
        f"Cannot find the sample: neither {Path(CHECKOUT, 'data', 'sample')} nor {PACKAGE / '_sample'} holds sessions. "
        "Reinstall memory_assets, or name folders with transcripts in MEMORY_SOURCES."
    )


def lay_out(sample_root: Path, into: Path, now: datetime) -> Path:
    """Fills the folder with the sample's transcripts and returns it; what is there already is left untouched."""
    last_day = _last_day(into, now)
    scripts = read_scripts(sample_root / "sessions", last_day)
    for script in scripts.values():
        for path, content in render(script, scripts).items():
            _write_once(into / path, content, script.ended_at)
    return into


def render(script: Script, scripts: Mapping[str, Script]) -> dict[str, bytes]:
    """Returns the files of one session, by path below the folder of all harnesses."""
    if script.harness == "claude_code":
        return claude_files(script, scripts)
    return codex_files(script, scripts) if script.harness == "codex" else pi_files(script)


def session_ids(sample_root: Path) -> dict[str, str]:
    """Returns the session id of every script by its name; ids do not depend on the dates."""
    return {name: script.session_id for name, script in read_scripts(sample_root / "sessions", date(2026, 1, 31)).items()}


def _last_day(into: Path, now: datetime) -> date:
    marker = into / MARKER
    if not marker.is_file():
        write_json(marker, {"last_day": (now.astimezone(UTC).date() - timedelta(days=1)).isoformat()})
    return date.fromisoformat(json.loads(marker.read_text("utf-8"))["last_day"])


def _write_once(path: Path, content: bytes, at: datetime) -> None:
    if path.is_file():
        return
    write_atomically(path, content)
    os.utime(path, (at.timestamp(), at.timestamp()))
