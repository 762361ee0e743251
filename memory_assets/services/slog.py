"""The slog: appends entries of people and agents, finds entries, and logs what this program did
itself.

Each answer has `_links`: commands that go on from it and run as they stand. Promotions and
forgettings are logged from their events in the ledger, so that a killed run loses none and a
repeated one adds none.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import NoteError
from memory_assets.schema.requests import SlogRequest
from memory_assets.schema.vocabulary import SlogAction
from memory_assets.services.notes.clean_text import masked_line, masked_warnings
from memory_assets.stages.triage.promote import MOVED, PROMOTED, RETIRED
from memory_assets.store.ledger import WORDS_FORGOTTEN, Event
from memory_assets.store.slog import SLOG, Entry, timestamp_of
from memory_assets.store.store import Store, open_store
from memory_assets.text.files import bytes_of

OWN_TOOL = "memory"
"""The tool of the entries that this program writes about itself."""

LONGEST_TOOL, LONGEST = 80, 2_000
"""Characters of the name of a tool, and of a detail or a reason."""

LOGGED = (PROMOTED, RETIRED, MOVED, WORDS_FORGOTTEN)
"""Events of the ledger that are logged, too."""


@dataclass(frozen=True)
class SlogAnswer:
    """Entries of the slog, and commands that go on from them."""

    entries: tuple[Entry, ...]
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
    limits = {"tool": LONGEST_TOOL, "detail": LONGEST, "reason": LONGEST}
    cleaned = {
        name: _clean(getattr(request, name), name, longest) for name, longest in limits.items()
    }
    texts = {name: text for name, (text, _) in cleaned.items()}
    open_store(store.settings)
    (entry,) = store.slog.append(
        [Entry(timestamp_of(store.settings.clock()), str(request.action), **texts)]
    )
    return SlogAnswer(
        (entry,), 1, _links(entry.tool), sum(count for _, count in cleaned.values()), is_added=True
    )


def find(store: Store, request: SlogRequest) -> SlogAnswer:
    """Returns the latest entries, only those with all words of `search` if it has any."""
    words = request.search.lower().split()
    found = [one for one in store.slog.entries() if all(word in _text_of(one) for word in words)]
    shown = tuple(found[-request.limit :])
    return SlogAnswer(shown, len(found), _links(shown[-1].tool if shown else ""))


def log_own(store: Store, action: SlogAction, detail: str, reason: str) -> None:
    """Appends an entry about what this program did."""
    store.slog.append(
        [Entry(timestamp_of(store.settings.clock()), action, OWN_TOOL, detail, reason)]
    )


def log_events(store: Store) -> list[Entry]:
    """Appends an entry for each promotion and forgetting of the ledger that has none yet, and
    returns them.
    """
    return store.slog.append_new([_entry_of(event) for event in store.ledger.events(LOGGED)])


def uncommitted_changes(store: Store) -> Iterator[str]:
    """Yields what is wrong if the committed slog is not the beginning of the present one: it is
    only appended to.
    """
    workspace = GitWorkspace(store.workspace)
    committed = workspace.at_head(SLOG) if (store.workspace / ".git").is_dir() else None
    if committed and not (bytes_of(store.workspace / SLOG) or b"").startswith(committed):
        yield f"{SLOG}: committed lines were changed or removed"


def _entry_of(event: Event) -> Entry:
    path, at = event.payload.get("path", ""), timestamp_of(event.at)
    match event.kind:
        case "words.forgotten":
            count = len(event.payload["tombstones"])
            return Entry(
                at,
                "fix",
                OWN_TOOL,
                f"Erased {count} phrase{'' if count == 1 else 's'} for good",
                "forget",
            )
        case "entry.retired":
            return Entry(
                at, "fix", OWN_TOOL, f"Removed the line of {event.target} from {path}", "triage"
            )
        case "entry.moved":
            return Entry(
                at, "configure", OWN_TOOL, f"Moved the line of {event.target} to {path}", "triage"
            )
    return Entry(at, "create", OWN_TOOL, f"Promoted {event.target} into {path}", "triage")


def _clean(text: str, what: str, longest: int) -> tuple[str, int]:
    """Returns the text as one line with its secrets masked, and how many there were."""
    if len(text) > longest:
        raise NoteError(
            f"The {what} has {len(text):,} characters, the limit is {longest:,}. Shorten it."
        )
    return masked_line(text, f"the {what}")


def _text_of(entry: Entry) -> str:
    return " ".join([entry.timestamp, entry.action, entry.tool, entry.detail, entry.reason]).lower()


def _links(tool: str) -> tuple[tuple[str, str], ...]:
    """Returns what to do next, each as a command."""
    about: Sequence[tuple[str, str]] = (
        [("same tool", f"memory library slog search {shlex.quote(tool)}")] if tool else []
    )
    return (
        ("latest", "memory library slog list"),
        *about,
        ("how to add", "memory library slog add --help"),
    )
