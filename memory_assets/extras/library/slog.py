"""The slog: a log of what people, agents and this program did to systems.

It is a file of JSON Lines, `{timestamp, action, tool, detail, reason}`, in the workspace, which is
under git. Any number of processes may append at once; secrets are masked here. Only forgetting
changes a line, by masking words in place. Promotions and forgettings are logged from the ledger's
events: a killed run loses none, and a repeated run adds none twice.
"""

import json
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import NoteError
from memory_assets.extras.library.records import SLOG_ACTIONS
from memory_assets.extras.library.requests import SlogRequest
from memory_assets.services.notes.clean_text import masked_line, masked_warnings
from memory_assets.stages.maintain.checks import Check, outcome
from memory_assets.stages.triage.promote import MOVED, PROMOTED, RETIRED
from memory_assets.store.ledger import WORDS_FORGOTTEN, Event, is_torn_line
from memory_assets.store.store import Store, open_store
from memory_assets.text.files import append_line, bytes_of, make_folder
from memory_assets.text.masking.records import mask_record

SLOG = "slog.jsonl"
"""Name of the file in the workspace."""

LOCK = "slog.lock"
"""Name of its lock in the data folder: one process at a time appends."""

LOCK_SECONDS = 60.0
"""Time that a process waits for the lock before it fails."""

POLL_SECONDS = 0.002
"""Time between two attempts to take the lock; an append takes about as long."""

OWN_TOOL = "memory"
"""The tool of the entries that this program writes about itself."""

LONGEST = {"tool": 80, "detail": 2_000, "reason": 2_000}
"""Most characters of each text of an entry."""

LOGGED = (PROMOTED, RETIRED, MOVED, WORDS_FORGOTTEN)
"""Kinds of the ledger's events that are logged in the slog."""

REMEDY = (
    "`git show HEAD:slog.jsonl` in the workspace shows the committed lines; the other entries "
    "are still used."
)


@dataclass(frozen=True)
class SlogLine:
    """One line of the slog."""

    timestamp: str
    """When it was done, in UTC."""
    action: str
    """install, configure, deploy, fix, create, ingest or restart."""
    tool: str
    """What it was done to or with, such as caddy."""
    detail: str
    """What was done, in a sentence."""
    reason: str = ""
    """Why; empty where nobody said."""

    @property
    def at(self) -> datetime:
        """The timestamp as a moment in UTC."""
        return datetime.fromisoformat(self.timestamp).astimezone(UTC)

    @property
    def text(self) -> str:
        """All fields in lower case, for a search."""
        return " ".join(asdict(self).values()).lower()


class Slog:
    """The slog of one store."""

    def __init__(self, root: Path) -> None:
        self.path = root / "workspace" / SLOG
        self._lock = root / LOCK

    def append(self, entries: Iterable[SlogLine]) -> list[SlogLine]:
        """Appends the entries, and returns them as written once they are on disk."""
        return self._append(lambda: entries)

    def append_new(self, entries: Iterable[SlogLine]) -> list[SlogLine]:
        """Appends the entries that the slog does not have, and returns them."""

        def missing() -> list[SlogLine]:
            """Returns the entries that are not logged; called when no other process can append."""
            logged = {(entry.timestamp, entry.detail) for entry in self.entries()}
            return [entry for entry in entries if (entry.timestamp, entry.detail) not in logged]

        return self._append(missing)

    def entries(self) -> list[SlogLine]:
        """Returns the entries by time, without damaged lines."""
        entries = filter(None, map(parse_line, self._lines()))
        return sorted(entries, key=lambda entry: entry.timestamp)

    def damaged(self) -> list[str]:
        """Returns the name of each line that is no entry; lines are numbered from 1.

        Lines that a killed process left incomplete are left out.
        """
        return [
            f"{SLOG}, line {number}"
            for number, line in enumerate(self._lines(), 1)
            if parse_line(line) is None and not is_torn_line(line)
        ]

    def _append(self, choose: Callable[[], Iterable[SlogLine]]) -> list[SlogLine]:
        """Appends the entries that `choose` returns while this process has the lock."""
        import filelock

        make_folder(self._lock.parent)
        with filelock.FileLock(
            self._lock, timeout=LOCK_SECONDS, mode=0o600, poll_interval=POLL_SECONDS
        ):
            records = mask_record([asdict(entry) for entry in choose()])
            lines = [json.dumps(record, ensure_ascii=False).encode() for record in records]
            if lines:
                append_line(self.path, b"\n".join(lines))
        return [SlogLine(**record) for record in records]

    def _lines(self) -> list[bytes]:
        """Returns the complete lines, not one at the end that is still being written."""
        *lines, _ = (bytes_of(self.path) or b"").split(b"\n")
        return [line for line in lines if line.strip()]


def parse_line(line: bytes) -> SlogLine | None:
    """Returns the entry on the line; None where the line is no entry."""
    try:
        row = json.loads(line)
        entry = SlogLine(**row)
        is_text = all(isinstance(value, str) for value in row.values())
        is_entry = is_text and entry.action in SLOG_ACTIONS and entry.at is not None
        return entry if is_entry else None
    except (ValueError, TypeError, OverflowError):
        return None


