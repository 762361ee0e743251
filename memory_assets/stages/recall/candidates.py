"""Finds the candidates for a question: memories, and messages beside them, each with its relevance.

A question that a replaced memory answers is answered by the one that replaced it. What is neither
near in meaning nor shares the question's words has a reason to be left out.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from memory_assets.schema.protocols import Row, Texts
from memory_assets.schema.requests import MOST_DEEP, Filters
from memory_assets.stages.embed.corrections import has_cue
from memory_assets.stages.embed.merge import find_conflicts_of
from memory_assets.stages.recall.exchange import show_exchanges
from memory_assets.stages.recall.layout import Layout
from memory_assets.stages.recall.lookups import fulfilling, places_of, remembered, rows_of
from memory_assets.stages.recall.memory_search import MemoryHits, best_hits, weights_of
from memory_assets.stages.recall.message_search import (
    Origin,
    SearchQuery,
    adjusted,
    find_messages,
    words_named,
)
from memory_assets.stages.recall.parsed_question import (
    ParsedQuestion,
    hidden_lines,
    is_away,
    is_out,
)
from memory_assets.stages.recall.profiles import Profile
from memory_assets.stages.recall.ranking import Found
from memory_assets.stages.recall.relevance import FEW, judge_memories, judge_messages
from memory_assets.stages.recall.results import (
    MESSAGE,
    Asker,
    Recalled,
    condition,
    message_result,
)
from memory_assets.stages.recall.retrievers import Retrievers
from memory_assets.text.terms import query_terms

MESSAGE_FACTOR = 0.8
"""Weight of a message beside a distilled memory of the same fit."""

MOST_LATER = 20
"""Messages that share the results' words, among which later statements are looked for."""

MOST_TERMS = 40
"""Words of the results by which these are found."""

WIDE_FLOOR = 0.2
"""Least relevance of a message in a wide profile."""

LISTED = (
    "No memory matches the words of the question. These pass the filters, the newest and surest "
    "first."
)


@dataclass(frozen=True)
class Asked:
    """A question as it is searched for."""

    text: str
    whole: str
    """With the words of the conversation that it refers to."""
    parsed: ParsedQuestion
    query: SearchQuery
    asker: Asker
    filters: Filters
    profile: Profile
    corpora: Sequence[str]
    """What is searched; empty where the profile decides."""
    sources: Retrievers
    page: int = 1
    lists_candidates: bool = False

    @property
    def memories(self) -> pl.DataFrame:
        """All memories."""
        return self.sources.corpus.memories


def find_memories(question: Asked) -> list[Found]:
    """Returns the candidates among the memories, those that are left out with their reason."""
    filters = question.filters
    if question.corpora and "memories" not in question.corpora:
        if filters.kind and "narrative" not in filters.kind:
            return []
        changes = {"kind": ("narrative",), "include": (*filters.include, "held")}
        filters = filters.model_copy(update=changes)
    passes = condition(filters, question.memories.columns)
    hits = question.sources.near_memories(question.query, passes)
    rows = {row["id"]: row for row in hits.rows.iter_rows(named=True)}
    candidates = _with_successors(question, _judged(question, hits, rows), passes)
    if filters.are_a_selection and all(candidate.reason for candidate in candidates):
        candidates = _listed(question, passes)
    return _with_conflicts(question, candidates)


def _judged(question: Asked, hits: MemoryHits, rows: Mapping[str, Row]) -> list[Found]:
    """Returns of the hits, which are judged together, those that are given a row."""
    texts = question.sources.texts("memories")
    how = (question.parsed, hits.rows, texts, hits.vector, _small_projects(question))
    factors = question.sources.corpus.factors
    candidates: list[Found] = []
    for judgement in judge_memories(*how, is_filtered=question.filters.are_narrow):
        if judgement.id not in rows:
            continue
        row = rows[judgement.id]
        weights = weights_of(row, question.asker, question.text, factors)
        score = hits.fused[judgement.id] * math.prod(weights.values())
        judged = (judgement.id, row, score, judgement.relevance, judgement.reason)
        retrievers = hits.retrievers_of(judgement.id)
        candidates.append(Found(*judged, retrievers, weights, shared=judgement.shared))
    return candidates


def _small_projects(question: Asked) -> list[str]:
    """Returns the projects asked about that have few memories."""
    memories = question.memories
    passes = condition(question.filters, memories.columns)
    sizes = {
        project: fulfilling(memories, passes & (pl.col("project") == project)).sum()
        for project in question.parsed.scope.projects
    }
    return [project for project, size in sizes.items() if size <= FEW]


