"""The facade's verb `forget`: lists everything that contains a memory or words, and erases it from
the store for good.

An id stands for the memory's text, all its wordings and the sentences that it was extracted from. A
phrase stands for its words, wherever they are. First a tombstone is written, which holds only
hashes; from then on capture masks the words in new input. Then they are erased from the store
(`forget.erase`), and the store is searched once more.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from secrets import token_bytes
from typing import Any

import polars as pl

from memory_assets.adapters.git_history import GitHistory
from memory_assets.errors import NoteError, UnknownMemoryError
from memory_assets.schema.extras import gather
from memory_assets.services.forget.branches import branch_names
from memory_assets.services.forget.data_locations import GIT
from memory_assets.services.forget.erase import finish
from memory_assets.services.forget.search import PhraseQuery, SearchReport, search
from memory_assets.services.notes.clean_text import check_printable
from memory_assets.services.search.memory_ids import COLUMNS, check_not_forgotten, find_memory
from memory_assets.stages.capture.tombstones import (
    Tombstone,
    Tombstones,
    make_tombstone,
    rows_of,
    words_of,
)
from memory_assets.stages.embed.present import read_present
from memory_assets.stages.triage.projects import memory_files
from memory_assets.store.ledger import FORGOTTEN, WORDS_FORGOTTEN
from memory_assets.store.store import Store
from memory_assets.text.masking.redact import mask_text

SHORTEST_PHRASE = 4
"""Characters of a phrase to forget; shorter ones match too much."""

SHORTEST_QUOTE = 4
"""Words of a quote that is masked everywhere; shorter quotes (a yes, a name) also occur in other
contexts.
"""

_WHOLE_ID = re.compile(r"mem_\S*|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
"""Targets that are ids; all others are phrases."""


@dataclass(frozen=True)
class AffectedMemory:
    """A memory that contains what is to be forgotten."""

    memory_id: str
    state: str
    text: str
    project: str
    other_word_count: int
    """Words of it that are not to be forgotten, but are erased with it."""


@dataclass(frozen=True)
class AffectedMessage:
    """A message that contains what is to be forgotten."""

    message_id: str
    text: str
    rest: str
    """How the next update brings it back: asterisks in place of what is forgotten."""


@dataclass(frozen=True)
class Forgetting:
    """Everything that contains what is to be forgotten and, once applied, what was erased and the
    second search.
    """

    target: str
    is_applied: bool
    memories: tuple[AffectedMemory, ...]
    observation_count: int
    message_ids: tuple[str, ...]
    """Messages that contain it, or that one of the memories was derived from."""
    messages: tuple[AffectedMessage, ...]
    """Those that contain it."""
    segment_ids: tuple[str, ...]
    entry_lines: tuple[str, ...]
    """Lines of MEMORY.md and of projects' files that contain it, as `MEMORY.md:12`; the entries
    among them are removed.
    """
    wordings: tuple[str, ...]
    """How it is written, as words in lower case."""
    found: SearchReport
    """The matches before anything was erased."""
    erased: Mapping[str, int] = field(default_factory=dict)
    """Number of changes by kind."""
    proof: SearchReport | None = None
    """The matches afterwards."""
    branches: tuple[str, ...] = ()
    """Branches of a what-if; all of them are deleted, because they are copies of what changes."""
    remotes: tuple[str, ...] = ()
    """Remotes of the workspace's repository, which still hold what was pushed to them."""
    servers: tuple[str, ...] = ()
    """Shared memories that have sessions of this store: the next push passes the forgetting on."""

    @property
    def is_gone(self) -> bool:
        """Whether the second search found nothing, older commits aside."""
        return self.proof is not None and not self.proof.has_matches

    @property
    def is_in_history(self) -> bool:
        """Whether the second search found it in git, which erasing the history would change."""
        return self.proof is not None and any(place.kind == GIT for place in self.proof.places)

    @property
    def verdict(self) -> str:
        """What still holds it after the second search, in a sentence."""
        if self.is_in_history and self.is_gone:
            return "Only the workspace's git history still holds it."
        return "Nothing holds it any more." if self.is_gone else "It is still present."

    @property
    def warnings(self) -> tuple[str, ...]:
        """What still contains it, and what is left to do by hand."""
        return (*self._remaining(self.proof), *self._on_servers()) if self.proof else ()

    def _on_servers(self) -> Iterator[str]:
        servers = self.servers if self.erased.get("archive") else ()
        for server in servers:
            remedy = f"run `memory data push {server}`, so that it is masked and erased there, too"
            if "://" not in server:  # a machine that fetched them
                remedy = "its next exchange with this store masks and erases it there, too"
            yield f"{server} has sessions of this store: {remedy}."

    def _remaining(self, proof: SearchReport) -> Iterator[str]:
        for place in proof.places:
            if place.kind != GIT:
                yield f"It is still in {place.kind}, for example {place.where}."
        commits = proof.commit_count
        if commits:
            yield (
                f"{commits:,} commits of the workspace still contain it; forget it with "
                "--history to rewrite them."
            )
        elif any(place.kind == GIT for place in proof.places):
            yield (
                "Objects of the workspace's git still contain it; forget it with --history to "
                "delete them."
            )
        elif self.erased.get("commits") and self.remotes:
            yield (
                f"The history was rewritten, but {', '.join(self.remotes)} still has the old one. "
                f"Run `git push --force {self.remotes[0]} main` in the workspace, clone other "
                "clones again, and ask the host's support to delete unreachable commits."
            )

    def to_dict(self) -> dict[str, Any]:
        """Returns it for programs."""
        return {**vars(self), "is_gone": self.is_gone}


