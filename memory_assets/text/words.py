"""Reads the words of a text: stems, specific names and values, estimated tokens, a hash."""

import hashlib
import re
from functools import lru_cache

STOP = frozenset(
    """
    a an the and or but if then else of to in on at for from with without by as is are was were be
    been being it its this that these those there here he she they we you i me my our your their his
    her them us do does did done not no yes so than too very can could should would will shall may
    might must have has had into over under out up down off about after before when while which who
    whom what why how all any each every both more most other some such only own same just also per
    via ok okay now let lets please thanks want need get go make sure really actually well still
    yeah
    """.split()
)
_WORD = re.compile(r"[A-Za-z0-9_./:@#-]{2,}")
_ENDINGS = ("ing", "ies", "ed", "es", "s")
_SPECIFIC = re.compile(
    r"`[^`\n]+`|(?<![\w-])--?[a-z][\w-]+|\b\w+(?:[/_.]\w+)+\b|\b[a-z]+[A-Z]\w*"
    r"|\b[A-Z][a-z0-9]+[A-Z]\w*|\b[A-Z]{2,}[A-Z0-9_]*\b|#\d+|\b\d[\w.]*"
)

CHARS_A_TOKEN = 4
"""The vendors' rule of thumb for English prose and code; models report exact counts afterwards."""


def word_set(words: str) -> frozenset[str]:
    """Returns the words, which are separated by white space."""
    return frozenset(words.split())


def squeezed(text: str) -> str:
    """Returns the text with every run of white space as one space."""
    return " ".join(text.split())


def shortened(text: str, longest: int) -> str:
    """Returns the text in at most `longest` characters; a longer text is cut behind a word."""
    return text if len(text) <= longest else text[: longest - 1].rsplit(" ", 1)[0] + "…"


def truncated(text: str, longest: int) -> str:
    """Returns the text in at most `longest` characters: a longer one ends with "…", also within a
    word.
    """
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def counted(count: int, noun: str) -> str:
    """Returns the count with its noun: 1 file, 2 files."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def text_hash(text: str) -> str:
    """Returns the hash that identifies a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def count_tokens(text: str) -> int:
    """Returns the estimated tokens of the text, rounded up."""
    return -(-len(text) // CHARS_A_TOKEN)


@lru_cache(maxsize=20_000)
def stems_of(text: str) -> frozenset[str]:
    """Returns the stems of the content words."""
    words = (word.strip(".:-/") for word in _WORD.findall(text.lower()))
    return frozenset(stem(word) for word in words if len(word) >= 2 and word not in STOP)


def stem(word: str) -> str:
    """Returns the word without its ending, if four letters remain, so that its forms are equal."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4 and word.isalpha():
            return word.removesuffix(ending)
    return word


def shared(a: str, b: str) -> float:
    """Returns the share of the smaller text's stems that the other text has."""
    first = stems_of(a)
    second = stems_of(b)
    return len(first & second) / min(len(first), len(second)) if first and second else 0.0


def likeness(a: str, b: str) -> float:
    """Returns the similarity of two texts: the harmonic mean of their shares of common stems."""
    first = stems_of(a)
    second = stems_of(b)
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def specifics_in(text: str) -> int:
    """Returns the number of exact names, values and numbers in the text."""
    return len(set(_SPECIFIC.findall(text)))
