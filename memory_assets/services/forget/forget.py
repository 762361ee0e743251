"""What the facade's verb forget does: shows everything that carries a memory or words, and takes it out of the store for good.

An id means what the memory says, in all its wordings, and the sentences that it was learnt from; a phrase means those words,
wherever they stand. First a tombstone is written, which holds hashes alone; from then on capture masks the words in whatever it
takes in. Then everything that carries them is erased (`forget.erase`), and searched once more.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from memory_assets.adapters.git_history import GitHistory
from memory_assets.errors import NoteError, UnknownMemoryError
from memory_assets.services.branches import branches_of
from memory_assets.services.forget.carriers import GIT
from memory_assets.services.forget.erase import finish
from memory_assets.services.forget.search import Search, search
from memory_assets.services.forget.sought import Sought
from memory_assets.services.notes import COLUMNS, find_memory, not_forgotten, printable, say
from memory_assets.stages.capture.masking.redact import mask_text
from memory_assets.stages.capture.tombstones import make_tombstone, rows_of, words_of
from memory_assets.stages.embed.overlay import read_present
from memory_assets.stages.triage.projects import memory_files
from memory_assets.store.ledger import FORGOTTEN, WORDS_FORGOTTEN

if TYPE_CHECKING:
    from memory_assets.store.store import Store

SHORTEST_PHRASE = 4
"""Characters of a phrase that is to be forgotten; shorter ones are in everything."""

SHORTEST_QUOTE = 4
"""Words of a quote that is masked wherever it stands; shorter ones (a yes, a name) are said of other things, too."""

_WHOLE_ID = re.compile(r"mem_\S*|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
"""What is taken for an id where words are expected, too."""


@dataclass(frozen=True)
class Carrying:
    """A memory that carries what is to be forgotten."""

    memory_id: str
    state: str
    text: str
    project: str


@dataclass(frozen=True)
class Forgetting:
    """Everything that carries what is to be forgotten and, where it was applied, what was erased and the proof."""

    target: str
    is_applied: bool
    memories: tuple[Carrying, ...]
    observation_count: int
    message_ids: tuple[str, ...]
    """Raw messages that carry it, or that a memory of it rests on."""
    segment_ids: tuple[str, ...]
    entry_lines: tuple[str, ...]
    """Lines of MEMORY.md and of projects' files that hold it, as `MEMORY.md:12`; applied, the entries among them go."""
    wordings: tuple[str, ...]
    """How it is written, as words in lower case."""
    found: Search
    """Where the words stood before anything was erased."""
    erased: Mapping[str, int] = field(default_factory=dict)
    """What was changed, by kind."""
    proof: Search | None = None
    """The search afterwards."""
    branches: tuple[str, ...] = ()
    """Branches of a what-if; applied, all of them are dropped: they were made of what changes."""
    remotes: tuple[str, ...] = ()
    """Remotes of the workspace's repository, which hold what was pushed to them."""

    @property
    def is_gone(self) -> bool:
        """Whether it was searched for afterwards and nothing carries it, older commits apart."""
        return self.proof is not None and not self.proof.is_carried

    @property
    def warnings(self) -> tuple[str, ...]:
        """What still carries it, and what remains to be done by hand."""
        if self.proof is None:
            return ()
        still = (
            f"It still stands in {place.kind}, for instance {place.where}." for place in self.proof.places if place.kind != GIT
        )
        return (*still, *self._about_git(self.proof))

    def _about_git(self, proof: Search) -> Iterator[str]:
        if commits := proof.commit_count:
            yield f"{commits:,} commits of the workspace still carry it; forget it with --history to rewrite them."
        elif any(place.kind == GIT for place in proof.places):
            yield "Objects of the workspace's git still carry it; forget it with --history to drop them."
        elif self.erased.get("commits") and self.remotes:
            yield (
                f"The history was rewritten; {', '.join(self.remotes)} still holds the old one. `git push --force "
                f"{self.remotes[0]} main` in the workspace replaces it there; other clones have to be made anew, and what a "
                "host keeps of unreachable commits, its support drops."
            )

    def to_dict(self) -> dict[str, Any]:
        """Returns it for programs."""
        return {**{one.name: getattr(self, one.name) for one in fields(self)}, "is_gone": self.is_gone}


