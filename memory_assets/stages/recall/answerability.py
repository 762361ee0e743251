"""Judges how likely the answer to a question is among its candidates.

A memory says one thing: the most relevant one counts. Of the passages of a large memory many share
something with any question, so there the mean nearness of the five best counts. An answer is less
likely where nothing covers words of the question, where the best candidates lack one of its names,
and where they share nothing else with it: what is known of a thing does not answer every question
about it.

The weights are a logistic regression, both answers and both memories weighing the same, on two
thirds of the questions about the transcripts of twelve projects and about the fifty facts of
`leaving_out.toml`; `unknown.toml` has those without an answer. `fit_answerability.py` beside the
benchmarks computes them, and `make bench ROWS=honesty` measures them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from memory_assets.stages.recall.parsed_question import ParsedQuestion
from memory_assets.stages.recall.ranking import Found, best_relevance, rank
from memory_assets.stages.recall.relevance import Shared

KNOWN = 0.25
"""Likelihood below which nothing is known about the question."""

BEST = 5
"""Candidates whose nearness and names count: about as many as are shown."""

RELEVANCE = 10.2
NEARNESS = 1.6
"""Weight of the nearness of the best candidates beside a relevance of one."""

UNCOVERED = -8.3
MISSED_NAME = -3.6
UNKNOWN_NAME = -4.6
NAME_ALONE = -4.7
CONSTANT = -4.3

SIZE = -1.1
"""Of a large memory, which has something near to any question; not fitted, but chosen so that one
threshold suits both.
"""

SMALL = math.log(1_000)
LARGE = math.log(12_000)
"""Number of texts from which a memory begins to count as large, and from which it does in full."""

NAME_SHARE = 0.5
LEAST_REST = 0.15
"""A candidate shares a name alone if it covers less than this of the other words, where the names
weigh at most half of these.
"""


@dataclass(frozen=True)
class AnswerSignals:
    """What speaks for and against an answer among the candidates."""

    memory: float
    """Relevance of the best memory."""
    best: float
    """Relevance of the best candidate."""
    nearness: float
    """Mean cosine of the best candidates; the relevance of the best one while none has a vector."""
    uncovered: float
    """Share of the question's words that no text covers."""
    is_name_unknown: bool = False
    """Whether no text has one of the question's names."""
    is_name_missed: bool = False
    """Whether none of the best candidates has one of the question's names."""
    is_name_alone: bool = False
    """Whether the best candidates share nothing else with the question."""


def signals_among(question: ParsedQuestion, candidates: Sequence[Found]) -> AnswerSignals:
    """Returns what the candidates say; the question has the terms that any text covers marked."""
    best = [candidate.shared for candidate in sorted(candidates, key=rank)[:BEST]]
    cosines = [shared.cosine for shared in best]
    # Until messages have vectors, words alone say how near they are.
    nearness = float(np.mean(cosines)) if any(cosines) else best_relevance(candidates)
    return AnswerSignals(
        best_relevance(match for match in candidates if not match.is_message),
        best_relevance(candidates),
        nearness,
        question.uncovered_share,
        is_name_unknown=bool(question.unknown_names),
        is_name_missed=_is_name_missed(best),
        is_name_alone=_is_name_alone(best) and _asks_more_than_names(question),
    )


def _is_name_missed(best: Sequence[Shared]) -> bool:
    names = [shared.names for shared in best if shared.names]
    return bool(names) and not np.any(names, axis=0).all()


def _is_name_alone(best: Sequence[Shared]) -> bool:
    with_name = (shared.rest for shared in best if any(shared.names))
    return max(with_name, default=1.0) < LEAST_REST


def _asks_more_than_names(question: ParsedQuestion) -> bool:
    """Returns whether the words that are no names weigh at least twice as much as the names."""
    weight = attrgetter("weight")
    heaviest = [max(terms, key=weight) for terms in question.terms_of_names]
    return sum(map(weight, heaviest)) <= NAME_SHARE * sum(map(weight, question.other_terms))


def answerability(signals: AnswerSignals, texts: int) -> float:
    """Returns the probability that the answer is among so many texts.

    Uncovered words and missed names say more in a large memory: in a small one most do not occur.
    """
    size = size_of(texts)
    best = size * NEARNESS * signals.nearness + (1 - size) * signals.best
    odds = CONSTANT + RELEVANCE * max(signals.memory, best)
    odds += size * (SIZE + UNCOVERED * signals.uncovered + MISSED_NAME * signals.is_name_missed)
    odds += (1 - size) * UNKNOWN_NAME * signals.is_name_unknown
    odds += NAME_ALONE * signals.is_name_alone
    return 1.0 / (1.0 + math.exp(-odds))


def size_of(texts: int) -> float:
    """Returns how large a memory of so many texts is: 0 a small one, 1 a large one."""
    return min(max((math.log(max(texts, 1)) - SMALL) / (LARGE - SMALL), 0.0), 1.0)
