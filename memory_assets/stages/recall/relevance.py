"""Measures how relevant each candidate is to the question, which candidates belong, and whether the
answer is known at all.

A candidate's relevance, from 0 up, comes from its nearness to the question and the share of the
question's terms that it covers; it is less for another project, for a near miss of an exact term,
or outside the time asked about. A candidate belongs when it is relevant by itself and not far
behind the best; with few candidates left by filters, less will do.

The numbers come from two thirds of a suite of must-return and must-not-return questions over fifty
facts (`leaving_out.toml`). Those of `answerability` are a logistic regression, both answers and
both memories weighing the same, on two thirds of 600 questions about the transcripts of twelve
projects and about these facts (`unknown.toml` has those without an answer); the threshold loses at
most three in a hundred answerable ones. `make bench ROWS=honesty` measures it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from memory_assets.schema.protocols import Texts
from memory_assets.stages.recall.parsed_question import ParsedQuestion, is_away, is_out
from memory_assets.stages.recall.query_coverage import coverage, covers_any
from memory_assets.text.vectors import products

WORDS = 0.5
"""Weight of covering all terms of the question, beside a cosine of one."""

FLOOR = 0.33
"""Least relevance of what belongs; MiniLM's nearest to a question about nothing known seldom
reaches it in a small memory.
"""

KEPT = 0.72
"""Share of the best relevance that belongs beside it."""

MESSAGES_KEPT = 0.5
"""The same for messages, whose own words say less of what they answer than those of a memory."""

ELSEWHERE = 0.8
"""Factor of another project's memory when the asker's project is known or a project is named."""

YIELDS = 0.6
"""Another project's memory is left out beside one of this project with at least this share of its
relevance.
"""

FAR_FLOOR = 0.45
"""Least relevance of another project's memory."""

NOT_EXACT = 0.6
"""Factor of a memory without the number or path asked for, where another has it."""

NAME_ALONE = 0.6
"""Factor of a memory that shares nothing with the question but a person's name."""

SAYS, SAYS_AS_MUCH = 0.35, 0.95
"""A text that covers so much of the question, and so much of the best coverage, belongs whatever
its cosine.
"""

KIND_FLOOR, KIND_KEPT, FEW = 0.15, 0.5, 10
"""`FLOOR` and `KEPT` where filters leave so few candidates: the filters select most of what
belongs.
"""

OUT_OF_TIME = 0.6
"""Factor of a memory outside the time that the question names: it may still be about that time."""

UNKNOWN_NAME_DOUBT = 0.25
"""Added to the floor when the question contains a name that occurs nowhere."""

RELEVANCE, UNCOVERED, UNKNOWN_NAME, CONSTANT = 8.7, -5.5, -5.5, -4.4
KNOWN = 0.18
"""Probability below which the answer is "not in memory"."""

SMALL, LARGE = math.log(1_000), math.log(12_000)
"""Number of texts from which uncovered words begin to count, and from which they count in full."""


@dataclass(frozen=True)
class Signals:
    """What is known of the candidates; arrays of one length."""

    cosine: np.ndarray
    coverage: np.ndarray
    is_away: np.ndarray
    names_exact: np.ndarray | None = None
    """Whether each has the exact term; None where the question has none."""
    is_person_named: bool = False


@dataclass(frozen=True)
class Judgement:
    """The relevance of a candidate."""

    id: str
    relevance: float
    reason: str = ""
    """Why it is left out; empty where it belongs."""


def judge_memories(
    question: ParsedQuestion,
    rows: pl.DataFrame,
    texts: Texts | None,
    cosines: Mapping[str, float],
    *,
    is_filtered: bool = False,
) -> list[Judgement]:
    """Returns the candidates, the most relevant first; `is_filtered` says that explicit filters
    chose them.
    """
    marked = rows.select("id", out=is_out(question.scope), away=is_away(question.scope))
    out, away = marked["out"].to_numpy(), marked["away"].to_numpy()
    filtered_to = int((~out).sum()) if is_filtered else None
    judged = _judge(question, rows, texts, cosines, out, away, filtered_to=filtered_to)
    return sorted(judged, key=lambda one: (-one.relevance, one.id))


def judge_messages(
    question: ParsedQuestion, rows: pl.DataFrame, texts: Texts, vector: np.ndarray | None
) -> list[Judgement]:
    """Returns the relevance of passages of messages, in their order; `rows` has their ids, projects
    and times.
    """
    ids, home = rows["id"].to_list(), question.scope.projects
    cosines: dict[str, float] = {}
    if vector is not None and texts.vectors.shape[1] == len(vector):
        places = texts.rows_of(ids)
        near = products(texts.vectors, places, vector)
        cosines = {
            texts.ids[int(place)]: float(cosine) for place, cosine in zip(places, near, strict=True)
        }
    away = np.array([bool(home) and project not in home for project in rows["project"]], dtype=bool)
    return _judge(
        question, rows, texts, cosines, np.zeros(len(ids), dtype=bool), away, kept=MESSAGES_KEPT
    )


