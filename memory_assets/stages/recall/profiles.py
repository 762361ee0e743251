"""The profiles of a recall: how many results it returns, in how many tokens, and what it
searches.
"""

from dataclasses import dataclass, replace
from typing import Literal

from memory_assets.schema.requests import MOST, MOST_DEEP, MOST_LEAN


@dataclass(frozen=True)
class Profile:
    """How much a recall searches and returns."""

    name: str
    limit: int
    most_tokens: int
    """Of the block of its results."""
    messages: Literal["beside", "in need", "none"] = "beside"
    """Whether messages are searched always, where memories hardly have the answer, or never."""
    asks_model: bool = True
    """Whether a model, where one is configured, may rewrite the question and rerank the results."""
    is_wide: bool = False
    """Whether it also returns messages that are far behind the best, and skips category summaries.
    """


PROFILES = {
    "lean": Profile("lean", MOST_LEAN, most_tokens=500, messages="in need", asks_model=False),
    "budget": Profile("budget", MOST, most_tokens=500, messages="none", asks_model=False),
    "balanced": Profile("balanced", 5, most_tokens=1_200),
    "deep": Profile("deep", MOST, most_tokens=3_000, is_wide=True),
}
LONG_QUESTION_WORDS = 12


def choose_profile(
    name: str, question: str, limit: int | None = None, *, is_listing: bool = False
) -> Profile:
    """Returns the profile of that name; `auto` is balanced for a plain question and deep for a long
    one.

    A listing of messages has ten results in every profile.
    """
    most = MOST_DEEP if name == "deep" else MOST
    if name == "auto":
        name = "deep" if len(question.split()) > LONG_QUESTION_WORDS else "balanced"
    profile = PROFILES[name]
    wanted = limit if limit is not None else MOST if is_listing else profile.limit
    return replace(profile, limit=min(wanted, most))
