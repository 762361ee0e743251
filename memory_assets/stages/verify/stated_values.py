"""Finds what a sentence states of a dependency or a setting: its version, its value."""

import re
from collections.abc import Iterator
from itertools import chain

from memory_assets.stages.embed.names import Span, known_names
from memory_assets.stages.verify.named import Named
from memory_assets.text.words import STOP

_NUMBER = r"v?\d+(?:\.\w+)*(?:-[a-z]+[\w.]*)?"
_EXACT = re.compile(
    rf"(?<![\w./@-])(@?[a-zA-Z][\w./-]*)(?:\[[\w,]+\])?(?:[=~]=|@[~^]?)({_NUMBER})(?![\w@-])"
)
_VERSION = re.compile(rf"(?<![\w.:/#=@-])({_NUMBER})(?![\w%/:-]|\.\d|\s?[kKMG]?i?B\b)")
_NAME_IN_FRONT = re.compile(
    r"(?<![\w./@-])(@?[A-Za-z][\w./+#-]*)`?"
    r"((?:\s+(?:[a-z]{2}|from|was|[a-z]+ed|stays|v?\d[\w.]*))*)\s+`?$"
)
_VALUE = r"`?\"?(\d[\w.]*|true|false|(?<=[`\"])[\w.-]+)"
_PORTS = {":": "port", "port ": "port", "localhost:": "port"}
_SETTINGS = (
    re.compile(rf"`?\b([a-zA-Z][\w.-]*)`?\s+(?:defaults? to|(?:is|was) set to)\s+{_VALUE}"),
    re.compile(rf"\b(timeout|limit)\s+(?:(?:is|of)\s+)?{_VALUE}"),
    re.compile(r"`([a-z][\w.-]*)(?:: | = |=)([\w.\"'-]+)`"),
    re.compile(r"(?i)(?<![\w.])(port\s|localhost:)\s*`?(\d{2,5})\b"),
    re.compile(r"(?<=\son)\s`?(:)(\d{4,5})\b"),
    re.compile(r"(?<![\w.])([A-Z]{2,}\w*|(?:\w+\.)*[a-z]+_\w+)`? is `?(\d[\w.]*)"),
    re.compile(r"(?<![\w./:-])([a-z][\w./-]*):(\d+(?:\.\d+)+)\b(?!:)"),
)
_NEEDED = (
    re.compile(r"\b(?:depends?|dependency|relies|rely) on `?(@?[a-z][\w./-]*\w)"),
    re.compile(r"`(@?[a-z][\w./-]*)`(?: \w+)? (?:package|library|dependency)\b"),
)
"""What is needed is a dependency only if its name is known, or written as code."""


def dependencies_in(text: str) -> Iterator[tuple[Span, Named]]:
    """Yields dependencies, with the version that the sentence states: "polars 2.1", `react@19`."""
    for match in _EXACT.finditer(text):
        yield match.span(1), Named("dependency", match[1], value=match[2])
    for match in chain.from_iterable(pattern.finditer(text) for pattern in _NEEDED):
        if match[1] in known_names() or text[match.start(1) - 1] == "`":
            yield match.span(1), Named("dependency", match[1])
    for match in _VERSION.finditer(text):
        name = _NAME_IN_FRONT.search(text[: match.start()])
        if name and _is_version_of(name, match):
            yield name.span(1), Named("dependency", name[1], value=match[1])


def _is_version_of(named: re.Match[str], version: re.Match[str]) -> bool:
    """Returns whether the number is the present version of the name before it; in "from 1.2 to 1.3"
    the first is not.
    """
    between = named[2].split()
    if between[-1:] == ["from"] or not _is_dependency(named, version.string):
        return False
    dots = version[1].count(".")
    is_address = dots == 3 and version[1].replace(".", "").isdigit()
    is_known = named[1].lower() in known_names()
    next_word = re.match(r"\s+(\w+)", version.string[version.end() :])
    is_last = not next_word or next_word[1] in STOP
    if is_address:
        return False
    return (is_last or not between) if dots else (is_known and is_last and not between)


def _is_dependency(named: re.Match[str], text: str) -> bool:
    """Returns whether the name is known, has the form of one, or is said to be pinned."""
    has_form = re.search(r"\w[_-]\w", named[1]) or text[named.end(1)] == "`"
    is_pinned = named[2].split()[:2] in (["is", "pinned"], ["stays", "pinned"])
    return bool(has_form or is_pinned or named[1].lower() in known_names())


def settings_in(text: str) -> Iterator[tuple[Span, Named]]:
    """Yields settings with the value that the sentence states: "`max_retries` defaults to 5"."""
    for pattern in _SETTINGS:
        for match in pattern.finditer(text):
            name = _PORTS.get(match[1].lower(), match[1])
            yield match.span(1), Named("setting", name, value=match[2].strip("\"'."))
