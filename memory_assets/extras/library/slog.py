"""The slog: a log of what people, agents and this program did to systems, as JSON Lines in the
workspace, under git.

A line is `{timestamp, action, tool, detail, reason}`. Lines are only appended, by any number of
processes at once; forgetting alone changes them, by masking words in place. Secrets are masked
here, whoever appends. Promotions and forgettings are logged from their events in the ledger, so
that a killed run loses none and a repeated one adds none.
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
"""Name of its lock, in the data folder: an entry is appended by one process at a time."""

LOCK_SECONDS = 60.0
POLL_SECONDS = 0.002
OWN_TOOL = "memory"
"""The tool of the entries that this program writes about itself."""

LONGEST = {"tool": 80, "detail": 2_000, "reason": 2_000}
"""Characters of each text of an entry."""

LOGGED = (PROMOTED, RETIRED, MOVED, WORDS_FORGOTTEN)
"""Events of the ledger that are logged, too."""

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
    """What was done."""
    reason: str = ""
    """Why."""

    @property
    def at(self) -> datetime:
        """When it was done."""
        return datetime.fromisoformat(self.timestamp).astimezone(UTC)

    @property
    def text(self) -> str:
        """All that it says, in lower case."""
        return " ".join(asdict(self).values()).lower()


class Slog:
    """Appends entries to the slog of a store and reads them."""

    def __init__(self, root: Path) -> None:
        self.path = root / "workspace" / SLOG
        self._lock = root / LOCK

    def append(self, entries: Iterable[SlogLine]) -> list[SlogLine]:
        """Appends the entries and returns them as written; each is on disk when this returns."""
        return self._append(lambda: entries)

    def append_new(self, entries: Iterable[SlogLine]) -> list[SlogLine]:
        """Appends the entries that the slog does not have, and returns them."""

        def missing() -> list[SlogLine]:
            """Returns the entries that are not logged, once nobody else appends."""
            logged = {(entry.timestamp, entry.detail) for entry in self.entries()}
            return [entry for entry in entries if (entry.timestamp, entry.detail) not in logged]

        return self._append(missing)

    def entries(self) -> list[SlogLine]:
        """Returns the entries by time; lines that are no entry (`damaged`) are left out."""
        entries = filter(None, map(parse_line, self._lines()))
        return sorted(entries, key=lambda entry: entry.timestamp)

    def damaged(self) -> list[str]:
        """Returns the lines that are no entry, each with its number from 1; lines that a killed
        process left are none.
        """
        return [
            f"{SLOG}, line {number}"
            for number, line in enumerate(self._lines(), 1)
            if parse_line(line) is None and not is_torn_line(line)
        ]

    def _append(self, choose: Callable[[], Iterable[SlogLine]]) -> list[SlogLine]:
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
        """Returns the complete lines; the rest is being written, or was torn."""
        return [line for line in (bytes_of(self.path) or b"").split(b"\n")[:-1] if line.strip()]


def parse_line(line: bytes) -> SlogLine | None:
    """Returns the entry on the line; None where it is none."""
    try:
        row = json.loads(line)
        entry = SlogLine(**row)
        is_whole = (
            all(isinstance(value, str) for value in row.values()) and entry.action in SLOG_ACTIONS
        )
        return entry if is_whole and entry.at else None
    except (ValueError, TypeError, OverflowError):
        return None


def slog_of(store: Store) -> Slog:
    """Returns the slog of the store."""
    return Slog(store.root)


@dataclass(frozen=True)
class SlogAnswer:
    """Entries of the slog, and commands that go on from them."""

    entries: tuple[SlogLine, ...]
    """By time, the latest last."""
    count: int
    """All entries that were found, those that are not listed included."""
    links: tuple[tuple[str, str], ...]
    masked_count: int = 0
    is_added: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning where secrets were masked."""
        return masked_warnings(self.masked_count, "entry")

    def to_dict(self) -> dict[str, Any]:
        """Returns it for programs."""
        links = [{"rel": rel, "command": command} for rel, command in self.links]
        return {"entries": list(self.entries), "count": self.count, "_links": links}


def append(store: Store, request: SlogRequest) -> SlogAnswer:
    """Appends an entry; raises `NoteError` for texts that cannot be saved. The first entry creates
    the store.
    """
    masked = {name: _masked(getattr(request, name), name, most) for name, most in LONGEST.items()}
    open_store(store.settings)
    entry = _entry(
        store.settings.clock(), str(request.action), *(text for text, _ in masked.values())
    )
    (written,) = slog_of(store).append([entry])
    count = sum(secrets for _, secrets in masked.values())
    return SlogAnswer((written,), 1, _links(written.tool), count, is_added=True)


def find(store: Store, request: SlogRequest) -> SlogAnswer:
    """Returns the latest entries, only those with all words of `search` if it has any."""
    words = request.search.lower().split()
    entries = [
        entry for entry in slog_of(store).entries() if all(word in entry.text for word in words)
    ]
    shown = tuple(entries[-request.limit :])
    return SlogAnswer(shown, len(entries), _links(shown[-1].tool if shown else ""))


def log_own(store: Store, action: str, detail: str, reason: str) -> None:
    """Appends an entry about what this program did."""
    slog_of(store).append([_entry(store.settings.clock(), action, OWN_TOOL, detail, reason)])


def log_events(store: Store) -> list[SlogLine]:
    """Appends an entry for each promotion and forgetting of the ledger that has none yet, and
    returns them.
    """
    return slog_of(store).append_new(map(_entry_of, store.ledger.events(LOGGED)))


def problems_of(store: Store) -> Iterator[str]:
    """Yields the lines that are no entry, and what is wrong if the committed slog is not the
    beginning of the present one: it is only appended to.
    """
    yield from slog_of(store).damaged()
    workspace = GitWorkspace(store.workspace)
    committed = workspace.at_head(SLOG) if (store.workspace / ".git").is_dir() else None
    if committed and not (bytes_of(store.workspace / SLOG) or b"").startswith(committed):
        yield f"{SLOG}: committed lines were changed or removed"


def deep_check(store: Store, night: date | None) -> Check:
    """Checks every line, whatever the night."""
    promise = "every line of the slog is an entry, and none was changed"
    size = f"{len(slog_of(store).entries()):,} entries"
    return outcome("slog", promise, [*problems_of(store)], size, REMEDY)


def _entry_of(event: Event) -> SlogLine:
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
    """Returns the entry with the moment in UTC, with milliseconds."""
    at = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return SlogLine(at.replace("+00:00", "Z"), *texts)


def _masked(text: str, name: str, most: int) -> tuple[str, int]:
    """Returns the text as one line with its secrets masked, and how many there were."""
    if len(text) > most:
        raise NoteError(
            f"The {name} has {len(text):,} characters, the limit is {most:,}. Shorten it."
        )
    return masked_line(text, f"the {name}")


def _links(tool: str) -> tuple[tuple[str, str], ...]:
    """Returns what to do next, each as a command."""
    of_tool = (("same tool", f"memory library slog search {shlex.quote(tool)}"),) if tool else ()
    return (
        ("latest", "memory library slog list"),
        *of_tool,
        ("how to add", "memory library slog add --help"),
    )
