"""The log of what each step of the pipeline did: one event per step as a line of JSON, in files
that rotate.

`logs/steps.jsonl` grows to 1 MB and is then renamed to `steps-000001.jsonl` and so on; the oldest
of more than `MOST_FILES` files are deleted. Events hold names of tables, counts and durations, but
never text of messages or names of projects. The asset `telemetry` stores them as a table.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import filelock

from memory_assets.schema.frames import hash_of
from memory_assets.text.files import make_folder

FOLDER = "logs"
FILE = "steps.jsonl"
MOST_BYTES = 1_000_000
MOST_FILES = 10
"""Together about 30,000 steps."""


@dataclass(frozen=True)
class StepEvent:
    """What one step did."""

    at: datetime
    """When it ended."""
    component: str
    """Stage of the pipeline."""
    action: str
    """The table or file that it builds."""
    success: bool
    duration_ms: float
    problem: str = ""
    """Class of the error; its message may hold people's words."""
    counts: Mapping[str, int] = field(default_factory=dict)


def log_step(root: Path, event: StepEvent) -> None:
    """Appends the event; ignores a log that cannot be written, so that the step goes on."""
    record = asdict(event) | {
        "level": "info" if event.success else "error",
        "at": event.at.isoformat(),
        "duration_ms": round(event.duration_ms, 3),
    }
    line = json.dumps(record, sort_keys=True).encode() + b"\n"
    try:
        path = make_folder(root / FOLDER) / FILE
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line)
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
        if size >= MOST_BYTES:
            _rotate(path)
    except OSError:
        return


def read_steps(root: Path) -> Iterator[dict[str, Any]]:
    """Yields the events, oldest first, each with its `event_id`; a line that cannot be read is
    skipped.
    """
    folder = root / FOLDER
    for path in [*_numbered(folder).values(), folder / FILE]:
        try:
            lines = path.read_bytes().splitlines()
        except OSError:
            continue  # rotated away meanwhile, or none yet
        for line in lines:
            with suppress(ValueError, KeyError, TypeError):
                event = json.loads(line)
                at = datetime.fromisoformat(event["at"])
                yield {"event_id": hash_of(line.decode())[:16], **event, "at": at}


def _rotate(path: Path) -> None:
    with filelock.FileLock(path.with_suffix(".lock"), mode=0o600):
        if path.stat().st_size < MOST_BYTES:  # another process was first
            return
        last = max(_numbered(path.parent), default=0)
        path.rename(path.with_name(f"steps-{last + 1:06d}.jsonl"))
        for old in [*_numbered(path.parent).values()][: -(MOST_FILES - 1)]:
            old.unlink(missing_ok=True)


def _numbered(folder: Path) -> dict[int, Path]:
    """Returns the full files by their number, oldest first."""
    paths = {path.stem.removeprefix("steps-"): path for path in folder.glob("steps-*.jsonl")}
    numbered = {int(digits): path for digits, path in paths.items() if digits.isdigit()}
    return dict(sorted(numbered.items()))
