"""Measures how relevant each candidate is to the question, and which candidates belong.

A candidate's relevance, from 0 up, comes from its nearness to the question and the share of the
question's terms that it covers; it is less for another project, for a near miss of an exact term,
or outside the time asked about. A candidate belongs when it is relevant by itself and not far
behind the best; with few candidates left by filters, less will do.

The numbers come from two thirds of a suite of must-return and must-not-return questions over fifty
facts (`leaving_out.toml`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
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
"""`FLOOR` and `KEPT` where filters, or a small project, leave so few candidates: these select most
of what belongs.
"""

OUT_OF_TIME = 0.6
"""Factor of a memory outside the time that the question names: it may still be about that time."""

UNKNOWN_NAME_DOUBT = 0.25
"""Added to the floor when the question contains a name that occurs nowhere."""


@dataclass(frozen=True)
class Signals:
    """What is known of the candidates; arrays of one length."""

    cosine: np.ndarray
    coverage: np.ndarray
    is_away: np.ndarray
    names_exact: np.ndarray | None = None
    """Whether each has the exact term; None where the question has none."""
    is_person_named: bool = False
    names: Sequence[np.ndarray] = ()
    """Of each name in the question, whether each has it."""
    rest: np.ndarray | None = None
    """How much each covers of the other words; None where that is all of them."""


@dataclass(frozen=True)
class Shared:
    """What a candidate has in common with the question."""

    cosine: float = 0.0
    names: tuple[bool, ...] = ()
    """Of each name in the question, whether the candidate has it."""
    rest: float = 1.0
    """How much it covers of the words that are no names."""


NOTHING = Shared()


@dataclass(frozen=True)
class Judgement:
    """The relevance of a candidate."""

    id: str
    relevance: float
    reason: str = ""
    """Why it is left out; empty where it belongs."""
    shared: Shared = NOTHING


def judge_memories(
    question: ParsedQuestion,
    rows: pl.DataFrame,
    texts: Texts | None,
    cosines: Mapping[str, float],
    small_projects: Collection[str] = (),
    *,
    is_filtered: bool = False,
) -> list[Judgement]:
    """Returns the candidates, the most relevant first; `is_filtered` says that explicit filters
    chose them, `small_projects` which of the projects asked about have few.
    """
    scope = question.scope
    marks = rows.select("id", out=is_out(scope), away=is_away(scope))
    out = marks["out"].to_numpy()
    signals = _signals(question, rows["id"], marks["away"].to_numpy(), texts, cosines)
    few = rows["project"].is_in(list(small_projects)).to_numpy()
    if is_filtered and (~out).sum() <= FEW:
        few = ~out
    judgements = _judge(question, rows, signals, out, few=few)
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
    few: np.ndarray | None = None,
    share: float = KEPT,
) -> list[Judgement]:
    """Returns the relevance of the rows; `out` says which are another person's."""
    in_time = _in_time(question, rows["event_at"])
    relevant = np.where(out, 0.0, relevance(signals) * in_time)
    doubt = UNKNOWN_NAME_DOUBT if question.unknown_names else 0.0
    belong = belongs(signals, relevant, few=few, share=share, doubt=doubt)
    reasons = np.where(belong, "", np.where(out, "another person's", "not relevant"))
    columns = (rows["id"], relevant.tolist(), reasons.tolist(), _shared(signals))
    return [Judgement(*values) for values in zip(*columns, strict=True)]


def _shared(signals: Signals) -> Iterable[Shared]:
    rest = signals.coverage if signals.rest is None else signals.rest
    names = np.array(signals.names, dtype=bool).reshape(len(signals.names), len(rest)).T.tolist()
    return map(Shared, signals.cosine.tolist(), map(tuple, names), rest.tolist())


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
    rows = texts.rows_of(ids)
    if len(rows) < len(cosine):  # -1, where no text is, for another one
        row_of = {texts.ids[row]: row for row in rows.tolist()}
        rows = np.array([row_of.get(id, -1) for id in ids], dtype=int)
    exact = [term for term in question.terms if term.is_exact]
    shares = coverage(question.terms, texts, rows)
    has_exact = covers_any(exact, texts, rows) if exact else None
    names = [covers_any(terms, texts, rows) for terms in question.terms_of_names]
    rest = coverage(question.other_terms, texts, rows) if names else None
    return Signals(cosine, shares, away, has_exact, question.scope.is_person_named, names, rest)


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
    few: np.ndarray | None = None,
    share: float = KEPT,
    doubt: float = 0.0,
) -> np.ndarray:
    """Returns which candidates belong, given their relevance, which is 0 for those that cannot.

    `few` says which are among few that filters or a small project leave; `share` is the part of the
    best relevance that belongs beside it; `doubt` raises the floor.
    """
    if not len(relevant):
        return np.zeros(0, dtype=bool)
    is_few = np.zeros(len(relevant), dtype=bool) if few is None else few
    floors = np.where(is_few, KIND_FLOOR, FLOOR + doubt)
    shares = np.where(is_few, KIND_KEPT, share)
    counts = _counted(signals.is_away, relevant, floors.min())
    says = np.where(counts > 0, signals.coverage, 0.0)
    is_relevant = (counts >= floors) & (counts >= shares * counts.max())
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