@dataclass(frozen=True)
class _Meant:
    """What is to be forgotten: the memories, the phrases, and which raw material is about it."""

    memories: list[dict[str, Any]]
    phrases: list[str]
    is_phrase: bool
    message_ids: list[str]
    carrying_ids: frozenset[str]
    """Those of the messages that hold the words."""
    segment_ids: list[str]


def forget(store: "Store", target: str, *, apply: bool = False, history: bool = False) -> Forgetting:
    """Returns everything that carries the memory, or the phrase; with `apply` it is erased, with `history` from git, too.

    Raises `NoteError` for what cannot be forgotten as it was said, `StoreBusyError` where another process is at a file that has
    to be changed. A forgetting that was killed earlier is finished first.
    """
    finish(store)
    meant = _meant(store, target)
    found = _preview(store, meant, target)
    if not apply:
        return found
    stones = [make_tombstone(wording.split(" "), store.key) for wording in found.wordings]
    say(store, WORDS_FORGOTTEN, "all", {"tombstones": rows_of(stones), "with_history": history})
    _hide(store, meant)
    erased = finish(store)
    return replace(found, is_applied=True, erased=dict(erased), proof=search(store, Sought.of(found.wordings)))


def _meant(store: "Store", target: str) -> _Meant:
    memories = read_present(store.tables, store.ledger)
    target = " ".join(printable(target, "what is to be forgotten").split())
    if not target:
        raise NoteError("Name what is to be forgotten: the id of a memory (mem_…), or words of it.")
    is_phrase = _WHOLE_ID.fullmatch(target) is None
    if is_phrase:
        phrases, rows = [_phrase(target)], _holding(memories, target)
        whole = [row for row in rows if words_of(target) in map(words_of, [row["text"], *row["wordings"]])]
        phrases += _said_as(store, [id for row in whole for id in row["observation_ids"]])
    else:
        rows = [not_forgotten(find_memory(memories, target))]
        phrases = [rows[0]["text"], *rows[0]["wordings"], *_said_as(store, rows[0]["observation_ids"])]
    spoken = _spoken(store, Sought.of(phrases))
    behind = _behind(store, [id for row in rows for id in row["observation_ids"]])
    messages = [*dict.fromkeys([*behind["message_ids"].explode().drop_nulls(), *spoken])]
    segments = [*dict.fromkeys([*behind["segment_id"], *_segments_of(store, spoken)])]
    if not is_phrase:
        rows += [row for row in _narratives(store, memories, segments) if row["id"] != rows[0]["id"]]
    return _Meant(rows, phrases, is_phrase, messages, frozenset(spoken), segments)


def _preview(store: "Store", meant: _Meant, target: str) -> Forgetting:
    sought = Sought.of(meant.phrases)
    found = search(store, sought)
    if not meant.memories and not meant.message_ids and not found.places:
        raise UnknownMemoryError(
            f"Nothing that is remembered holds '{mask_text(target[:80])[0]}'. Recall it first, and take its id."
        )
    wordings = (*sought.phrases, *(found.wordings if meant.is_phrase else ()))
    return Forgetting(
        target=mask_text(target)[0],
        is_applied=False,
        memories=tuple(Carrying(row["id"], row["state"], row["text"], row["project"]) for row in meant.memories),
        observation_count=sum(len(row["observation_ids"]) for row in meant.memories),
        message_ids=tuple(meant.message_ids),
        segment_ids=tuple(meant.segment_ids),
        entry_lines=_entry_lines(store, sought),
        wordings=tuple(dict.fromkeys(" ".join(wording) for wording in wordings)),
        found=found,
        branches=tuple(place.name for place in branches_of(store)),
        remotes=tuple(dict.fromkeys([*GitHistory(store.workspace).remotes(), *filter(None, [store.settings.remote])])),
    )


