"""How well a fact could be checked by somebody else, 0 to 1 (A77: "a verifiable fact, not an opinion").

Takes a text; gives a score from a table of signs. Knows nothing of who said it.
"""

import re
from dataclasses import dataclass

ADR = re.compile(r"\bADR[-_ ]?\d+\b", re.I)
PATH_OR_COMMAND = re.compile(
    r"`[^`\n]+`|(?<![\w/])[\w.~-]+/[\w./-]+|(?<![\w-])--[a-z][\w-]+|\b\w+\.(?:go|py|ts|js|rs|md|toml|ya?ml|json|sh|sql)\b"
)
_OPINION = re.compile(
    r"\b(?:nice|great|elegant|beautiful|ugly|cleaner|best|better|worse|honest(?:ly)?|i think|i believe|in my opinion"
    r"|imho|genuinely|arguably|impressive|awesome)\b",
    re.I,
)
_HEDGE = re.compile(r"\b(?:probably|perhaps|maybe|apparently|presumably|might|seems?)\b", re.I)

UNKNOWN = 0.5
"""A plain sentence can be checked or not; the signs move it."""


@dataclass(frozen=True, slots=True)
class Sign:
    """Something in a text that makes it easier or harder to check."""

    name: str
    pattern: re.Pattern[str]
    weight: float


SIGNS: tuple[Sign, ...] = (
    Sign("names a decision by its id", ADR, 0.4),
    Sign("names a path or a command", PATH_OR_COMMAND, 0.3),
    Sign("judges by taste", _OPINION, -0.3),
    Sign("hedges", _HEDGE, -0.1),
)
"""An opinion falls below `LEAST_VERIFIABLE` by itself, and a hedge does not; a path in it says what could be looked up."""

LEAST_VERIFIABLE = 0.4


def verifiability_of(text: str) -> float:
    """Returns the score of the text."""
    return round(min(max(UNKNOWN + sum(sign.weight for sign in SIGNS if sign.pattern.search(text)), 0.0), 1.0), 2)
