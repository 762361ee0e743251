"""Restricts a store to what one person may read, before anything is searched.

A person may read the facts of all projects and those that hold for everyone. They may read personal
facts (preferences, people, health, hobbies) and sessions (messages, narratives) only if these are
their own. Everything else, and whatever is not known to be readable, is hidden: it is removed from
the memories, from both indexes and from the passages. So no score, no frequency of a word, no count
and no list of results that were left out depends on it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from memory_assets.adapters.text_arrays import TextArrays, change_arrays
from memory_assets.errors import IndexFailedError
from memory_assets.schema.frames import empty
from memory_assets.schema.protocols import Hit, Row, TextReader, Texts, VectorIndex
from memory_assets.schema.records import MEMORY_MD
from memory_assets.services.search.answers import Readable, everything_of
from memory_assets.services.search.corpus import read_person_passages
from memory_assets.services.search.fresh_index import MEMORIES
from memory_assets.stages.distill.rows import PERSONAL
from memory_assets.stages.embed.present import read_present
from memory_assets.stages.embed.project import memory_rows
from memory_assets.stages.reflect.proposals import section_of
from memory_assets.stages.triage.memory_md import Entry, normal, read_entries, render_entry
from memory_assets.stages.triage.projects import path_of
from memory_assets.store.store import Store
from memory_assets.text.files import text_of
from memory_assets.text.masking.records import mask_record

ELSEWHERE = "elsewhere"
"""Name of the factor that ranks facts of other projects lower."""


@dataclass(frozen=True)
class Reader:
    """A person who asks, the project they ask in, and the scopes of their token."""

    person: str
    project: str = ""
    scopes: tuple[str, ...] = ()


def is_visible(person: str) -> pl.Expr:
    """Returns the expression that is true for memories that the person may read."""
    return (pl.col("person") == person) | (
        (pl.col("scope") != "person") & (pl.col("kind") != "narrative")
    )


def visible_memories(memories: pl.DataFrame, person: str) -> pl.DataFrame:
    """Returns the memories that the person may read, without the ids of hidden ones."""
    visible = memories.filter(is_visible(person))
    ids = frozenset(visible["id"])
    conflicts = [list(filter(ids.__contains__, all_ids)) for all_ids in visible["conflicts_with"]]
    newer = [id if id in ids else None for id in visible["superseded_by"]]
    return visible.with_columns(
        conflicts_with=pl.Series(conflicts, dtype=pl.List(pl.String)),
        superseded_by=pl.Series(newer, dtype=pl.String),
    )


class VisibleTexts:
    """A text index without the rows that a person may not read."""

    def __init__(self, index: TextReader, allowed: Callable[[str], Collection[str]]) -> None:
        self._index = index
        self._allowed = allowed
        self._opened: dict[str, tuple[Texts, Texts]] = {}
        """Corpus → its published texts, and the readable ones of them."""

    def open(self, corpus: str) -> Texts | None:
        """Returns the readable texts of the published corpus."""
        published = self._index.open(corpus)
        if published is None:
            return None
        cached = self._opened.get(corpus)
        if cached and cached[0] is published:
            return cached[1]
        readable = _without_hidden(published, self._allowed(corpus))
        self._opened[corpus] = (published, readable)
        return readable

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        return self._index.generation()


def _without_hidden(texts: Texts, allowed: Collection[str]) -> Texts:
    hidden = [id for id in texts.ids if id not in allowed]
    if not hidden:
        return texts
    if not isinstance(texts, TextArrays):
        raise IndexFailedError("The text index cannot be restricted to what a person may read.")
    return change_arrays(texts, memory_rows(empty("memories")), hidden)


@dataclass(frozen=True)
class VisibleVectors:
    """A vector index without the vectors of memories that a person may not read."""

    index: VectorIndex
    allowed: frozenset[str]
    hidden_count: int

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest vectors that the person may read, best first."""
        # Even if all hidden vectors are nearer, enough readable ones are among the hits.
        hits = self.index.find(vector, limit + self.hidden_count)
        return [hit for hit in hits if hit.id in self.allowed][:limit]

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        return self.index.generation()


@dataclass(frozen=True)
class _Restricted:
    """The memories and texts that a person may read, and the whole ones they were taken from."""

    memories: pl.DataFrame
    """All memories."""
    index: TextReader
    """The index of all texts."""
    passages: pl.DataFrame
    """The passages of the person's sessions."""
    visible: pl.DataFrame
    """The memories that the person may read."""
    texts: VisibleTexts
    allowed: frozenset[str]
    passage_ids: frozenset[str]


_restricted: dict[tuple[Path, str], _Restricted] = {}
"""The latest one by store and person. It is used again while memories and passages are unchanged,
because the search has caches that only work with the same objects.
"""


