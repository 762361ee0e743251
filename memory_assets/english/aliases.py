"""Other names for the same thing: k8s and kubernetes, gha and GitHub Actions.

Takes the words of a question, or a name, and gives the other names. The table is `aliases.toml`;
the owner adds to it in `memory.toml` under `[aliases]`, in the same format.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

ALIAS_WEIGHT = 0.5
"""Weight of another name, which may mean something else; the name in the question has 1."""

LONGEST_ALIAS = 4
"""Words of the longest name that is looked up in a question."""

SMALL_WORDS = frozenset({"and", "as", "for", "of", "on", "to"})

Own = Mapping[str, Sequence[str]]
Group = tuple[str, ...]
"""The names of one thing, the full one first."""

_WORD = re.compile(r"[a-z0-9][\w.+#-]*", re.I)


def words_in(question: str) -> list[str]:
    """Returns the words of the question in order, lower-case."""
    return [match[0].lower().rstrip(".-") for match in _WORD.finditer(question)]


def expand(words: Iterable[str], own: Own | None = None) -> list[tuple[str, float]]:
    """Returns the words of other names for the names among the words, each once with its weight
    (below 1).

    The words are in the order of the question, so that names of several words are found; the words
    of a longer name share its weight. Words of the question are not returned.
    """
    asked = [word.lower().strip(".,;:!?'\"`()") for word in words]
    groups = _groups(own)
    found = dict[str, float]()
    for name in _names_in(asked, groups):
        for other in (one for group in groups[name] for one in group if one != name):
            parts = [part for part in other.split() if part not in SMALL_WORDS]
            for part in parts:
                found[part] = max(found.get(part, 0.0), ALIAS_WEIGHT / len(parts))
    return [(word, weight) for word, weight in found.items() if word not in asked]


def names_of(name: str, own: Own | None = None) -> Group:
    """Returns all names for the same thing, lower-case, the full one first; the name alone where no
    other is known.
    """
    low = " ".join(name.lower().split())
    return _groups(own).get(low, [(low,)])[0]


def _names_in(words: Sequence[str], groups: Mapping[str, list[Group]]) -> Iterator[str]:
    """Yields the known names among the words, a longer one instead of its parts."""
    at = 0
    while at < len(words):
        spans = (
            " ".join(words[at : at + length])
            for length in range(min(LONGEST_ALIAS, len(words) - at), 0, -1)
        )
        known = next(
            ((span, name) for span in spans for name in _forms(span) if name in groups), None
        )
        if known:
            yield known[1]
        at += len(known[0].split()) if known else 1


def _forms(name: str) -> Iterator[str]:
    """Yields the name, then its possible singulars."""
    yield name
    if len(name) > 2 and name.endswith("s"):
        yield name[:-1]
    if name.endswith("ies"):
        yield name[:-3] + "y"


def _groups(own: Own | None) -> dict[str, list[Group]]:
    """Returns the groups of each name, the owner's first."""
    return _grouped(tuple((full, tuple(others)) for full, others in (own or {}).items()))


@cache
def _grouped(own: tuple[tuple[str, Group], ...]) -> dict[str, list[Group]]:
    shipped = _shipped()
    mine = [(full, (*others, *shipped.get(full.lower(), ()))) for full, others in own]
    found: dict[str, list[Group]] = defaultdict(list)
    for full, others in (*mine, *shipped.items()):
        group = tuple(dict.fromkeys(" ".join(name.lower().split()) for name in (full, *others)))
        for name in group:
            found[name].append(group)
    return dict(found)


@cache
def _shipped() -> dict[str, Group]:
    text = files("memory_assets.english").joinpath("aliases.toml").read_text("utf-8")
    return {full: tuple(others) for full, others in tomllib.loads(text)["same"].items()}
