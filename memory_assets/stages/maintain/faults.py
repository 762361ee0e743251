"""Finds the faults of a fact by its text and the messages that it rests on.

The rules here share nothing with the code that extracts, grounds and gates facts, so that they find
the faults which that code misses.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Literal, get_args

from memory_assets.schema.vocabulary import Priority
from memory_assets.stages.maintain.text_agreement import MOST_CHARS, content_words
from memory_assets.text.patterns import patterns_beside

Fault = Literal[
    "ungrounded", "invented_time", "dangling", "conversational", "long", "owner_unheard", "broken",
    "unnamed_change",
    "copied_output", "asked_only",
]  # fmt: skip
FAULTS: tuple[Fault, ...] = get_args(Fault)

GROUNDED = 0.5
"""Least share of a fact's content words that its evidence must have. Each of 2,437 facts of the
rules reaches 1, and all but one of 171 facts of a model at least 0.56. Compared with random
messages of the same session, 1.8 % of the facts reach it."""

COPIED_WORDS, COPIED_SHARE = 8, 0.8
"""A fact is a copy of a tool's output if it shares a passage of at least so many words, and at
least this share of its own words. A sentence that quotes an error text stays below the share."""

OUTPUTS = ("tool", "file", "web")
"""Authors of what tools print and files hold."""

_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_NO_WORD = re.compile(r"\W+")
_ASCRIPTION = frozenset("owner user want wanted decid decided correct corrected said".split())
"""Words that ascribe a fact to a person; a wrong ascription is the fault `owner_unheard`."""

_PATTERNS = patterns_beside(__file__)
_HOUR = re.compile(r"(?<![\d:.])(1[0-2]|[1-9])\s?([ap])\.?m\b", re.I)
_ASCRIBED = _PATTERNS["ascribed"]
_CODE = re.compile(r"`[^`\n]*`")


@dataclass(frozen=True, slots=True)
class EvidenceMessage:
    """A message that a fact rests on."""

    text: str
    is_owners: bool
    """Whether the owner of the session typed it."""
    is_output: bool = False
    """Whether a tool printed it, or it is the content of a file or page."""


def faults_of(
    text: str,
    author: str,
    sources: Sequence[EvidenceMessage],
    *,
    priority: Priority = "medium",
    quote: str = "",
) -> list[Fault]:
    """Returns the faults of a fact by the author; `sources` are the messages that it rests on.

    `quote` has the words of the messages that the fact quotes.
    """
    times = set().union(*(clock_times(source.text) for source in sources))
    is_heard = any(source.is_owners for source in sources)
    prose = _ASCRIBED.sub("", _CODE.sub("x", text).strip(), count=1).rstrip("”\"'")
    has_fault: dict[Fault, bool] = {
        "ungrounded": support(text, sources) < GROUNDED,
        "invented_time": bool(clock_times(text) - times),
        "dangling": is_dangling(text),
        "conversational": bool(_PATTERNS["conversational"].match(text)),
        "long": len(text) > MOST_CHARS,
        "owner_unheard": speaks_for_owner(text, author) and not is_heard,
        "broken": bool(_PATTERNS["broken"].search(prose)),
        "unnamed_change": states_unnamed_change(text),
        "copied_output": any(source.is_output and copies(text, source.text) for source in sources),
        "asked_only": priority == "high" and len(sources) < 2 and is_question(quote),
    }
    return [fault for fault, is_found in has_fault.items() if is_found]


def support(text: str, sources: Sequence[EvidenceMessage]) -> float:
    """Returns the share of the fact's content words that occur in any source; 0 without words."""
    words = _words(text) - _ASCRIPTION
    source_words = frozenset[str]().union(*(_words(source.text) for source in sources))
    return len(words & source_words) / len(words) if words else 0.0


@lru_cache(maxsize=50_000)
def _words(text: str) -> frozenset[str]:
    """Returns the content words; names are split and apostrophes removed, as spellings differ."""
    return content_words(_NO_WORD.sub(" ", _APOSTROPHE.sub("", text)))


def clock_times(text: str) -> set[tuple[int, int]]:
    """Returns the times of day in the text, as (hour, minute)."""
    times = [
        *_PATTERNS["clock"].findall(text),
        *((hour, "0", half) for hour, half in _HOUR.findall(text)),
    ]
    clock_hours = set[tuple[int, int]]()
    for hour, minute, half in times:
        if int(hour) < 24:
            afternoon = 12 if half.lower() == "p" else 0
            clock_hours.add((int(hour) % 12 + afternoon if half else int(hour), int(minute)))
    return clock_hours


def is_dangling(text: str) -> bool:
    """Returns whether the fact, or its quotation, begins with a word that refers back."""
    quoted = _ASCRIBED.sub("", text, count=1)
    return bool(_PATTERNS["dangling"].match(_PATTERNS["filler"].sub("", quoted, count=1)))


def states_unnamed_change(text: str) -> bool:
    """Returns whether the fact says that something changed, but not from which state."""
    return bool(_PATTERNS["changed"].search(text)) and not _PATTERNS["before"].search(text)


def copies(text: str, output: str) -> bool:
    """Returns whether most of the fact is one passage of the output, word for word."""
    words = _NO_WORD.sub(" ", text.lower()).split()
    output_words = f" {' '.join(_NO_WORD.sub(' ', output.lower()).split())} "
    run = max(COPIED_WORDS, ceil(COPIED_SHARE * len(words)))
    passages = (" ".join(words[start : start + run]) for start in range(len(words) - run + 1))
    return any(f" {passage} " in output_words for passage in passages)


def is_question(text: str) -> bool:
    """Returns whether the words ask, and state nothing."""
    return bool(_PATTERNS["question"].search(text.strip()))


def speaks_for_owner(text: str, author: str) -> bool:
    """Returns whether the fact states what the owner wants, thinks or decided."""
    return author == "owner" or bool(_PATTERNS["for_the_owner"].search(text))