def _with_successors(question: Asked, candidates: list[Found], passes: pl.Expr) -> list[Found]:
    """Returns the candidates; what replaced a memory that would belong is as good an answer as that
    would be.
    """
    include = (*question.filters.include, "superseded")
    filters = question.filters.model_copy(update={"include": include})
    memories = question.memories
    passes_replaced = condition(filters, memories.columns)
    hits = question.sources.near_memories(question.query, passes_replaced)
    newest = _newest(memories, hits.fused, passes)
    replaced = {id: newer for id, newer in newest.items() if id != newer}
    if not replaced:
        return candidates
    successors = rows_of(memories, replaced.values())
    row_of = {row["id"]: row for row in successors.iter_rows(named=True)}
    rows = {id: row_of[newer] for id, newer in replaced.items()}
    compared = replace(hits, fused={id: hits.fused[id] for id in newest})
    best = {candidate.id: candidate for candidate in candidates}
    for judged in _judged(question, compared, rows):
        successor = replace(judged, id=judged.row["id"])
        if _is_better(successor, best.get(successor.id)):
            best[successor.id] = successor
    return list(best.values())


def _is_better(candidate: Found, other: Found | None) -> bool:
    if candidate.reason:
        return False
    return other is None or bool(other.reason) or other.relevance < candidate.relevance


def _newest(memories: pl.DataFrame, ids: Iterable[str], passes: pl.Expr) -> dict[str, str]:
    """Returns for each memory itself or what replaced it: the first in that line that passes, if
    one does.
    """
    fulfils = fulfilling(memories, passes)
    places = places_of(memories)
    successors = _successors(memories)
    newest_of: dict[str, str] = {}
    for id in ids:
        newest: str | None = id
        while newest is not None and not (newest in places and fulfils[places[newest]]):
            newest = successors.get(newest)
        if newest is not None:
            newest_of[id] = newest
    return newest_of


@remembered
def _successors(memories: pl.DataFrame) -> dict[str, str]:
    """Returns by its id what replaced each replaced memory."""
    return dict(memories.select("id", "superseded_by").drop_nulls().iter_rows())


def _listed(question: Asked, passes: pl.Expr) -> list[Found]:
    """Returns all memories that pass explicit filters, the newest and surest first."""
    scope = question.parsed.scope
    rows = question.memories.filter(passes, ~is_out(scope), ~is_away(scope))
    order = (pl.col("event_at").dt.date(), "confidence", "id")
    rows = rows.sort(*order, descending=[True, True, False]).head(MOST_DEEP)
    if rows.height:
        question.sources.notes.append(LISTED)
    return [
        Found(row["id"], row, 1.0 - place / (MOST_DEEP + 1), 1.0, "", ("filters",))
        for place, row in enumerate(rows.iter_rows(named=True))
    ]


def _with_conflicts(question: Asked, candidates: list[Found]) -> list[Found]:
    """Returns the candidates; a note that conflicts with another one of those that belong is
    marked, and the other, too.
    """
    is_listing = bool(question.corpora)
    belonging = [match.id for match in candidates if is_listing or not match.reason]
    new = set(belonging).intersection(question.sources.corpus.unmerged)
    if not new:
        return candidates
    conflicts = find_conflicts_of(new, rows_of(question.memories, belonging).to_dicts())
    return [_in_conflict(match, conflicts.get(match.id, ())) for match in candidates]


def _in_conflict(candidate: Found, others: Sequence[str]) -> Found:
    conflicts = [*candidate.row.get("conflicts_with", ()), *others]
    return replace(candidate, row={**candidate.row, "conflicts_with": conflicts})