@dataclass(frozen=True)
class _Target:
    """What is to be forgotten: memories, phrases, and the messages and segments behind them."""

    memories: list[dict[str, Any]]
    phrases: list[str]
    is_phrase: bool
    message_ids: list[str]
    matching: Mapping[str, str]
    """The messages that contain the words, with their texts."""
    segment_ids: list[str]


def forget(store: Store, target: str, *, apply: bool = False, history: bool = False) -> Forgetting:
    """Returns everything that contains the memory or the phrase; `apply` erases it, `history` also
    from git's history.

    Raises `NoteError` for a target that cannot be forgotten, `StoreBusyError` where another process
    uses a file that has to be changed. A forgetting that was interrupted earlier is finished first.
    """
    if store.shared is not None and history:
        raise NoteError(
            f"The history of MEMORY.md is shared through {store.settings.remote}: other machines "
            "would push the old one again. Forget it without --history, then rewrite the history "
            "as `memory docs scaling` says."
        )
    if apply:
        store.sync()
    finish(store)
    selected = _resolve(store, target)
    preview = _preview(store, selected, target)
    if not apply:
        return preview
    tombstones = _tombstones(preview.wordings, store.key)
    payload = {"tombstones": rows_of(tombstones), "with_history": history}
    store.append_event(WORDS_FORGOTTEN, "all", payload)
    _hide(store, selected)
    erased = dict(finish(store))
    proof = search(store, PhraseQuery.of(preview.wordings))
    return replace(preview, is_applied=True, erased=erased, proof=proof)


def _resolve(store: Store, target: str) -> _Target:
    memories = read_present(store.tables, store.ledger)
    target = " ".join(check_printable(target, "what is to be forgotten").split())
    if not target:
        raise NoteError("Name what to forget: the id of a memory (mem_…), or words of it.")
    is_phrase = _WHOLE_ID.fullmatch(target) is None
    if is_phrase:
        rows = _memories_with(memories, target)
        words = words_of(target)
        exact_rows = [row for row in rows if words in map(words_of, _wordings(row))]
        phrases = [target]
    else:
        rows = [check_not_forgotten(find_memory(memories, target))]
        exact_rows = rows
        phrases = _wordings(rows[0])
    phrases += _sentences_of(store, _observation_ids(exact_rows))
    matching = _messages_with(store, PhraseQuery.of(phrases))
    observed = pl.col("id").is_in(_observation_ids(rows))
    observations = store.tables.scan("observations").filter(observed)
    sources = observations.select("message_ids", "segment_id").collect()
    messages = [*dict.fromkeys([*sources["message_ids"].explode().drop_nulls(), *matching])]
    segments = _column(store, "segments", _overlaps("message_ids", [*matching]), "segment_id")
    segments = [*dict.fromkeys([*sources["segment_id"], *segments])]
    if not is_phrase:
        # The narratives of its segments may repeat the memory.
        narrative = (pl.col("kind") == "narrative") & pl.col("segment_id").is_in(segments)
        summarises = _overlaps("observation_ids", _column(store, "observations", narrative, "id"))
        is_other = (pl.col("state") != "forgotten") & (pl.col("id") != rows[0]["id"])
        rows += memories.filter(is_other & summarises).select(COLUMNS).to_dicts()
    return _Target(rows, phrases, is_phrase, messages, matching, segments)


