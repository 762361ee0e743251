"""The profiles of a recall: how many results it returns, and whether it searches messages and rewrites the question."""

from dataclasses import dataclass, replace

from memory_assets.schema.requests import MOST, MOST_DEEP


@dataclass(frozen=True)
class Profile:
    """How much a recall searches and returns."""

    name: str
    limit: int
    searches_messages: bool = False
    rewrites: bool = True
    """Whether a model, where one is configured, may rewrite the question."""


PROFILES = {
    "lean": Profile("lean", 3, rewrites=False),
    "balanced": Profile("balanced", 7),
    "deep": Profile("deep", MOST, searches_messages=True),
}
LONG_QUESTION_WORDS = 12


def choose_profile(name: str, question: str, limit: int | None = None, *, is_listing: bool = False) -> Profile:
    """Returns the profile of that name; `auto` is balanced for a plain question and deep for a long one.

    A listing of messages has ten results in every profile.
    """
    most = MOST_DEEP if name == "deep" else MOST
    if name == "auto":
        name = "deep" if len(question.split()) > LONG_QUESTION_WORDS else "balanced"
    profile = PROFILES[name]
    wanted = limit if limit is not None else MOST if is_listing else profile.limit
    return replace(profile, limit=min(wanted, most))
