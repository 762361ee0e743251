"""Whether a question's answer is in memory at all: three signals in, a probability out.

The signals are the relevance of the best candidate (`cut`), the share of what the question needs of which no text speaks, and
whether it names something that was never said. In a small memory most words were never said, so that their absence tells
little; it tells more as the memory grows.

Fitted by logistic regression, both answers and both memories weighing the same, on two thirds of 600 questions asked of the
transcripts of twelve projects and of the fifty facts of `leaving_out.toml` (`unknown.toml` has those without an answer). The
threshold loses no more than three in a hundred answerable ones. `make bench ROWS=honesty` measures it anew.
"""

import math

RELEVANCE, UNMET, UNKNOWN_NAME, CONSTANT = 8.7, -5.5, -5.5, -4.4
KNOWN = 0.18
"""Probability below which the answer is "not in memory"."""

SMALL, LARGE = math.log(1_000), math.log(12_000)
"""From so many texts on, and up to so many, the words of a memory tell more about what it does not hold."""


def probability_known(relevance: float, unmet: float, texts: int, *, names_unknown: bool = False) -> float:
    """Returns how likely the answer is among the texts that were searched.

    `relevance` is the best candidate's, `unmet` the share of the question's needs that no text meets.
    """
    size = min(max((math.log(max(texts, 1)) - SMALL) / (LARGE - SMALL), 0.0), 1.0)
    odds = RELEVANCE * relevance + UNMET * unmet * size + UNKNOWN_NAME * names_unknown + CONSTANT
    return 1.0 / (1.0 + math.exp(-odds))
