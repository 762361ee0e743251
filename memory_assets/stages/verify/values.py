"""Searches for a value beside the name that it belongs to: a port, a default, a version."""

import re

from memory_assets.stages.verify.contents import Trace, in_text

_SHORTEST_DISTINCT = 3
"""A value of fewer characters is in any file; it counts only in the line of its name."""

_LINES_APART = 3
"""Lines between a name and its value, where a call is written over several lines."""

_NUMBER = re.compile(r"\d{1,18}")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def name_pattern(name: str) -> str:
    """Returns the expression of the name in any spelling: `max_retries`, `maxRetries`,
    `MAX-RETRIES`, `max retries`; also as the last or first part of a longer name.
    """
    parts = _PARTS.findall(name)
    joined = r"[-_. ]?".join(f"(?i:{part})" for part in parts)
    first = name[:1].upper()
    return rf"(?:(?<![A-Za-z])|(?<=[a-z])(?={re.escape(first)})){joined}s?(?![a-z])"


def value_pattern(value: str, is_version: bool = False) -> str:
    """Returns the expression of the value: a whole number with any unit and separators of
    thousands, anything else as it is; a version also where the file says more of it.
    """
    number = re.fullmatch(r"(\d[\d_,]*)\s*[A-Za-z%]*", value)
    if is_version:
        return rf"(?<![\d.]){re.escape(value)}(?![\w])"
    if not number:
        return rf"(?<![\w.]){re.escape(value)}(?!\w)"
    digits = re.sub("[_,]", "", number[1])
    return rf"(?<![\w.]){'[_,]?'.join(digits)}(?!\d|[_.]\d)"


_LONGEST_LINE = 200
"""Characters between a name and its value in a line; a longer line is generated."""


def trace_of_value(name: str, value: str) -> Trace:
    """Returns how the value is seen with the name that it belongs to.

    A distinct value is there if a file has both; a short one only in one line with the name.
    """
    is_distinct = len(value) >= _SHORTEST_DISTINCT
    spelled = name_pattern(re.split("[. ]", name)[-1])
    stated = re.compile(value_pattern(value))
    lines = _LINES_APART if is_distinct else 0
    rest = rf"[^\n]{{0,{_LONGEST_LINE}}}"
    below = rf"{spelled}(?:{rest}\n){{0,{lines}}}?{rest}?{stated.pattern}"
    near = in_text(re.compile(rf"{below}|{stated.pattern}{rest}{spelled}"))
    written = (
        {value, f"{int(value):_}", f"{int(value):,}"} if _NUMBER.fullmatch(value) else set[str]()
    )

    def is_in_both(_: str, text: str) -> bool:
        """Returns whether the file has the name and the value."""
        is_likely = not written or any(form in text for form in written)
        return is_likely and bool(stated.search(text) and re.search(spelled, text))

    return Trace(is_in_both if is_distinct else near, near, value[-3:] if written else "")
