"""Finds the faults of a fact in its words and in the messages that it rests on.

Takes texts, gives names of faults. Nothing is shared with the code that extracts, grounds and
gates: it finds the faults that this code misses.
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
"""Least share of a fact's content words in its evidence. Of 2,437 facts of the rules each has all
of them, of 171 facts of a model all but one at least 0.56; against random messages of the same
session 1.8 % reach it."""

COPIED_WORDS, COPIED_SHARE = 8, 0.8
"""Words in a row of a tool's output, and their share of the fact, from which the fact is a copy of
it. Error texts of one line within a sentence about them stay below the share."""

OUTPUTS = ("tool", "file", "web")
"""Authors of what tools print and files hold."""

_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_NO_WORD = re.compile(r"\W+")
_ASCRIPTION = frozenset(
    {"owner", "user", "want", "wanted", "decid", "decided", "correct", "corrected", "said"}
)
"""Words that ascribe a fact to a person; a wrong ascription is the fault `owner_unheard`."""

_PATTERNS = patterns_beside(__file__)
_CLOCK = _PATTERNS["clock"]
_HOUR = re.compile(r"(?<![\d:.])(1[0-2]|[1-9])\s?([ap])\.?m\b", re.I)
_ASCRIBED = _PATTERNS["ascribed"]
_CODE = re.compile(r"`[^`\n]*`")
_BROKEN = _PATTERNS["broken"]
"""Two separators in a row, an open end, or a verb without its subject."""

_BEFORE = _PATTERNS["before"]
"""Names what was there before, or says that the change is a condition or a wish."""


@dataclass(frozen=True, slots=True)
class EvidenceMessage:
    """A message that a fact rests on."""

    text: str
    is_owners: bool
    """Typed by the owner of the session."""
    is_output: bool = False
    """Printed by a tool, or the content of a file or page."""


def faults_of(
    text: str,
    author: str,
    sources: Sequence[EvidenceMessage],
    *,
    priority: Priority = "medium",
    quote: str = "",
) -> list[Fault]:
    """Returns the faults of a fact that the author stated and the sources support; `quote` are the
    words quoted from them.
    """
    found: dict[Fault, bool] = {
        "ungrounded": support(text, sources) < GROUNDED,
        "invented_time": bool(
            clock_times(text) - set().union(*(clock_times(source.text) for source in sources))
        ),
        "dangling": is_dangling(text),
        "conversational": bool(_PATTERNS["conversational"].match(text)),
        "long": len(text) > MOST_CHARS,
        "owner_unheard": speaks_for_owner(text, author)
        and not any(source.is_owners for source in sources),
        "broken": bool(
            _BROKEN.search(_ASCRIBED.sub("", _CODE.sub("x", text).strip(), count=1).rstrip("”\"'"))
        ),
        "unnamed_change": states_unnamed_change(text),
        "copied_output": any(source.is_output and copies(text, source.text) for source in sources),
        "asked_only": priority == "high" and len(sources) < 2 and is_question(quote),
    }
    return [fault for fault, is_there in found.items() if is_there]


def support(text: str, sources: Sequence[EvidenceMessage]) -> float:
    """Returns the share of the fact's content words that the sources have together; 0 for a fact
    without any.
    """
    wanted = _words(text) - _ASCRIPTION
    held = frozenset[str]().union(*(_words(source.text) for source in sources))
    return len(wanted & held) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=50_000)
def _words(text: str) -> frozenset[str]:
    """Returns the content words, with names split and apostrophes removed: messages and facts write
    these differently.
    """
    return content_words(_NO_WORD.sub(" ", _APOSTROPHE.sub("", text)))


def clock_times(text: str) -> set[tuple[int, int]]:
    """Returns the times of day in the text, as (hour, minute)."""
    times = [*_CLOCK.findall(text), *((hour, "0", half) for hour, half in _HOUR.findall(text))]
    found = ((int(hour), int(minute), half.lower()) for hour, minute, half in times)
    return {
        (hour % 12 + 12 * (half == "p") if half else hour, minute)
        for hour, minute, half in found
        if hour < 24
    }


def is_dangling(text: str) -> bool:
    """Returns whether the fact, or its quotation, begins with a word that refers to something
    before it.
    """
    quoted = _ASCRIBED.sub("", text, count=1)
    return bool(_PATTERNS["dangling"].match(_PATTERNS["filler"].sub("", quoted, count=1)))


def states_unnamed_change(text: str) -> bool:
    """Returns whether the fact says that something changed, and not what it was before."""
    return bool(_PATTERNS["changed"].search(text)) and not _BEFORE.search(text)


def copies(text: str, output: str) -> bool:
    """Returns whether most of the fact is one passage of the output, word for word."""
    words, printed = (_NO_WORD.sub(" ", one.lower()).split() for one in (text, output))
    run = max(COPIED_WORDS, ceil(COPIED_SHARE * len(words)))
    joined = f" {' '.join(printed)} "
    return any(
        f" {' '.join(words[start : start + run])} " in joined
        for start in range(len(words) - run + 1)
    )


def is_question(text: str) -> bool:
    """Returns whether the words ask, and state nothing."""
    return bool(_PATTERNS["question"].search(text.strip()))


def speaks_for_owner(text: str, author: str) -> bool:
    """Returns whether the fact states what the owner wants, thinks or decided."""
    return author == "owner" or bool(_PATTERNS["for_the_owner"].search(text))