def _preview(store: Store, selected: _Target, target: str) -> Forgetting:
    query = PhraseQuery.of(selected.phrases)
    search_result = search(store, query)
    if not selected.memories and not selected.message_ids and not search_result.places:
        raise UnknownMemoryError(
            f"Nothing in this store contains '{mask_text(target[:80])[0]}'. Recall the "
            "memory, then forget it by its id."
        )
    phrases = (*query.phrases, *(search_result.wordings if selected.is_phrase else ()))
    wordings = tuple(dict.fromkeys(map(" ".join, phrases)))
    # A preview writes nothing, so it does not create the store's key.
    key = token_bytes()
    rest_of = Tombstones(_tombstones(wordings, key), key).mask_text
    remotes = [*GitHistory(store.workspace).remotes(), store.settings.remote]
    shown = itemgetter("id", "state", "text", "project")
    return Forgetting(
        target=mask_text(target)[0],
        is_applied=False,
        memories=tuple(
            AffectedMemory(*shown(row), other_word_count=len(words_of(rest_of(row["text"]))))
            for row in selected.memories
        ),
        observation_count=sum(len(row["observation_ids"]) for row in selected.memories),
        message_ids=tuple(selected.message_ids),
        messages=tuple(
            AffectedMessage(id, text, rest_of(text)) for id, text in selected.matching.items()
        ),
        segment_ids=tuple(selected.segment_ids),
        entry_lines=tuple(_entry_lines(store, query)),
        wordings=wordings,
        found=search_result,
        branches=tuple(branch_names(store)),
        servers=tuple(gather("copied_to", store)),
        remotes=tuple(dict.fromkeys(filter(None, remotes))),
    )


def _hide(store: Store, selected: _Target) -> None:
    """Hides the memories until they are erased. A memory whose words are too common to be masked is
    not erased, and stays hidden.

    The events name no message of the observations, so that other facts of the same messages are not
    hidden with them.
    """
    unmasked_ids = [id for id in selected.message_ids if id not in selected.matching]
    for row in selected.memories:
        ids = row["observation_ids"]
        payload = {
            "observation_ids": ids,
            "text_hashes": [""] * len(ids),
            "message_ids": [[] for _ in ids],
            "messages": unmasked_ids,
            "segments": [],
        }
        store.append_event(FORGOTTEN, row["id"], payload)


def _wordings(row: dict[str, Any]) -> list[str]:
    return [row["text"], *row["wordings"]]


def _observation_ids(rows: list[dict[str, Any]]) -> list[str]:
    return [id for row in rows for id in row["observation_ids"]]


def _memories_with(memories: pl.DataFrame, phrase: str) -> list[dict[str, Any]]:
    """Returns the memories that contain the phrase; raises `NoteError` for a phrase too short."""
    if len(phrase) < SHORTEST_PHRASE or not words_of(phrase):
        raise NoteError(
            f"'{phrase}' matches too much. Give at least {SHORTEST_PHRASE} characters, or the id "
            "of a memory (mem_…)."
        )
    query = PhraseQuery.of([phrase])
    rows = memories.filter(pl.col("state") != "forgotten").select(COLUMNS).to_dicts()
    return [row for row in rows if query.count_in("\n".join(_wordings(row)).encode())]


def _tombstones(wordings: Iterable[str], key: bytes) -> list[Tombstone]:
    return [make_tombstone(wording.split(" "), key) for wording in wordings]


def _messages_with(store: Store, query: PhraseQuery) -> dict[str, str]:
    """Returns the messages that contain a phrase, with their texts."""
    columns = ["message_id", "text"]
    tables = ("messages", "messages_open")
    messages = pl.concat([store.tables.read(table, columns=columns) for table in tables])
    rows = messages.sort("message_id").iter_rows()
    return {id: text for id, text in rows if query.count_in(text.encode())}


def _sentences_of(store: Store, observation_ids: list[str]) -> list[str]:
    """Returns the sentences that the observations were extracted from, and the lines of MEMORY.md
    that were decided about them.
    """
    quotes = _column(store, "observations", pl.col("id").is_in(observation_ids), "quote")
    is_about = _overlaps("observation_ids", observation_ids)
    proposals = _column(store, "proposals", is_about, "proposal_id")
    decided = _column(store, "decisions", pl.col("proposal_id").is_in(proposals), "text")
    long_quotes = (quote for quote in quotes if len(words_of(quote)) >= SHORTEST_QUOTE)
    return [*long_quotes, *decided]


def _column(store: Store, table: str, condition: pl.Expr, column: str) -> list[str]:
    """Returns the column of the rows that meet the condition."""
    return store.tables.scan(table).filter(condition).select(column).collect()[column].to_list()


def _overlaps(column: str, ids: list[str]) -> pl.Expr:
    """Returns whether the lists of the column share an item with the ids."""
    return pl.col(column).list.set_intersection(ids).list.len() > 0


def _entry_lines(store: Store, query: PhraseQuery) -> Iterable[str]:
    """Yields the lines of files of entries that contain a phrase, as `MEMORY.md:12`."""
    for name in memory_files(store.workspace):
        path = store.workspace / name
        if path.is_file():
            lines = enumerate(path.read_bytes().split(b"\n"), 1)
            yield from (f"{name}:{number}" for number, line in lines if query.count_in(line))