def _judge(
    question: ParsedQuestion,
    rows: pl.DataFrame,
    texts: Texts | None,
    cosines: Mapping[str, float],
    out: np.ndarray,
    away: np.ndarray,
    *,
    filtered_to: int | None = None,
    kept: float = KEPT,
) -> list[Judgement]:
    """Returns the relevance of the rows; `out` says which are another person's, `away` which are of
    another project.
    """
    ids = rows["id"].to_list()
    signals = _signals(question, ids, away, texts, cosines)
    relevant = np.where(out, 0.0, relevance(signals) * _in_time(question, rows["event_at"]))
    doubt = UNKNOWN_NAME_DOUBT if question.unknown_names else 0.0
    belong = belongs(signals, relevant, filtered_to=filtered_to, kept=kept, doubt=doubt)
    reasons = np.where(belong, "", np.where(out, "another person's", "not relevant"))
    return [
        Judgement(id, float(score), str(reason))
        for id, score, reason in zip(ids, relevant, reasons, strict=True)
    ]


def _signals(
    question: ParsedQuestion,
    ids: Sequence[str],
    away: np.ndarray,
    texts: Texts | None,
    cosines: Mapping[str, float],
) -> Signals:
    least = min(cosines.values(), default=0.0)
    cosine = np.array([cosines.get(id, min(least, 0.0)) for id in ids])
    if texts is None or not question.terms:
        return Signals(cosine, np.zeros(len(ids)), away)
    rows = np.array([int(at[0]) if len(at := texts.rows_of([id])) else -1 for id in ids], dtype=int)
    exact = [term for term in question.terms if term.is_exact]
    shares = coverage(question.terms, texts, rows)  # no text is in row -1
    names = covers_any(exact, texts, rows) if exact else None
    return Signals(cosine, shares, away, names, question.scope.is_person_named)


def _in_time(question: ParsedQuestion, event_at: pl.Series) -> np.ndarray:
    inside = np.ones(len(event_at), dtype=bool)
    if question.since is not None:
        inside &= (event_at >= question.since).to_numpy()
    if question.until is not None:
        inside &= (event_at < question.until).to_numpy()
    return np.where(inside, 1.0, OUT_OF_TIME)


def relevance(signals: Signals) -> np.ndarray:
    """Returns how relevant each candidate is by itself."""
    found = np.maximum(signals.cosine, 0.0) + WORDS * signals.coverage
    if signals.names_exact is not None and signals.names_exact.any():
        found = np.where(signals.names_exact, found, found * NOT_EXACT)
    if signals.is_person_named:
        found = np.where(signals.coverage > 0, found, found * NAME_ALONE)
    return found


def belongs(
    signals: Signals,
    relevant: np.ndarray,
    *,
    filtered_to: int | None = None,
    kept: float = KEPT,
    doubt: float = 0.0,
) -> np.ndarray:
    """Returns which candidates belong, given their relevance, which is 0 for those that cannot.

    `filtered_to` is how many candidates explicit filters left; `kept` is the share of the best
    relevance that belongs beside it; `doubt` raises the floor.
    """
    if not len(relevant):
        return np.zeros(0, dtype=bool)
    is_few = filtered_to is not None and filtered_to <= FEW
    floor, kept = (KIND_FLOOR, KIND_KEPT) if is_few else (FLOOR + doubt, kept)
    is_away = signals.is_away
    at_home = float(relevant[~is_away].max(initial=0.0))
    yields = is_away & (
        (relevant < FAR_FLOOR) | ((at_home >= floor) & (relevant * YIELDS < at_home))
    )
    counts = np.where(yields, 0.0, np.where(is_away, relevant * ELSEWHERE, relevant))
    says = np.where(counts > 0, signals.coverage, 0.0)
    as_much = (says >= SAYS + doubt) & (says >= SAYS_AS_MUCH * says.max())
    return (counts > 0) & (
        ((counts >= floor) & (counts >= kept * counts.max())) | (as_much & ~is_away)
    )


def answerability(
    relevance: float, uncovered: float, texts: int, *, names_unknown: bool = False
) -> float:
    """Returns the probability that the answer is among so many texts.

    `relevance` is that of the best candidate, `uncovered` the share of the question's terms that no
    text covers. Uncovered words say more in a large memory: in a small one most words do not occur.
    """
    size = min(max((math.log(max(texts, 1)) - SMALL) / (LARGE - SMALL), 0.0), 1.0)
    odds = (
        RELEVANCE * relevance
        + UNCOVERED * uncovered * size
        + UNKNOWN_NAME * names_unknown
        + CONSTANT
    )
    return 1.0 / (1.0 + math.exp(-odds))
