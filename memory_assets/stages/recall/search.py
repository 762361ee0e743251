"""Finds the few memories that help with a question.

Words and vectors find candidates among the memories; their scores are fused, decay with age and prefer the present project
and person. What is neither near in meaning nor shares the question's words is left out, so that a question about nothing known
gets no answer. Messages are searched where the profile or the caller wants it, or where no memory was found. Without vectors
the words answer alone, without words the vectors, and the answer says so.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
import polars as pl

from memory_assets.errors import IndexFailedError, ModelError
from memory_assets.schema.protocols import Embedder, Read, Row, TextIndex, Texts, VectorIndex
from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.excerpt import around, beside, excerpt
from memory_assets.stages.recall.lookups import remembered
from memory_assets.stages.recall.memory_search import FACTORS, MemoryHits, find_memories, weights_of
from memory_assets.stages.recall.message_search import CANDIDATES, REACH, Layout, Origin, SearchQuery, adjust, find_messages
from memory_assets.stages.recall.parsed_question import KnownNames, ParsedQuestion, hidden_lines, parse_question, states_as_of
from memory_assets.stages.recall.profiles import Profile, choose_profile
from memory_assets.stages.recall.relevance import KNOWN, answerability, judge_memories, judge_messages
from memory_assets.stages.recall.results import (
    Answer,
    Asker,
    Cost,
    LeftOut,
    Recalled,
    condition,
    message_result,
    more_confident_first,
    result_of,
)
from memory_assets.stages.recall.wording import one_line
from memory_assets.text.aliases import expand, words_in
from memory_assets.text.terms import query_terms

LONGEST_QUESTION = 2_000

MESSAGE_FACTOR = 0.8
"""Weight of a message beside a distilled memory of the same fit."""

MISSING = "The {} index is missing. `memory data rebuild --indexes` builds it from the tables."


@dataclass(frozen=True)
class Corpus:
    """What is searched."""

    memories: pl.DataFrame
    texts: TextIndex
    vectors: VectorIndex | None = None
    embedder: Embedder | None = None
    read_passages: Callable[[Sequence[str]], pl.DataFrame] | None = None
    """Ids → rows with passage, whole (the message's text), char_from, char_to, author, role and the columns of a result."""
    select_passages: Callable[[Filters], Sequence[str]] | None = None
    """Filters → ids of the passages that pass."""
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The owner's names of things, beside the well-known ones."""
    factors: Sequence[str] = tuple(FACTORS)
    """The factors of the fused scores."""


def search(
    question: str,
    corpus: Corpus,
    asker: Asker,
    *,
    profile: str = "balanced",
    limit: int | None = None,
    corpora: str | Sequence[str] | None = None,
    filters: Filters = Filters(),
    context: str = "",
) -> Answer:
    """Returns what helps with the question, at most ten, best first.

    `context` are words of the conversation that the question refers to. `corpora` names what is searched and returns
    everything found there; by default the profile decides, and what is not relevant is left out.
    """
    began = perf_counter()
    question, context = one_line(question)[:LONGEST_QUESTION], one_line(context)[:LONGEST_QUESTION]
    wanted = (corpora,) if isinstance(corpora, str) else tuple(corpora or ())
    chosen = choose_profile(profile, question, limit, is_listing="messages" in wanted)
    if not question:
        return Answer(question, chosen.name, (), 0, notes=("The question is empty.",), is_known=False)
    corpus = replace(corpus, memories=states_as_of(corpus.memories, filters))
    found = _Search(question, context, corpus, asker, filters, chosen, wanted).run()
    return replace(found, cost=replace(found.cost, seconds=round(perf_counter() - began, 4)))


@dataclass(frozen=True)
class _Found:
    """A result with its relevance, and with the passages to show of a message."""

    result: Recalled
    relevance: float
    reason: str
    """Why it is left out; empty where it belongs."""
    passage: Row | None = None
    around: Sequence[tuple[Row, int]] = ()

    def shown(self) -> Recalled:
        """Returns the result as it is handed out: a message with what comes before and after it."""
        if self.passage is None:
            return self.result
        text, lines = excerpt(self.passage, self.around)
        return replace(self.result, text=text, lines=lines)


@dataclass
class _Search:
    """The search for one question; collects its cost and what goes wrong."""

    question: str
    context: str
    corpus: Corpus
    asker: Asker
    filters: Filters
    profile: Profile
    corpora: Sequence[str]
    """What is searched; empty where the profile decides."""
    notes: list[str] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    """Retrievers that failed."""
    queries: int = 0
    embeddings: int = 0

    def run(self) -> Answer:
        """Returns the answer."""
        self.parsed, whole = self._parse(), f"{self.question} {self.context}".strip()
        query = self._query(whole if self.corpora else self.parsed.text, whole)
        found: list[_Found] = []
        if not self.corpora or {"memories", "segments"} & set(self.corpora):
            found += self._memories(query)
        searches_messages = self.profile.searches_messages or "messages" in self.corpora
        if searches_messages or not (
            self.corpora or (any(not one.reason for one in found) and self._likelihood(found) >= KNOWN)
        ):
            found += self._messages(query if query.text == whole else self._query(whole, whole), query.vector)
        likelihood = self._likelihood(found)
        is_known = likelihood >= KNOWN
        belonging = [one.result for one in found if self.corpora or (is_known and not one.reason)]
        ordered = sorted(belonging, key=lambda one: (-one.score, one.event_at, one.memory_id))
        kept = _distinct(more_confident_first(ordered))[: self.profile.limit]
        by_id = {one.result.memory_id: one for one in found}
        working = {"keyword", "vector"} - self.lost
        return Answer(
            self.question,
            self.profile.name,
            tuple(by_id[one.memory_id].shown() for one in kept),
            len(found),
            asked=query.text,
            left_out=tuple(_left_out(found, ordered, kept)),
            degraded=next(iter(working), "nothing") if self.lost else None,
            notes=tuple(dict.fromkeys(self.notes)),
            cost=Cost(embeddings=self.embeddings, index_queries=self.queries),
            is_known=is_known and bool(kept),
            likelihood=round(likelihood, 4),
            tier=3 if kept and all(one.kind == "message" for one in kept) else 2,
        )

    def _parse(self) -> ParsedQuestion:
        texts = self._texts("memories")
        if texts is None or not len(texts):
            texts = self._texts("messages")
        names = KnownNames(*_known_names(self.corpus.memories), self.corpus.aliases)
        return parse_question(self.question, self.asker, self.filters, texts, names, self.context)

    def _likelihood(self, found: Sequence[_Found]) -> float:
        """Returns how likely the answer is among what was searched."""
        if self.filters.are_narrow:
            return float(any(not one.reason for one in found))  # the filters say what the question need not
        texts = [one for name in ("memories", "messages") if (one := self._texts(name)) is not None]
        parsed = self.parsed.covered_by(texts)
        best = max((one.relevance for one in found), default=0.0)
        return answerability(best, parsed.uncovered_share, sum(map(len, texts)), names_unknown=bool(parsed.unknown_names))

    def _query(self, text: str, whole: str) -> SearchQuery:
        terms = dict.fromkeys(query_terms(whole), 1.0)
        for word, weight in expand(words_in(self.question), self.corpus.aliases):
            for term in query_terms(word):
                terms.setdefault(term, weight)
        read = self._embed(text)
        return SearchQuery(text, terms, read.vector if read else None, read.words if read else None)

    def _embed(self, text: str) -> Read | None:
        if self.corpus.vectors is None or self.corpus.embedder is None:
            self.lost.add("vector")
            return None
        if self.corpus.vectors.generation() is None and not self.corpus.memories.is_empty():
            return self._lose("vector", IndexFailedError(MISSING.format("vector")))
        try:
            self.embeddings += 1
            return self.corpus.embedder.read_query(text)
        except ModelError as error:
            return self._lose("vector", error)

    def _lose(self, retriever: str, error: Exception) -> None:
        self.lost.add(retriever)
        self.notes.append(str(error))

    def _texts(self, corpus: str) -> Texts | None:
        try:
            if self.corpus.texts.generation() is None and not self.corpus.memories.is_empty():
                raise IndexFailedError(MISSING.format("text"))
            return self.corpus.texts.open(corpus)
        except IndexFailedError as error:
            return self._lose("keyword", error)

    def _hits(self, query: SearchQuery, condition: pl.Expr) -> MemoryHits:
        memories, texts = self.corpus.memories, self._texts("memories")
        try:
            found = find_memories(query, memories, texts, self.corpus.vectors, condition)
        except IndexFailedError as error:
            self._lose("vector", error)
            found = find_memories(query, memories, texts, None, condition)
        self.queries += found.queries
        return found

    def _memories(self, query: SearchQuery) -> Iterator[_Found]:
        filters = self.filters
        if self.corpora and "memories" not in self.corpora:
            filters = filters.model_copy(update={"kind": ("narrative",), "include": (*filters.include, "held")})
        hits = self._hits(query, condition(filters, self.corpus.memories.columns))
        rows = {row["id"]: row for row in hits.rows.iter_rows(named=True)}
        texts = self._texts("memories")
        for one in judge_memories(self.parsed, hits.rows, texts, hits.vector, is_filtered=filters.are_narrow):
            weights = weights_of(rows[one.id], self.asker, self.question, self.corpus.factors)
            score, arms = hits.fused[one.id] * math.prod(weights.values()), hits.retrievers_of(one.id)
            result = result_of(rows[one.id], self.asker.now, score=score, arms=arms, weights=weights)
            yield _Found(result, one.relevance, one.reason)

    def _messages(self, query: SearchQuery, vector: np.ndarray | None) -> Iterator[_Found]:
        texts = self._texts("messages")
        if self.filters.are_for_memories or texts is None or not len(texts) or self.corpus.read_passages is None:
            return
        self.queries += 1
        allowed = self._allowed(texts)
        hits = {one.passage_id: one for one in find_messages(query, texts, _layout(texts), self._origins(query), allowed)}
        if not hits:
            return
        near = {id: beside(texts, one.row, allowed) for id, one in hits.items()}
        rows = self.corpus.read_passages(list({*hits, *(id for others in near.values() for id, _ in others)}))
        if not self.corpora:
            hidden = hidden_lines(self.corpus.memories, rows["session_id"], self.parsed.scope, self.filters)
            rows = rows.join(hidden, on=["session_id", "line"], how="anti")
        passages = {row["id"]: row for row in rows.iter_rows(named=True)}
        scores = {id: one.score for id, one in hits.items()}
        scored = rows.with_columns(score=pl.col("id").replace_strict(scores, default=None, return_dtype=pl.Float64))
        scored = scored.drop_nulls("score").sort("score", "id", descending=[True, False])
        ranked = adjust(scored, self.question).head(CANDIDATES)
        judged = judge_messages(self.parsed.covered_by([texts]), ranked, texts, vector)
        for row, one in zip(ranked.iter_rows(named=True), judged, strict=True):
            text, score = around(row["whole"], row["char_from"], row["char_to"]), row["score"] * MESSAGE_FACTOR
            result = message_result(row, self.asker.now, text=text, score=score, arms=hits[one.id].retrievers)
            others = [(passages[id], side) for id, side in near[one.id] if id in passages]
            yield _Found(result, one.relevance, one.reason, row, others)

    def _origins(self, query: SearchQuery) -> list[Origin]:
        """Returns where the memories that fit were learnt; a held one points at its messages as well as any other."""
        hits = self._hits(query, pl.col("state") != "forgotten")
        rows = hits.rows.select("id", "session_id", "lines").iter_rows()
        return [Origin(session, line, hits.fused[id]) for id, session, lines in rows for line in lines]

    def _allowed(self, texts: Texts) -> np.ndarray | None:
        """Returns of each row whether it may be returned, or None where all may: never the asking session's own words."""
        allowed = np.ones(len(texts), dtype=bool)
        if self.filters.are_set and self.corpus.select_passages is not None:
            allowed[:] = False
            allowed[texts.rows_of(self.corpus.select_passages(self.filters))] = True
        own = _layout(texts).group_numbers.get(self.asker.session or "")
        if own is not None:
            allowed &= texts.groups != own
        return None if allowed.all() else allowed


@remembered
def _known_names(memories: pl.DataFrame) -> tuple[list[str], list[str]]:
    """Returns the projects and the persons that there are."""
    projects, persons = ([name for name in memories[column].unique().sort() if name] for column in ("project", "person"))
    return projects, persons


@remembered
def _layout(texts: Texts) -> Layout:
    return Layout(texts, REACH)


def _distinct(ordered: Sequence[Recalled]) -> list[Recalled]:
    kept: dict[str, Recalled] = {}
    for result in ordered:
        kept.setdefault(" ".join(result.text.lower().split()), result)
    return list(kept.values())


def _left_out(found: Sequence[_Found], ordered: Sequence[Recalled], kept: Sequence[Recalled]) -> Iterator[LeftOut]:
    returned, ranked = {one.memory_id for one in kept}, {one.memory_id for one in ordered}
    texts = {one.text.lower() for one in kept}
    for one in ordered:
        if one.memory_id not in returned:
            yield LeftOut(one.memory_id, "says the same" if one.text.lower() in texts else "over the cap", one.score)
    for one in found:
        if one.result.memory_id not in ranked:
            yield LeftOut(one.result.memory_id, one.reason or "not in memory", one.result.score)
