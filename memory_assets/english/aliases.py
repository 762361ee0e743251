"""Finds other names for the same thing: k8s and kubernetes, gha and GitHub Actions.

Takes the words of a question, or a name, and returns the other names. The table is `aliases.toml`;
the owner adds to it in `memory.toml` under `[aliases]`, in the same format.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from memory_assets.text.words import squeezed

ALIAS_WEIGHT = 0.5
"""Weight of another name, which may mean something else; the name in the question has weight 1."""

LONGEST_ALIAS = 4
"""Words of the longest name that is looked up in a question."""

SMALL_WORDS = frozenset({"and", "as", "for", "of", "on", "to"})

Own = Mapping[str, Sequence[str]]
"""The owner's table: full name → other names."""
Group = tuple[str, ...]
"""The names of one thing, the full one first."""

_WORD = re.compile(r"[a-z0-9][\w.+#-]*", re.I)


def words_in(question: str) -> list[str]:
    """Returns the words of the question in order, lower-case."""
    return [match[0].lower().rstrip(".-") for match in _WORD.finditer(question)]


def expand(words: Iterable[str], own: Own | None = None) -> list[tuple[str, float]]:
    """Returns the words of other names for the names in a question, with weights below 1.

    Takes the words in the order of the question, so that names of several words are found. Each
    word is returned once; the words of a name share its weight. Words of the question are left out.
    """
    question_words = [word.lower().strip(".,;:!?'\"`()") for word in words]
    groups = _groups(own)
    weights = dict[str, float]()
    for name in _names_in(question_words, groups):
        aliases = [alias for group in groups[name] for alias in group if alias != name]
        for alias in aliases:
            parts = [part for part in alias.split() if part not in SMALL_WORDS]
            for part in parts:
                weights[part] = max(weights.get(part, 0.0), ALIAS_WEIGHT / len(parts))
    return [(word, weight) for word, weight in weights.items() if word not in question_words]


def names_of(name: str, own: Own | None = None) -> Group:
    """Returns all names for the same thing in lower case, the full one first.

    Without other names, returns the name alone.
    """
    low = squeezed(name.lower())
    return _groups(own).get(low, [(low,)])[0]


def _names_in(words: Sequence[str], groups: Mapping[str, list[Group]]) -> Iterator[str]:
    """Yields the names of the groups among the words, a longer name instead of its parts."""
    at = 0
    while at < len(words):
        name, word_count = _first_name(words[at : at + LONGEST_ALIAS], groups)
        if name:
            yield name
        at += word_count


def _first_name(words: Sequence[str], groups: Mapping[str, list[Group]]) -> tuple[str, int]:
    """Returns the longest name that the words begin with, and how many words it has.

    Returns an empty name of one word if they begin with none.
    """
    for length in range(len(words), 0, -1):
        span = " ".join(words[:length])
        for name in _forms(span):
            if name in groups:
                return name, len(span.split())
    return "", 1


def _forms(name: str) -> Iterator[str]:
    """Yields the name, then its possible singulars."""
    yield name
    if len(name) > 2 and name.endswith("s"):
        yield name[:-1]
    if name.endswith("ies"):
        yield name[:-3] + "y"


def _groups(own: Own | None) -> dict[str, list[Group]]:
    """Returns each name with the groups that it is in, the owner's groups first."""
    return _groups_of_tables(tuple((full, tuple(others)) for full, others in (own or {}).items()))


@cache
def _groups_of_tables(own: tuple[tuple[str, Group], ...]) -> dict[str, list[Group]]:
    """Returns the groups of the owner's table and of ours; an owner's name keeps our aliases."""
    shipped = _shipped_table()
    owners = [(full, (*others, *shipped.get(full.lower(), ()))) for full, others in own]
    groups: dict[str, list[Group]] = defaultdict(list)
    for full, others in (*owners, *shipped.items()):
        names = [squeezed(name.lower()) for name in (full, *others)]
        group = tuple(dict.fromkeys(names))
        for name in group:
            groups[name].append(group)
    return dict(groups)


@cache
def _shipped_table() -> dict[str, Group]:
    text = files("memory_assets.english").joinpath("aliases.toml").read_text("utf-8")
    return {full: tuple(others) for full, others in tomllib.loads(text)["same"].items()}