def slog_of(store: Store) -> Slog:
    """Returns the slog of the store."""
    return Slog(store.root)


@dataclass(frozen=True)
class SlogAnswer:
    """Entries of the slog, and commands for the next step."""

    entries: tuple[SlogLine, ...]
    """The listed entries by time, the latest last."""
    count: int
    """Number of all entries that match, listed or not."""
    links: tuple[tuple[str, str], ...]
    """Label and command of each next step."""
    masked_count: int = 0
    is_added: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning where secrets were masked."""
        return masked_warnings(self.masked_count, "entry")

    def to_dict(self) -> dict[str, Any]:
        """Returns the answer for JSON."""
        links = [{"rel": rel, "command": command} for rel, command in self.links]
        return {"entries": list(self.entries), "count": self.count, "_links": links}


def append(store: Store, request: SlogRequest) -> SlogAnswer:
    """Appends an entry, and creates the store where there is none.

    Raises `NoteError` for texts that cannot be saved.
    """
    masked = [_masked(getattr(request, name), name, most) for name, most in LONGEST.items()]
    open_store(store.settings)
    texts = (text for text, _ in masked)
    entry = _entry(store.settings.clock(), str(request.action), *texts)
    (saved_entry,) = slog_of(store).append([entry])
    count = sum(secret_count for _, secret_count in masked)
    return SlogAnswer((saved_entry,), 1, _links(saved_entry.tool), count, is_added=True)


def find(store: Store, request: SlogRequest) -> SlogAnswer:
    """Returns the latest entries that have all words of `search`."""
    words = request.search.lower().split()
    entries = [
        entry for entry in slog_of(store).entries() if all(word in entry.text for word in words)
    ]
    latest = tuple(entries[-request.limit :])
    tool = latest[-1].tool if latest else ""
    return SlogAnswer(latest, len(entries), _links(tool))


def log_own(store: Store, action: str, detail: str, reason: str) -> None:
    """Appends an entry about something that this program did."""
    slog_of(store).append([_entry(store.settings.clock(), action, OWN_TOOL, detail, reason)])


def log_events(store: Store) -> list[SlogLine]:
    """Appends an entry for each event of `LOGGED` in the ledger that has none yet.

    Returns the new entries.
    """
    return slog_of(store).append_new(map(_entry_of, store.ledger.events(LOGGED)))


def problems_of(store: Store) -> Iterator[str]:
    """Yields the lines that are no entry, and a problem where committed lines were changed.

    The slog is only appended to, so the committed file must be the beginning of the present one.
    """
    yield from slog_of(store).damaged()
    workspace = GitWorkspace(store.workspace)
    committed = workspace.at_head(SLOG) if (store.workspace / ".git").is_dir() else None
    if committed and not (bytes_of(store.workspace / SLOG) or b"").startswith(committed):
        yield f"{SLOG}: committed lines were changed or removed"


def deep_check(store: Store, night: date | None) -> Check:
    """Returns the check of all lines; the slog is short, so every night checks all."""
    promise = "every line of the slog is an entry, and none was changed"
    size = f"{len(slog_of(store).entries()):,} entries"
    return outcome("slog", promise, [*problems_of(store)], size, REMEDY)


def _entry_of(event: Event) -> SlogLine:
    """Returns the entry about an event of `LOGGED`."""
    path = event.payload.get("path", "")
    if event.kind == WORDS_FORGOTTEN:
        count = len(event.payload["tombstones"])
        phrases = f"Erased {count} phrase{'' if count == 1 else 's'} for good"
        return _entry(event.at, "fix", OWN_TOOL, phrases, "forget")
    action, detail = {
        RETIRED: ("fix", f"Removed the line of {event.target} from {path}"),
        MOVED: ("configure", f"Moved the line of {event.target} to {path}"),
        PROMOTED: ("create", f"Promoted {event.target} into {path}"),
    }[event.kind]
    return _entry(event.at, action, OWN_TOOL, detail, "triage")


def _entry(moment: datetime, *texts: str) -> SlogLine:
    """Returns an entry: the moment in UTC, then action, tool, detail and reason."""
    at = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return SlogLine(at.replace("+00:00", "Z"), *texts)


def _masked(text: str, name: str, most: int) -> tuple[str, int]:
    """Returns the text as one line with its secrets masked, and the number of secrets."""
    if len(text) > most:
        raise NoteError(
            f"The {name} has {len(text):,} characters, the limit is {most:,}. Shorten it."
        )
    return masked_line(text, f"the {name}")


def _links(tool: str) -> tuple[tuple[str, str], ...]:
    """Returns label and command of each next step."""
    of_tool = (("same tool", f"memory library slog search {shlex.quote(tool)}"),) if tool else ()
    return (
        ("latest", "memory library slog list"),
        *of_tool,
        ("how to add", "memory library slog add --help"),
    )
