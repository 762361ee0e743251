"""Budget mode: five memories at most, from the cheapest arms, within a number of tokens.

Takes results and what is known of their use; decides which of them are worth their room. A long memory that was handed out
before and never used counts less; nothing is asked of a model or of the graph.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from memory_assets.stages.recall.render import render_line
from memory_assets.stages.recall.results import Recalled
from memory_assets.text.tokens import count_tokens

MOST = 5
BUDGET_TOKENS = 400
"""Of the whole block: five facts of the usual length (175 characters) take about 260."""

USUAL_TOKENS = 50
"""Of one fact; a longer one is dear."""

LEAST = 0.5
"""What remains of the score of a dear memory that nobody ever used."""


def thrift(memory: Mapping[str, Any]) -> float:
    """Returns what a memory's score is multiplied with: less where it was dear, handed out and never used."""
    if not memory["recall_count"] or memory["used_count"]:
        return 1.0
    dear = max(count_tokens(memory["text"]) - USUAL_TOKENS, 0) / USUAL_TOKENS
    return max(1.0 - dear * min(memory["recall_count"], 5) / 5, LEAST)


def fit(results: Iterable[Recalled], tokens: int = BUDGET_TOKENS, most: int = MOST) -> tuple[Recalled, ...]:
    """Returns the best results whose lines fit into the tokens; one that is too long makes room for a shorter one after it."""
    kept: list[Recalled] = []
    left = tokens
    for result in results:
        cost = count_tokens(render_line(result) + "\n")
        if len(kept) < most and cost <= left:
            kept.append(result)
            left -= cost
    return tuple(kept)