def _hide(store: "Store", meant: _Meant) -> None:
    """Hides what carries it until it is erased, and for good what rests on words that are too common to be masked.

    No message stands behind the events: what else was learnt from the same messages must not take the place of what is gone.
    """
    hidden = [id for id in meant.message_ids if id not in meant.carrying_ids]
    for row in meant.memories:
        ids = row["observation_ids"]
        about = {"observation_ids": ids, "text_hashes": [""] * len(ids), "message_ids": [[] for _ in ids]}
        say(store, FORGOTTEN, row["id"], {**about, "messages": hidden, "segments": []})


def _phrase(target: str) -> str:
    if len(target) < SHORTEST_PHRASE or not words_of(target):
        raise NoteError(
            f"'{target}' is in too much. Give at least {SHORTEST_PHRASE} characters, or the id of a memory (mem_…)."
        )
    return target


def _holding(memories: pl.DataFrame, phrase: str) -> list[dict[str, Any]]:
    sought = Sought.of([phrase])
    rows = memories.filter(pl.col("state") != "forgotten").select(COLUMNS).to_dicts()
    return [row for row in rows if sought.count_in("\n".join([row["text"], *row["wordings"]]).encode())]


def _said_as(store: "Store", observation_ids: Sequence[str]) -> list[str]:
    """Returns the sentences that the observations were learnt from, and what was decided to write of them."""
    quotes = _of(store, "observations", "id", observation_ids, "quote")
    about = store.tables.read("proposals", columns=["proposal_id", "observation_ids"])
    is_about = pl.col("observation_ids").list.set_intersection(list(observation_ids)).list.len() > 0
    decided = _of(store, "decisions", "proposal_id", about.filter(is_about)["proposal_id"], "text")
    return [*(quote for quote in quotes if len(words_of(quote)) >= SHORTEST_QUOTE), *decided]


def _of(store: "Store", table: str, key: str, ids: Iterable[str], column: str) -> list[str]:
    return store.tables.scan(table).filter(pl.col(key).is_in(list(ids))).select(column).collect()[column].to_list()


def _spoken(store: "Store", sought: Sought) -> list[str]:
    """Returns the messages that hold the words."""
    messages = pl.concat([store.tables.read(table, columns=["message_id", "text"]) for table in ("messages", "messages_open")])
    return sorted({id for id, text in messages.iter_rows() if sought.count_in(text.encode())})


def _segments_of(store: "Store", message_ids: Sequence[str]) -> list[str]:
    told = pl.col("message_ids").list.set_intersection(list(message_ids)).list.len() > 0
    return store.tables.scan("segments").filter(told).select("segment_id").collect()["segment_id"].to_list()


def _behind(store: "Store", observation_ids: Sequence[str]) -> pl.DataFrame:
    observed = store.tables.scan("observations").filter(pl.col("id").is_in(list(observation_ids)))
    return observed.select("message_ids", "segment_id").collect()


def _narratives(store: "Store", memories: pl.DataFrame, segments: Collection[str]) -> list[dict[str, Any]]:
    """Returns the memories that tell these segments in a few words."""
    observed = store.tables.scan("observations").filter(
        (pl.col("kind") == "narrative") & pl.col("segment_id").is_in(list(segments))
    )
    ids = observed.select("id").collect()["id"].to_list()
    tells = pl.col("observation_ids").list.set_intersection(ids).list.len() > 0
    return memories.filter((pl.col("state") != "forgotten") & tells).select(COLUMNS).to_dicts() if ids else []


def _entry_lines(store: "Store", sought: Sought) -> tuple[str, ...]:
    found = {name: store.workspace / name for name in memory_files(store.workspace)}
    lines = ((name, path.read_bytes().split(b"\n")) for name, path in found.items() if path.is_file())
    return tuple(f"{name}:{n}" for name, content in lines for n, line in enumerate(content, 1) if sought.count_in(line))
