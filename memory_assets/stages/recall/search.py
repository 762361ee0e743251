"""Finds the few memories that help with a question.

Words and vectors find candidates among the memories; their scores are fused, fade with age and prefer the present project
and person. What is neither near in meaning nor shares the question's words is left out, so that a question about nothing
known gets no answer. What was said word for word is searched where the profile or the asker wants it, or nothing was found.
Without vectors the words answer alone, without words the vectors, and the answer says so.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

from memory_assets.errors import IndexFailedError, ModelError
from memory_assets.schema.protocols import Embedder, Read, TextIndex, Texts, VectorIndex
from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.asked import Asked, read_question
from memory_assets.stages.recall.excerpt import around, beside, excerpt
from memory_assets.stages.recall.facts import Candidates, find_facts
from memory_assets.stages.recall.judge import Judged, judge, judge_said
from memory_assets.stages.recall.known import KNOWN, probability_known
from memory_assets.stages.recall.levels import Layout
from memory_assets.stages.recall.lookups import remembered
from memory_assets.stages.recall.profiles import Profile, choose_profile
from memory_assets.stages.recall.rank import FACTORS, age_days, weights_of
from memory_assets.stages.recall.results import Answer, Asker, Cost, LeftOut, Recalled, as_result, condition, surer_first
from memory_assets.stages.recall.said import CANDIDATES, REACH, Learnt, Sought, adjust, find_said, lines_around
from memory_assets.stages.recall.scope import shadowed, stood
from memory_assets.stages.recall.wording import one_line
from memory_assets.text.aliases import expand, words_in
from memory_assets.text.terms import query_terms

__all__ = ["Answer", "Asker", "Corpus", "Cost", "LeftOut", "Recalled", "search"]

LONGEST_QUESTION = 2_000

RAW_FACTOR = 0.8
"""What a message counts beside a distilled memory of the same fit."""

MISSING = "The index of {} is not there. `memory data rebuild --indexes` makes it again from the tables."

Row = Mapping[str, Any]
ReadPassages = Callable[[Sequence[str]], pl.DataFrame]
SelectPassages = Callable[[Filters], Sequence[str]]


@dataclass(frozen=True)
class Corpus:
    """What is searched."""

    memories: pl.DataFrame
    texts: TextIndex
    vectors: VectorIndex | None = None
    embedder: Embedder | None = None
    read_passages: ReadPassages | None = None
    """Ids → rows with passage, whole (the message's text), char_from, char_to, author, role and what a result tells."""
    select_passages: SelectPassages | None = None
    """Filters → ids of the passages that pass."""
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Other names of things that the owner uses, beside the well-known ones."""
    factors: Sequence[str] = tuple(FACTORS)
    """What weighs the fused scores."""


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

    `context` are words of the conversation that the question leans on. `corpora` names what is searched, and gets all of it
    that was found; by default the profile decides, and what does not belong is left out.
    """
    began = perf_counter()
    question, context = one_line(question)[:LONGEST_QUESTION], one_line(context)[:LONGEST_QUESTION]
    wanted = (corpora,) if isinstance(corpora, str) else tuple(corpora or ())
    chosen = choose_profile(profile, question, limit, is_listing="messages" in wanted)
    if not question:
        return Answer(question, chosen.name, (), 0, notes=("The question is empty.",), is_known=False)
    found = _Search(question, corpus, asker, filters, chosen, wanted, context).run()
    return replace(found, cost=replace(found.cost, seconds=round(perf_counter() - began, 4)))


@dataclass
class Found:
    """What the arms found, with what was made of it."""

    all: list[Recalled] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    """Why a candidate is left out."""
    relevance: float = 0.0
    """Of the best."""
    beside: dict[str, tuple[Row, list[tuple[Row, int]]]] = field(default_factory=dict)
    """The passages of messages, with what stands beside each."""

    @classmethod
    def of(cls, judged: Iterable[tuple[Recalled, Judged]]) -> "Found":
        """Returns the results with their judgements."""
        pairs = list(judged)
        return cls(
            [result for result, _ in pairs],
            {result.memory_id: one.reason for result, one in pairs if one.reason},
            max((one.relevance for _, one in pairs), default=0.0),
        )

    @property
    def kept(self) -> list[Recalled]:
        """The results that belong."""
        return [one for one in self.all if one.memory_id not in self.reasons]

    def __add__(self, other: "Found") -> "Found":
        return Found(
            [*self.all, *other.all],
            self.reasons | other.reasons,
            max(self.relevance, other.relevance),
            self.beside | other.beside,
        )

    def shown(self, results: Iterable[Recalled]) -> tuple[Recalled, ...]:
        """Returns the results as they are handed out: messages with what was said beside them."""

        def shown(one: Recalled) -> Recalled:
            if one.memory_id not in self.beside:
                return one
            whole = excerpt(*self.beside[one.memory_id])
            return replace(one, text=whole.text, lines=whole.lines)

        return tuple(shown(one) for one in results)


class _Search:
    """One question under way: what it costs and what goes wrong is gathered here."""

    def __init__(
        self,
        question: str,
        corpus: Corpus,
        asker: Asker,
        filters: Filters,
        profile: Profile,
        wanted: Sequence[str],
        context: str,
    ) -> None:
        self.question, self.context, self.asker, self.filters = question, context, asker, filters
        self.whole = f"{question} {context}".strip()
        self.corpus = replace(corpus, memories=stood(corpus.memories, filters))
        self.profile, self.wanted = profile, wanted
        self.notes: list[str] = []
        self.lost: set[str] = set()
        self.queries = self.embeddings = 0

    def run(self) -> Answer:
        """Returns the answer."""
        asked = self._asked = self._read()
        text = self.whole if self.wanted else asked.text
        sought = self._sought(text)
        searches_said = self.profile.searches_raw or "messages" in self.wanted
        found = Found()
        if not self.wanted or {"memories", "segments"} & set(self.wanted):
            found += self._memories(sought)
        if searches_said or not (self.wanted or (found.kept and self._likelihood(found) >= KNOWN)):
            typed = sought if text == self.whole else self._sought(self.whole)
            found += self._said(typed, sought.vector)
        likelihood = self._likelihood(found)
        is_known = likelihood >= KNOWN
        belonging = found.all if self.wanted else found.kept if is_known else []
        ordered = sorted(belonging, key=lambda one: (-one.score, one.event_at, one.memory_id))
        kept = _distinct(surer_first(ordered), self.profile)
        return Answer(
            self.question,
            self.profile.name,
            found.shown(kept),
            len(found.all),
            asked=sought.text,
            left_out=tuple(_left_out(found, ordered, kept)),
            degraded=self._degraded(),
            notes=tuple(dict.fromkeys(self.notes)),
            cost=Cost(embeddings=self.embeddings, index_queries=self.queries),
            is_known=is_known and bool(kept),
            likelihood=round(likelihood, 4),
            tier=3 if kept and all(one.kind == "message" for one in kept) else 2,
        )

    def _read(self) -> Asked:
        (projects, persons), texts = _known_names(self.corpus.memories), self._texts("memories")
        return read_question(
            self.question,
            self.asker,
            self.filters,
            texts=texts if texts is not None and len(texts) else self._texts("messages"),
            context=self.context,
            projects=projects,
            persons=persons,
            aliases=self.corpus.aliases,
        )

    def _likelihood(self, found: Found) -> float:
        """Returns how likely the answer is among what was searched."""
        if self.filters.are_narrow:
            return float(bool(found.kept))  # the filters have said what the question need not
        texts = [one for name in ("memories", "messages") if (one := self._texts(name)) is not None]
        heard = self._asked.heard_in(texts)
        names_unknown = bool(heard.unknown_names)
        return probability_known(found.relevance, heard.unmet, sum(map(len, texts)), names_unknown=names_unknown)

    def _terms(self) -> dict[str, float]:
        terms = dict.fromkeys(query_terms(self.whole), 1.0)
        for word, weight in expand(words_in(self.question), self.corpus.aliases):
            for term in query_terms(word):
                terms.setdefault(term, weight)
        return terms

    def _sought(self, text: str) -> Sought:
        read = self._embedded(text)
        return Sought(text, self._terms(), read.vector if read else None, read.words if read else None)

    def _embedded(self, text: str) -> Read | None:
        if self.corpus.vectors is None or self.corpus.embedder is None:
            self.lost.add("vector")
            return None
        if self.corpus.vectors.generation() is None and not self.corpus.memories.is_empty():
            return self._lose("vector", IndexFailedError(MISSING.format("vectors")))
        try:
            self.embeddings += 1
            return self.corpus.embedder.read_query(text)
        except ModelError as error:
            return self._lose("vector", error)

    def _lose(self, arm: str, error: Exception) -> None:
        self.lost.add(arm)
        self.notes.append(str(error))

    def _degraded(self) -> str | None:
        left = {"keyword", "vector"} - self.lost
        return None if len(left) == 2 else next(iter(left), "nothing")

    def _texts(self, corpus: str) -> Texts | None:
        try:
            if self.corpus.texts.generation() is None and not self.corpus.memories.is_empty():
                raise IndexFailedError(MISSING.format("words"))
            return self.corpus.texts.open(corpus)
        except IndexFailedError as error:
            return self._lose("keyword", error)

    def _candidates(self, sought: Sought, condition: pl.Expr) -> Candidates:
        memories, texts = self.corpus.memories, self._texts("memories")
        vectors = self.corpus.vectors if sought.vector is not None else None
        try:
            found = find_facts(sought, memories, texts, vectors, condition)
        except IndexFailedError as error:
            self._lose("vector", error)
            found = find_facts(sought, memories, texts, None, condition)
        self.queries += found.queries
        return found

    def _memories(self, sought: Sought) -> Found:
        filters = self.filters
        if self.wanted and "memories" not in self.wanted:
            filters = filters.model_copy(update={"kind": ("narrative",), "include": (*filters.include, "held")})
        found = self._candidates(sought, condition(filters, self.corpus.memories.columns))
        judged = judge(self._asked, found.rows, self._texts("memories"), found.vector, is_filtered=filters.are_narrow)
        rows = {row["id"]: self._memory(row, found) for row in found.rows.iter_rows(named=True)}
        return Found.of((rows[one.memory_id], one) for one in judged)

    def _memory(self, row: Mapping[str, Any], found: Candidates) -> Recalled:
        weights = weights_of(row, self.asker, self.question, self.corpus.factors)
        score = found.fused[row["id"]] * math.prod(weights.values())
        return as_result(row, self.asker.now, score=score, arms=found.arms_of(row["id"]), weights=weights)

    def _said(self, sought: Sought, asked: np.ndarray | None) -> Found:
        texts = self._texts("messages")
        if self.filters.are_for_memories or texts is None or not len(texts) or self.corpus.read_passages is None:
            return Found()
        self.queries += 1
        allowed = self._allowed(texts)
        found = {one.passage_id: one for one in find_said(sought, texts, _layout(texts), self._learnt(sought), allowed)}
        if not found:
            return Found()
        stand = {id: beside(texts, one.row, allowed) for id, one in found.items()}
        rows = self.corpus.read_passages(list({*found, *(id for others in stand.values() for id, _ in others)}))
        if not self.wanted:
            hidden = shadowed(self.corpus.memories, rows["session_id"], self._asked.scope, self.filters)
            rows = rows.join(hidden, on=["session_id", "line"], how="anti")
        scores = pl.col("id").replace_strict(
            {id: one.score for id, one in found.items()}, default=None, return_dtype=pl.Float64
        )
        scored = rows.with_columns(score=scores).drop_nulls("score").sort("score", "id", descending=[True, False])
        ranked = adjust(scored, self.question).head(CANDIDATES)
        judged = {one.memory_id: one for one in judge_said(self._asked.heard_in([texts]), ranked, texts, asked)}
        known = {row["id"]: row for row in rows.iter_rows(named=True)}
        of_messages = Found.of(
            (_message(row, found[row["id"]].arms, self.asker.now), judged[row["id"]]) for row in ranked.iter_rows(named=True)
        )
        of_messages.beside = {
            row["message_id"]: (row, [(known[id], side) for id, side in stand[row["id"]] if id in known])
            for row in ranked.iter_rows(named=True)
        }
        return of_messages

    def _learnt(self, sought: Sought) -> list[Learnt]:
        """Returns where the memories that fit were learnt; what is held says as well as what is not where to look."""
        found = self._candidates(sought, pl.col("state") != "forgotten")
        return [
            Learnt(row["session_id"], lines_around(line), found.fused[row["id"]])
            for row in found.rows.iter_rows(named=True)
            for line in row["lines"]
        ]

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


def _message(row: Mapping[str, Any], arms: tuple[str, ...], now: datetime) -> Recalled:
    return Recalled(
        memory_id=row["message_id"],
        kind="message",
        text=around(row["whole"], row["char_from"], row["char_to"]),
        score=round(row["score"] * RAW_FACTOR, 6),
        confidence=0.5,
        category="raw",
        priority="low",
        age_days=int(age_days(row["event_at"], now)),
        event_at=row["event_at"],
        session=row["session_id"],
        path=row["path"],
        lines=(row["line"],),
        project=row["project"],
        person=row["person"],
        arms=arms,
    )


@remembered
def _known_names(memories: pl.DataFrame) -> tuple[list[str], list[str]]:
    """Returns the projects and the persons that there are."""
    projects, persons = ([name for name in memories[column].unique().sort() if name] for column in ("project", "person"))
    return projects, persons


@remembered
def _layout(texts: Texts) -> Layout:
    return Layout(texts, REACH)


def _distinct(ordered: Sequence[Recalled], profile: Profile) -> list[Recalled]:
    kept: dict[str, Recalled] = {}
    for result in ordered:
        kept.setdefault(" ".join(result.text.lower().split()), result)
    return list(kept.values())[: profile.limit]


def _left_out(found: Found, ordered: Sequence[Recalled], kept: Sequence[Recalled]) -> Iterator[LeftOut]:
    returned, ranked = {one.memory_id for one in kept}, {one.memory_id for one in ordered}
    texts = {one.text.lower() for one in kept}
    for one in ordered:
        if one.memory_id not in returned:
            yield LeftOut(one.memory_id, "says the same" if one.text.lower() in texts else "over the cap", one.score)
    for one in found.all:
        if one.memory_id not in ranked:
            yield LeftOut(one.memory_id, found.reasons.get(one.memory_id, "not in memory"), one.score)