def find_message_candidates(question: Asked) -> list[Found]:
    """Returns the candidates among the messages, those that are left out with their reason."""
    texts = question.sources.texts("messages")
    is_readable = question.sources.corpus.read_passages is not None
    if question.filters.are_for_memories or not is_readable or not texts:
        return []
    query = question.query
    if query.text != question.whole:
        query = question.sources.query(question.whole, query.terms)
    question.sources.queries += 1
    origins = _origins(question, query)
    allowed = _allowed(question, texts)
    hits = find_messages(query, texts, _layout(texts), origins, allowed)
    if not hits:
        return []
    hit_of = {hit.passage_id: hit for hit in hits}
    rows = _passages(question, list(hit_of))
    parsed = question.parsed.covered_by([texts])
    judgements = judge_messages(parsed, rows, texts, question.query.vector)
    named = words_named(question.text)
    candidates: list[Found] = []
    for row, judgement in zip(rows.iter_rows(named=True), judgements, strict=True):
        hit = hit_of[judgement.id]
        score = adjusted(row, hit.score, named) * MESSAGE_FACTOR
        is_near_enough = question.profile.is_wide and judgement.relevance >= WIDE_FLOOR
        reason = "" if is_near_enough else judgement.reason
        judged = (row["message_id"], row, score, judgement.relevance, reason)
        candidates.append(Found(*judged, hit.retrievers, place=hit.row, shared=judgement.shared))
    return candidates


_layout = remembered(Layout)


def _origins(question: Asked, query: SearchQuery) -> list[Origin]:
    """Returns where the memories that fit were learnt; a held one points at its messages as well as
    any other.
    """
    hits = question.sources.near_memories(query, pl.col("state") != "forgotten")
    rows = rows_of(question.memories, hits.fused, ("session_id", "lines", "id"))
    origins: list[Origin] = []
    for session, lines, id in rows.iter_rows():
        origins += [Origin(session, line, hits.fused[id]) for line in lines]
    return origins


def find_later_statements(question: Asked, results: Sequence[Recalled]) -> list[Recalled]:
    """Returns messages of owners that share the results' words and may state a change, whether the
    question finds them or not: one of them may have replaced a result.
    """
    words = query_terms(" ".join(result.text for result in results))[:MOST_TERMS]
    shown = {result.memory_id for result in results}
    return [
        message_result(row, question.asker.now, text=row["passage"], score=0.0, arms=())
        for row in _messages_with(question, dict.fromkeys(words, 1.0))
        if row["author"] == "owner" and row["message_id"] not in shown and has_cue(row["passage"])
    ]


def _messages_with(question: Asked, terms: Mapping[str, float]) -> Iterator[Row]:
    texts = question.sources.texts("messages")
    is_readable = question.sources.corpus.read_passages is not None
    if not texts or not terms or not is_readable:
        return iter(())
    allowed = _allowed(question, texts)
    scores = texts.score(terms)
    hits = best_hits(texts, scores if allowed is None else scores * allowed, MOST_LATER)
    return _passages(question, [hit.id for hit in hits]).iter_rows(named=True) if hits else iter(())


def read_exchanges(
    question: Asked, candidates: Sequence[Found], results: Sequence[Recalled]
) -> list[Recalled]:
    """Returns the results of these candidates, messages cut to what matches, with the other half of
    their exchange.
    """
    pairs = zip(candidates, results, strict=True)
    shown = [(match.place, match.row, result) for match, result in pairs]
    messages = [message for message in shown if message[2].kind == MESSAGE]
    texts = question.sources.texts("messages")
    if texts is None or not messages:
        return list(results)
    query = question.query
    allowed = _allowed(question, texts)
    read = partial(_passages, question)
    halves = show_exchanges(messages, texts, read, query.terms, query.vector, allowed)
    return [halves.get(result.memory_id, result) for result in results]


def _passages(question: Asked, ids: Sequence[str]) -> pl.DataFrame:
    """Returns these passages without those that must not be returned, such as those of replaced
    memories.
    """
    assert question.sources.corpus.read_passages is not None
    rows = question.sources.corpus.read_passages(ids)
    if question.corpora:
        return rows
    sessions = rows["session_id"]
    scope = question.parsed.scope
    hidden = hidden_lines(question.memories, sessions, scope, question.filters)
    if not hidden:
        return rows
    lines = zip(sessions, rows["line"], strict=True)
    return rows[[place for place, line in enumerate(lines) if line not in hidden]]


def _allowed(question: Asked, texts: Texts) -> np.ndarray | None:
    """Returns of each row whether it may be returned, or None where all may: never the asking
    session's own words.
    """
    allowed = np.ones(len(texts), dtype=bool)
    select = question.sources.corpus.select_passages
    if question.filters.are_set and select is not None:
        allowed[:] = False
        allowed[texts.rows_of(select(question.filters))] = True
    session = _layout(texts).group_numbers.get(question.asker.session or "")
    if session is not None:
        allowed &= texts.groups != session
    return None if allowed.all() else allowed
