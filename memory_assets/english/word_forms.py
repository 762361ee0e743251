"""Splits a statement into tokens, and says what each counts as when statements are compared.

An identifier or a number counts as its value, another word as its root, or as a name for all words
that say the same. Words of grammar count as nothing.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from memory_assets.english.aliases import names_of
from memory_assets.text.patterns import data_beside
from memory_assets.text.words import word_set

_TOKEN = re.compile(r"[\w./:@#~+-]*\w[\w./:@#~+-]*", re.UNICODE)
SPECIFIC = re.compile(r"\d|[/_@#~]|\w\.\w|[a-z][A-Z]|^--?\w")
"""A part of a token by which it is an identifier, a path, a flag or a number."""

_WORDS = data_beside(__file__)
NUMBERS: dict[str, str] = dict(
    zip(
        "two three four five six seven eight nine ten eleven twelve".split(),
        map(str, range(2, 13)),
        strict=True,
    )
)
STOP = word_set(_WORDS["stop"])
"""Words without content of their own: grammar, politeness, modality and denial."""

LIGHT = word_set(_WORDS["light"])
"""Words of general meaning, which a rewording exchanges freely."""

IRREGULAR: dict[str, str] = dict(pair.split(":") for pair in _WORDS["irregular_forms"].split())
_INFLECTIONS = (("ations", 5), ("ation", 5), ("ing", 3), ("ed", 3), ("es", 3), ("ly", 4), ("s", 3))
"""Endings, and how many letters must remain without each."""

_LEAST = 4
"""Fewest letters that remain without an ending that makes another kind of word."""

_DERIVATIONS = tuple((ending, _LEAST) for ending in _WORDS["derivations"].split())


def tokens_of(text: str) -> list[str]:
    """Returns the words, numbers and identifiers of the text in order, as they are written."""
    tokens = (token.strip(".,:;+~").rstrip("-/") for token in _TOKEN.findall(text))
    return list(filter(None, tokens))


def value_of(token: str) -> str:
    """Returns the identifier in lower case; a version without its "v"."""
    return re.sub(r"^v(?=\d)", "", token.lower())


@lru_cache(maxsize=65_536)
def form_of(token: str) -> str:
    """Returns what a token counts as: its value, or the root of a word; empty without content."""
    low = token.lower().replace("’", "'")
    if SPECIFIC.search(token):
        return value_of(token)
    form = NUMBERS.get(low) or root(low.removesuffix("'s"))
    # "theme" is no form of "them".
    is_stop = low in STOP or (form in _STOP_ROOTS and low != f"{form}e")
    return "" if is_stop or (len(form) < 2 and not form.isdigit()) else form


def root(word: str) -> str:
    """Returns the word without its inflection: "adding", "added" and "adds" are "add"."""
    if not word.isalpha():
        return word
    word = IRREGULAR.get(word, word)
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    ending = _ending(word, _INFLECTIONS)
    bare = word if word.endswith("ss") else word.removesuffix(ending)
    if ending in ("ing", "ed") and len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "sl":
        bare = bare[:-1]
    return bare.removesuffix("e") if len(bare) > 3 else bare


def _ending(word: str, endings: Iterable[tuple[str, int]]) -> str:
    """Returns the first ending of the word that leaves enough letters; empty if none does."""
    for ending, least in endings:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return ending
    return ""


@lru_cache(maxsize=65_536)
def family_of(form: str) -> str:
    """Returns one name for a word, its abbreviations, its synonyms and words derived from it.

    "fail", "failure" and "crash" have the same.
    """
    full = names_of(form)[0]
    word = root(full) if full != form and _is_abbreviation(form, full) else form
    stem = _stem(word)
    return _GROUP_OF.get(word) or _GROUP_OF.get(stem) or stem


def _is_abbreviation(short: str, full: str) -> bool:
    letters = iter(full)
    return " " not in full and short[:1] == full[:1] and all(letter in letters for letter in short)


def _stem(word: str) -> str:
    if not word.isalpha():
        return word
    stem = word.removesuffix(_ending(word, _DERIVATIONS))
    return stem[:-1] if len(stem) > _LEAST and stem[-1] == stem[-2] else stem


_STOP_ROOTS = frozenset(map(root, STOP)) | STOP
LIGHT_ROOTS = frozenset(map(root, LIGHT))
_GROUPS = map(str.split, _WORDS["synonyms"].split(","))
_GROUP_OF = {root(word): group[0] for group in _GROUPS for word in group}
_GROUP_OF = {_stem(form): first for form, first in _GROUP_OF.items()} | _GROUP_OF
