"""Restricts a store to what one person may read, before anything is searched.

A person may read the facts of projects and of everyone. Of what concerns a person (preferences,
people, health, hobbies) and of sessions (messages, narratives) they may read only their own. The
rest is removed from the memories, from both indexes and from the passages, so that neither scores,
frequencies of words, lists of what was left out nor counts depend on it. What is not known to be
readable is removed, too.
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
from memory_assets.services.search.corpus import MEMORIES, read_person_passages
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
"""The factor that ranks the facts of other projects lower."""


@dataclass(frozen=True)
class Reader:
    """Who asks: a person, the project they ask in, and what their token allows."""

    person: str
    project: str = ""
    scopes: tuple[str, ...] = ()


def is_visible(person: str) -> pl.Expr:
    """Returns whether the person may read a memory."""
    return (pl.col("person") == person) | (
        (pl.col("scope") != "person") & (pl.col("kind") != "narrative")
    )


def visible_memories(memories: pl.DataFrame, person: str) -> pl.DataFrame:
    """Returns the memories that the person may read, without references to others."""
    visible = memories.filter(is_visible(person))
    ids = frozenset(visible["id"])
    conflicts = [list(filter(ids.__contains__, others)) for others in visible["conflicts_with"]]
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
        """Corpus → what is published, and what is readable of it."""

    def open(self, corpus: str) -> Texts | None:
        """Returns the published corpus without these rows."""
        published = self._index.open(corpus)
        if published is None:
            return None
        opened = self._opened.get(corpus)
        if opened is None or opened[0] is not published:
            opened = published, _without_hidden(published, self._allowed(corpus))
            self._opened[corpus] = opened
        return opened[1]

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
        """Returns the nearest of those that the person may read, best first."""
        hits = self.index.find(vector, limit + self.hidden_count)
        return [hit for hit in hits if hit.id in self.allowed][:limit]

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        return self.index.generation()


@dataclass(frozen=True)
class _Restricted:
    """The memories and texts that a person may read, and what they were restricted from."""

    memories: pl.DataFrame
    index: TextReader
    passages: pl.DataFrame
    visible: pl.DataFrame
    texts: VisibleTexts
    allowed: frozenset[str]
    passage_ids: frozenset[str]


_restricted: dict[tuple[Path, str], _Restricted] = {}
"""By store and person, kept until the memories or the passages change: the same objects keep the
caches of the search valid.
"""


def readable_by(store: Store, reader: Reader) -> Readable:
    """Returns what the reader's questions may be answered from."""
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
        restricted.texts,
    )


def _restrict(store: Store, memories: pl.DataFrame, index: TextReader, person: str) -> _Restricted:
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
    """Returns the summaries that cite readable memories only, with these."""
    is_readable = [
        len(ids) > 0 and allowed.issuperset(ids) for ids in summaries["memory_ids"].to_list()
    ]
    return summaries.filter(pl.Series(is_readable, dtype=pl.Boolean))


def present_of(store: Store, reader: Reader) -> pl.DataFrame:
    """Returns the present memories that the reader may read."""
    return visible_memories(read_present(store.tables, store.ledger), reader.person)


def memory_md_of(store: Store, reader: Reader) -> str:
    """Returns what the reader may read of the file of entries of their project; without a project,
    of MEMORY.md.
    """
    path = path_of(reader.project) if reader.project else MEMORY_MD
    return "\n".join(_rendered(reader.project or "MEMORY.md", visible_entries(store, reader, path)))


def visible_entries(store: Store, reader: Reader, path: str) -> list[Entry]:
    """Returns the dated entries of the file, without personal sections of others and lines of
    hidden memories.
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
    present = read_present(store.tables, store.ledger)
    rows = present.filter(~is_visible(reader.person)).select("text", "wordings").iter_rows()
    return frozenset(normal(text) for title, wordings in rows for text in (title, *wordings))


def visible_proposals(store: Store, reader: Reader, rows: Iterable[Row]) -> list[Row]:
    """Returns the proposals that the reader may see: neither about another person nor with words of
    a hidden memory.
    """
    hidden_texts = [text for text in _hidden_texts(store, reader) if text]
    return [row for row in rows if _is_visible_proposal(row, reader.person, hidden_texts)]


def _is_visible_proposal(row: Row, person: str, hidden_texts: Sequence[str]) -> bool:
    if row["category"] in PERSONAL and row["person"] != person:
        return False
    texts = [normal(text) for text in (row["text"], row["entry"]) if text]
    return not any(hidden in text for text in texts for hidden in hidden_texts)


def _rendered(title: str, entries: Sequence[Entry]) -> Iterable[str]:
    yield f"# {title}"
    section = None
    for entry in entries:
        if entry.section != section:
            section = entry.section
            yield f"\n## {section}\n"
        yield render_entry(entry.on, entry.text)
