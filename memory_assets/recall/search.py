"""Finds the few memories that help with a question.

Words and vectors find candidates, over-fetched; their scores are fused, fade with age and prefer the present project and
person. What is neither near in meaning nor shares the question's words is left out, so that a question about nothing known
gets no answer. Without vectors the keywords answer alone and the answer says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

from memory_assets.errors import IndexFailedError, ModelError, QuestionError
from memory_assets.protocols import Embedder, Hit, TextIndex, VectorIndex
from memory_assets.recall.profiles import Profile, choose_profile
from memory_assets.recall.rank import age_days, decay, fuse, weigh
from memory_assets.recall.results import CORPORA, Answer, Asker, Cost, Filters, LeftOut, Recalled

__all__ = ["Answer", "Asker", "Corpus", "Cost", "Filters", "LeftOut", "Recalled", "search"]

OVER_FETCHED = 60
"""Candidates of each arm; filters and age act on these."""

NEAR = 0.30
"""Cosine below which MiniLM's neighbours of a short question are seldom about it."""

RAW_FACTOR = 0.6
"""What a raw message or a narrative counts beside a distilled memory of the same fit."""

LONGEST_QUESTION = 2_000
LONGEST_TEXT = 600

ReadRows = Callable[[Sequence[str]], pl.DataFrame]


@dataclass(frozen=True)
class Corpus:
    """What is searched."""

    memories: pl.DataFrame
    keywords: TextIndex
    vectors: VectorIndex | None = None
    embedder: Embedder | None = None
    read_segments: ReadRows | None = None
    read_messages: ReadRows | None = None


def search(
    question: str,
    corpus: Corpus,
    asker: Asker,
    *,
    profile: str = "balanced",
    limit: int | None = None,
    corpora: str | Sequence[str] | None = None,
    filters: Filters = Filters(),
) -> Answer:
    """Returns what helps with the question, at most ten, best first.

    `corpora` names what is searched; by default the profile decides. Raises `QuestionError` where something asked for does
    not exist.
    """
    began = perf_counter()
    question = " ".join("".join(ch if ch.isprintable() else " " for ch in question).split())[:LONGEST_QUESTION]
    chosen = choose_profile(profile, question, limit)
    wanted = _wanted(corpora)
    if not question:
        return Answer(question, chosen.name, (), 0, notes=("The question is empty.",), is_known=False)
    notes: list[str] = []
    words = _by_words(question, corpus.keywords, "memories", notes)
    near = _by_meaning(question, corpus, notes)
    relevant = [hit for hit in near or () if hit.score >= NEAR]
    found = _memories(words, relevant, corpus.memories, asker, filters) if not wanted or "memories" in wanted else []
    if chosen.searches_raw or wanted or not found:
        found += [r for r in _raw(question, corpus, asker, notes) if not wanted or f"{r.kind}s" in wanted]
    ordered = sorted(found, key=lambda result: (-result.score, result.event_at, result.memory_id))
    results = _distinct(ordered, chosen)
    return Answer(
        question,
        chosen.name,
        tuple(results),
        len(found),
        asked=question,
        degraded="keyword" if near is None else None,
        notes=tuple(notes),
        cost=Cost(embeddings=1, index_queries=2, seconds=round(perf_counter() - began, 4)),
        is_known=bool(results),
    )


def _wanted(corpora: str | Sequence[str] | None) -> tuple[str, ...]:
    names = (corpora,) if isinstance(corpora, str) else tuple(corpora or ())
    for name in names:
        if name not in CORPORA:
            raise QuestionError(f"There is no corpus '{name}'; choose from {', '.join(CORPORA)}.")
    return names


def _by_words(question: str, keywords: TextIndex, corpus: str, notes: list[str]) -> list[Hit]:
    try:
        return keywords.find(question, OVER_FETCHED, corpus)
    except IndexFailedError as error:
        notes.append(str(error))
        return []


def _by_meaning(question: str, corpus: Corpus, notes: list[str]) -> list[Hit] | None:
    """Returns the nearest memories, or None where vectors cannot be asked."""
    if corpus.vectors is None or corpus.embedder is None:
        return None
    try:
        vector: np.ndarray = corpus.embedder.encode_query(question)
        return corpus.vectors.find(vector, OVER_FETCHED)
    except (IndexFailedError, ModelError) as error:
        notes.append(str(error))
        return None


def _memories(
    words: list[Hit],
    near: list[Hit],
    memories: pl.DataFrame,
    asker: Asker,
    filters: Filters,
) -> list[Recalled]:
    fused = fuse(words, near)
    arms = {"keyword": {hit.id for hit in words}, "vector": {hit.id for hit in near}}
    rows = memories.filter(pl.col("id").is_in(list(fused)) & filters.condition(memories.columns))
    return [_recalled(row, fused[row["id"]], arms, asker) for row in rows.iter_rows(named=True)]


def _recalled(row: Mapping[str, Any], score: float, arms: Mapping[str, set[str]], asker: Asker) -> Recalled:
    score = weigh(score, row, now=asker.now, project=asker.project, person=asker.person)
    return Recalled(
        memory_id=row["id"],
        kind=row["kind"],
        text=row["text"],
        score=round(score, 6),
        confidence=row["confidence"],
        category=row["category"],
        priority=row["priority"],
        age_days=int(age_days(row["event_at"], asker.now)),
        event_at=row["event_at"],
        session=row["session_id"],
        path=row["path"],
        lines=tuple(row["lines"]),
        project=row["project"],
        person=row.get("person", ""),
        arms=tuple(name for name, ids in arms.items() if row["id"] in ids),
        tags=() if row["state"] == "active" else (row["state"],),
    )


def _raw(question: str, corpus: Corpus, asker: Asker, notes: list[str]) -> list[Recalled]:
    """Returns narratives and messages that hold the question's words."""
    found: list[Recalled] = []
    for name, read in (("segments", corpus.read_segments), ("messages", corpus.read_messages)):
        hits = _by_words(question, corpus.keywords, name, notes) if read else []
        if not hits or read is None:
            continue
        fused = fuse(hits, ())
        found += [_raw_result(row, name, fused[row["id"]], question, asker) for row in read(list(fused)).iter_rows(named=True)]
    return found


def _raw_result(row: Mapping[str, Any], name: str, score: float, question: str, asker: Asker) -> Recalled:
    return Recalled(
        memory_id=row["id"],
        kind=name.removesuffix("s"),
        text=excerpt(row["text"], question),
        score=round(score * RAW_FACTOR * decay(row["event_at"], asker.now), 6),
        confidence=0.5,
        category="raw",
        priority="low",
        age_days=int(age_days(row["event_at"], asker.now)),
        event_at=row["event_at"],
        session=row["session_id"],
        path=row["path"],
        lines=tuple(row["lines"]),
        project=row["project"],
        person=row.get("person", ""),
        arms=("keyword",),
    )


def excerpt(text: str, question: str, length: int = LONGEST_TEXT) -> str:
    """Returns at most `length` characters of the text, around the first word of the question that it holds."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    low = text.lower()
    places = [low.find(word) for word in question.lower().split() if len(word) > 3]
    start = max(min((place for place in places if place >= 0), default=0) - length // 3, 0)
    return ("…" if start else "") + text[start : start + length - 2] + "…"


def _distinct(ordered: list[Recalled], profile: Profile) -> list[Recalled]:
    kept: dict[str, Recalled] = {}
    for result in ordered:
        kept.setdefault(" ".join(result.text.lower().split()), result)
    return list(kept.values())[: profile.limit]