def readable_by(store: Store, reader: Reader) -> Readable:
    """Returns the part of the store that may answer the reader's questions."""
    everything = everything_of(store)
    corpus = everything.corpus
    restricted = _restrict(store, corpus.memories, corpus.texts, reader.person)
    hidden_count = corpus.memories.height - restricted.visible.height
    vectors = corpus.vectors and VisibleVectors(corpus.vectors, restricted.allowed, hidden_count)
    is_in_project = reader.project and ELSEWHERE not in corpus.factors
    read_passages = corpus.read_passages
    select_passages = corpus.select_passages
    assert read_passages is not None and select_passages is not None

    def _only_own(ids: Iterable[str]) -> list[str]:
        return [id for id in ids if id in restricted.passage_ids]

    readable = replace(
        corpus,
        memories=restricted.visible,
        texts=restricted.texts,
        vectors=vectors,
        read_passages=lambda ids: read_passages(_only_own(ids)),
        select_passages=lambda filters: _only_own(select_passages(filters)),
        factors=(*corpus.factors, ELSEWHERE) if is_in_project else corpus.factors,
        unmerged=restricted.allowed.intersection(corpus.unmerged),
    )
    return Readable(
        readable,
        everything.missing,
        lambda: _visible_summaries(everything.read_summaries(), restricted.allowed),
        lambda: memory_md_of(store, reader),
    )


def _restrict(store: Store, memories: pl.DataFrame, index: TextReader, person: str) -> _Restricted:
    """Returns the readable part of the memories and the index, the cached one if it is current."""
    passages = read_person_passages(store.tables, person)
    cached = _restricted.get((store.root, person))
    is_same = cached and cached.memories is memories and cached.index is index
    if cached and is_same and cached.passages is passages:
        return cached
    visible = visible_memories(memories, person)
    allowed = frozenset(visible["id"])
    passage_ids = frozenset(passages["id"])
    texts = VisibleTexts(index, lambda corpus: allowed if corpus == MEMORIES else passage_ids)
    restricted = _Restricted(memories, index, passages, visible, texts, allowed, passage_ids)
    _restricted[store.root, person] = restricted
    return restricted


def _visible_summaries(summaries: pl.DataFrame, allowed: frozenset[str]) -> pl.DataFrame:
    """Returns the summaries that cite memories, and only readable ones."""
    is_readable = [
        len(ids) > 0 and allowed.issuperset(ids) for ids in summaries["memory_ids"].to_list()
    ]
    return summaries.filter(pl.Series(is_readable, dtype=pl.Boolean))


def present_of(store: Store, reader: Reader) -> pl.DataFrame:
    """Returns the memories, with later corrections, that the reader may read."""
    return visible_memories(read_present(store.tables, store.ledger), reader.person)


def memory_md_of(store: Store, reader: Reader) -> str:
    """Returns the readable entries in the file of the reader's project, or in MEMORY.md."""
    path = path_of(reader.project) if reader.project else MEMORY_MD
    entries = visible_entries(store, reader, path)
    return "\n".join(_rendered(reader.project or "MEMORY.md", entries))


def visible_entries(store: Store, reader: Reader, path: str) -> list[Entry]:
    """Returns the dated entries of the file that the reader may read.

    Entries with words of hidden memories are left out, and the owner's personal sections for
    everybody else.
    """
    settings = store.settings
    hidden_texts = _hidden_texts(store, reader)
    sections = (section_of(category, settings.sections, settings.owner) for category in PERSONAL)
    is_owner = reader.person == settings.owner
    closed_sections = frozenset() if is_owner else frozenset(map(str.casefold, sections))
    return [
        entry
        for entry in read_entries(mask_record(text_of(store.workspace / path)))
        if entry.section.casefold() not in closed_sections
        and normal(entry.text) not in hidden_texts
    ]


def _hidden_texts(store: Store, reader: Reader) -> frozenset[str]:
    """Returns the normal form of all wordings of hidden memories."""
    present = read_present(store.tables, store.ledger)
    rows = present.filter(~is_visible(reader.person)).select("text", "wordings").iter_rows()
    return frozenset(normal(text) for first, wordings in rows for text in (first, *wordings))


def visible_proposals(store: Store, reader: Reader, rows: Iterable[Row]) -> list[Row]:
    """Returns the proposals that the reader may see.

    These are not personal to somebody else and contain no wording of a hidden memory.
    """
    hidden_texts = [text for text in _hidden_texts(store, reader) if text]
    return [row for row in rows if _is_visible_proposal(row, reader.person, hidden_texts)]


def _is_visible_proposal(row: Row, person: str, hidden_texts: Sequence[str]) -> bool:
    if row["category"] in PERSONAL and row["person"] != person:
        return False
    texts = [normal(text) for text in (row["text"], row["entry"]) if text]
    return not any(hidden in text for text in texts for hidden in hidden_texts)


def _rendered(title: str, entries: Sequence[Entry]) -> Iterable[str]:
    """Yields the lines of a file with these entries below the headings of their sections."""
    yield f"# {title}"
    section = None
    for entry in entries:
        if entry.section != section:
            section = entry.section
            yield f"\n## {section}\n"
        yield render_entry(entry.on, entry.text)
