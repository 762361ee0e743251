"""How many memories a question gets, by how much room its asker has; never more than ten are put in front of a prompt."""

from dataclasses import dataclass, replace

from memory_assets.schema.requests import MOST, MOST_DEEP


@dataclass(frozen=True)
class Profile:
    """How deep a recall goes."""

    name: str
    limit: int
    searches_raw: bool
    """Segments and raw messages are searched too."""
    rewrites: bool = True
    """A model, where one is named, may write the question anew."""


PROFILES = {
    "lean": Profile("lean", 3, searches_raw=False, rewrites=False),
    "balanced": Profile("balanced", 7, searches_raw=False),
    "deep": Profile("deep", MOST, searches_raw=True),
}
LONG_QUESTION_WORDS = 12


def choose_profile(name: str, question: str, limit: int | None = None, *, is_listing: bool = False) -> Profile:
    """Returns the profile of that name; `auto` is balanced for a plain question and deep for a long one.

    A listing of what was said, which somebody reads through, is ten long in every profile.
    """
    most = MOST_DEEP if name == "deep" else MOST
    if name == "auto":
        name = "deep" if len(question.split()) > LONG_QUESTION_WORDS else "balanced"
    profile = PROFILES[name]
    if limit is None:
        limit = MOST if is_listing else profile.limit
    return replace(profile, limit=min(limit, most))
