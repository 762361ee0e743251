"""Writes the bundled sample: three weeks of one invented developer's sessions, as files of the
three harnesses.

Copies `data/sample/transcripts` and replaces the placeholders in paths and texts, which
`data/sample/README.md` describes. Dates count back from the day of the last session: yesterday in
UTC. The sample's secrets are placeholders, too, so that secret scanners of repositories find none.
"""

import json
import os
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from memory_assets.errors import TranscriptError
from memory_assets.store.places import CHECKOUT
from memory_assets.text.files import path_within, write_atomically, write_json

PACKAGE = Path(__file__).resolve().parents[2]
MARKER = "sample.json"
"""File in the written folder that stores the day of the last session."""

PLANTED_SECRETS = {
    "aws": "AKIA" + "ZZ7QXTIDE4WQ9KJX",
    "github": "ghp_" + "q7ZxTideWatchK4vJ9wQzXb2Rk8YpLm5Tn0H",
    "postgres": "Kq7zW4x" + "Vtide9Pj",
}
"""Invented secrets that are valid nowhere, but random enough to be masked like real ones."""

_PLACEHOLDER = re.compile(
    r'"\{\{epoch-(?P<epoch>\d+)T(?P<clock>[\d:.]+)\}\}"|\{\{(?P<form>date|day'
    r"|path)-(?P<days>\d+)\}\}|\{\{secret:(?P<secret>\w+)\}\}"
)
_TIMESTAMP = re.compile(r'"timestamp":"([^"]+)"')


def sample_root() -> Path:
    """Returns the folder of the sample, in the checkout or in the installed package."""
    folders = (Path(CHECKOUT, "data", "sample"), PACKAGE / "_sample")
    for folder in folders:
        if (folder / "transcripts").is_dir():
            return folder
    raise TranscriptError(
        f"Cannot find the sample: neither {folders[0]} nor {folders[1]} holds transcripts. "
        "Reinstall memory_assets, or name folders with transcripts in MEMORY_SOURCES."
    )


def lay_out(sample_root: Path, into: Path, now: datetime) -> Path:
    """Writes the sample's transcripts into the folder and returns the folder.

    Files and dates that an earlier call wrote stay unchanged; a link out of the folder is refused.
    """
    root = sample_root / "transcripts"
    last_day = _last_day(into, now)
    for source in sorted(root.rglob("*.jsonl")):
        transcript = _fill(source.read_text("utf-8"), last_day)
        ended_at = datetime.fromisoformat(_TIMESTAMP.findall(transcript)[-1])
        path = path_within(into, _fill(str(source.relative_to(root)), last_day))
        _write_once(path, transcript, ended_at)
        meta = source.with_suffix(".meta.json")
        if meta.is_file():
            _write_once(path.with_suffix(".meta.json"), meta.read_text("utf-8"), ended_at)
    return into


def _last_day(into: Path, now: datetime) -> date:
    marker = path_within(into, MARKER)
    if not marker.is_file():
        yesterday = now.astimezone(UTC).date() - timedelta(days=1)
        write_json(marker, {"last_day": yesterday.isoformat()})
    return date.fromisoformat(json.loads(marker.read_text("utf-8"))["last_day"])


def _fill(text: str, last_day: date) -> str:
    """Returns the text with its placeholders replaced."""

    def value(match: re.Match[str]) -> str:
        if match["secret"]:
            return PLANTED_SECRETS[match["secret"]]
        day = last_day - timedelta(days=int(match["epoch"] or match["days"]))
        if match["epoch"]:
            return str(round(datetime.fromisoformat(f"{day}T{match['clock']}Z").timestamp() * 1000))
        forms = {"date": f"{day}", "day": f"{day.day} {day:%B %Y}", "path": f"{day:%Y/%m/%d}"}
        return forms[match["form"]]

    return _PLACEHOLDER.sub(value, text)


def _write_once(path: Path, text: str, at: datetime) -> None:
    """Writes the file with that modification time, unless it exists."""
    if not path.is_file():
        write_atomically(path, text.encode())
        os.utime(path, (at.timestamp(), at.timestamp()))
