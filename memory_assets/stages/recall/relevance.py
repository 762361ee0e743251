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
from collections.abc import Iterable, Mapping
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

SAYS = 0.35
SAYS_AS_MUCH = 0.95
"""A text that covers so much of the question, and so much of the best coverage, belongs whatever
its cosine.
"""

FEW = 10
KIND_FLOOR = 0.15
KIND_KEPT = 0.5
"""`FLOOR` and `KEPT` where filters leave so few candidates: the filters select most of what
belongs.
"""

OUT_OF_TIME = 0.6
"""Factor of a memory outside the time that the question names: it may still be about that time."""

UNKNOWN_NAME_DOUBT = 0.25
"""Added to the floor when the question contains a name that occurs nowhere."""

RELEVANCE = 8.7
UNCOVERED = -5.5
UNKNOWN_NAME = -5.5
CONSTANT = -4.4
KNOWN = 0.18
"""Probability below which the answer is "not in memory"."""

SMALL = math.log(1_000)
LARGE = math.log(12_000)
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
    scope = question.scope
    marks = rows.select("id", out=is_out(scope), away=is_away(scope))
    out = marks["out"].to_numpy()
    signals = _signals(question, rows["id"], marks["away"].to_numpy(), texts, cosines)
    filtered_to = int((~out).sum()) if is_filtered else None
    judgements = _judge(question, rows, signals, out, filtered_to=filtered_to)
    return sorted(judgements, key=lambda judged: (-judged.relevance, judged.id))


def judge_messages(
    question: ParsedQuestion, rows: pl.DataFrame, texts: Texts, vector: np.ndarray | None
) -> list[Judgement]:
    """Returns the relevance of passages of messages, in their order; `rows` has their ids, projects
    and times.
    """
    home = question.scope.projects
    is_away = [bool(home) and project not in home for project in rows["project"]]
    cosines = _cosines(rows["id"], texts, vector)
    away = np.array(is_away, dtype=bool)
    signals = _signals(question, rows["id"], away, texts, cosines)
    out = np.zeros(len(rows), dtype=bool)
    return _judge(question, rows, signals, out, share=MESSAGES_KEPT)


def _cosines(ids: Iterable[str], texts: Texts, vector: np.ndarray | None) -> dict[str, float]:
    if vector is None or texts.vectors.shape[1] != len(vector):
        return {}
    places = texts.rows_of(ids)
    cosines = products(texts.vectors, places, vector).tolist()
    return dict(zip((texts.ids[int(place)] for place in places), cosines, strict=True))


def _judge(
    question: ParsedQuestion,
    rows: pl.DataFrame,
    signals: Signals,
    out: np.ndarray,
    *,
    filtered_to: int | None = None,
    share: float = KEPT,
) -> list[Judgement]:
    """Returns the relevance of the rows; `out` says which are another person's."""
    in_time = _in_time(question, rows["event_at"])
    relevant = np.where(out, 0.0, relevance(signals) * in_time)
    doubt = UNKNOWN_NAME_DOUBT if question.unknown_names else 0.0
    belong = belongs(signals, relevant, filtered_to=filtered_to, share=share, doubt=doubt)
    reasons = np.where(belong, "", np.where(out, "another person's", "not relevant"))
    columns = (rows["id"], relevant.tolist(), reasons.tolist())
    return [Judgement(*values) for values in zip(*columns, strict=True)]


def _signals(
    question: ParsedQuestion,
    ids: Iterable[str],
    away: np.ndarray,
    texts: Texts | None,
    cosines: Mapping[str, float],
) -> Signals:
    least = min(cosines.values(), default=0.0)
    cosine = np.array([cosines.get(id, min(least, 0.0)) for id in ids])
    if texts is None or not question.terms:
        return Signals(cosine, np.zeros(len(cosine)), away)
    rows = np.array([_row_of(id, texts) for id in ids], dtype=int)
    exact = [term for term in question.terms if term.is_exact]
    shares = coverage(question.terms, texts, rows)
    names = covers_any(exact, texts, rows) if exact else None
    return Signals(cosine, shares, away, names, question.scope.is_person_named)


def _row_of(id: str, texts: Texts) -> int:
    """Returns the row of the id in the texts; -1, where no text is, for another one."""
    rows = texts.rows_of([id])
    return int(rows[0]) if len(rows) else -1


def _in_time(question: ParsedQuestion, event_at: pl.Series) -> np.ndarray:
    inside = np.ones(len(event_at), dtype=bool)
    if question.since is not None:
        inside &= (event_at >= question.since).to_numpy()
    if question.until is not None:
        inside &= (event_at < question.until).to_numpy()
    return np.where(inside, 1.0, OUT_OF_TIME)


def relevance(signals: Signals) -> np.ndarray:
    """Returns how relevant each candidate is by itself."""
    relevant = np.maximum(signals.cosine, 0.0) + WORDS * signals.coverage
    if signals.names_exact is not None and signals.names_exact.any():
        relevant = np.where(signals.names_exact, relevant, relevant * NOT_EXACT)
    if signals.is_person_named:
        relevant = np.where(signals.coverage > 0, relevant, relevant * NAME_ALONE)
    return relevant


def belongs(
    signals: Signals,
    relevant: np.ndarray,
    *,
    filtered_to: int | None = None,
    share: float = KEPT,
    doubt: float = 0.0,
) -> np.ndarray:
    """Returns which candidates belong, given their relevance, which is 0 for those that cannot.

    `filtered_to` is how many candidates explicit filters left; `share` is the part of the best
    relevance that belongs beside it; `doubt` raises the floor.
    """
    if not len(relevant):
        return np.zeros(0, dtype=bool)
    floor = FLOOR + doubt
    if filtered_to is not None and filtered_to <= FEW:
        floor = KIND_FLOOR
        share = KIND_KEPT
    counts = _counted(signals.is_away, relevant, floor)
    says = np.where(counts > 0, signals.coverage, 0.0)
    is_relevant = (counts >= floor) & (counts >= share * counts.max())
    says_as_much = (says >= SAYS + doubt) & (says >= SAYS_AS_MUCH * says.max())
    return (counts > 0) & (is_relevant | (says_as_much & ~signals.is_away))


def _counted(is_away: np.ndarray, relevant: np.ndarray, floor: float) -> np.ndarray:
    """Returns what counts of the relevance: less of other projects, nothing beside what this
    project has.
    """
    at_home = float(relevant[~is_away].max(initial=0.0))
    yields = (at_home >= floor) & (relevant * YIELDS < at_home)
    elsewhere = np.where((relevant < FAR_FLOOR) | yields, 0.0, relevant * ELSEWHERE)
    return np.where(is_away, elsewhere, relevant)


def answerability(
    relevance: float, uncovered: float, texts: int, *, names_unknown: bool = False
) -> float:
    """Returns the probability that the answer is among so many texts.

    `relevance` is that of the best candidate, `uncovered` the share of the question's terms that no
    text covers. Uncovered words say more in a large memory: in a small one most words do not occur.
    """
    size = min(max((math.log(max(texts, 1)) - SMALL) / (LARGE - SMALL), 0.0), 1.0)
    odds = RELEVANCE * relevance + UNCOVERED * uncovered * size
    odds += UNKNOWN_NAME * names_unknown
    odds += CONSTANT
    return 1.0 / (1.0 + math.exp(-odds))
