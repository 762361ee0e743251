"""The slog: a log of what people, agents and this program did to systems, as JSON Lines in the
workspace.

A line is `{timestamp, action, tool, detail, reason}`. Lines are only appended, by any number of
processes at once; forgetting alone changes them, by masking words in place. Secrets are masked
here, whoever appends. It is kept with MEMORY.md, under git.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from memory_assets.schema.vocabulary import SLOG_ACTIONS
from memory_assets.store.ledger import is_torn_line
from memory_assets.text.files import append_line, bytes_of, make_folder
from memory_assets.text.masking.records import mask_record

SLOG = "slog.jsonl"
"""Name of the file in the workspace."""

LOCK = "slog.lock"
"""Name of its lock, in the data folder: an entry is appended by one process at a time."""

LOCK_SECONDS = 60.0
POLL_SECONDS = 0.002


@dataclass(frozen=True)
class Entry:
    """One line of the slog."""

    timestamp: str
    """When it was done, in UTC."""
    action: str
    """install, configure, deploy, fix, create, ingest or restart."""
    tool: str
    """What it was done to or with, such as caddy."""
    detail: str
    """What was done."""
    reason: str = ""
    """Why."""

    @property
    def at(self) -> datetime:
        """When it was done."""
        return datetime.fromisoformat(self.timestamp).astimezone(UTC)


class Slog:
    """Appends entries to the slog of a store and reads them."""

    def __init__(self, root: Path) -> None:
        self.path = root / "workspace" / SLOG
        self._lock = root / LOCK

    def append(self, entries: Iterable[Entry]) -> list[Entry]:
        """Appends the entries and returns them as written; each is on disk when this returns."""
        return self._append(lambda: entries)

    def append_new(self, entries: Iterable[Entry]) -> list[Entry]:
        """Appends the entries that the slog does not have, and returns them."""

        def missing() -> list[Entry]:
            known = {(one.timestamp, one.detail) for one in self.entries()}
            return [one for one in entries if (one.timestamp, one.detail) not in known]

        return self._append(missing)

    def entries(self) -> list[Entry]:
        """Returns the entries by time; lines that are no entry (`damaged`) are left out."""
        found = [entry for line in self._lines() if (entry := parse_entry(line)) is not None]
        return sorted(found, key=lambda one: one.timestamp)

    def damaged(self) -> list[str]:
        """Returns the lines that are no entry, each with its number from 1; lines that a killed
        process left are none.
        """
        lines = enumerate(self._lines(), 1)
        return [
            f"{SLOG}, line {number}"
            for number, line in lines
            if parse_entry(line) is None and not is_torn_line(line)
        ]

    def _append(self, choose: Callable[[], Iterable[Entry]]) -> list[Entry]:
        import filelock

        make_folder(self._lock.parent)
        with filelock.FileLock(
            self._lock, timeout=LOCK_SECONDS, mode=0o600, poll_interval=POLL_SECONDS
        ):
            records = mask_record([asdict(one) for one in choose()])
            if records:
                append_line(
                    self.path,
                    b"\n".join(
                        json.dumps(record, ensure_ascii=False).encode() for record in records
                    ),
                )
            return [Entry(**record) for record in records]

    def _lines(self) -> list[bytes]:
        """Returns the complete lines; the rest is being written, or was torn."""
        return [line for line in (bytes_of(self.path) or b"").split(b"\n")[:-1] if line.strip()]


def timestamp_of(moment: datetime) -> str:
    """Returns the moment as the slog writes it: UTC, with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_entry(line: bytes) -> Entry | None:
    """Returns the entry on the line; None where it is none."""
    try:
        row = json.loads(line)
        entry = Entry(**row)
        is_whole = (
            all(isinstance(value, str) for value in row.values()) and entry.action in SLOG_ACTIONS
        )
        return entry if is_whole and entry.at else None
    except (ValueError, TypeError, OverflowError):
        return None
