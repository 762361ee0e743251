"""Searches the files of a repository, as they are and as they were, for what a text names.

What is found in a file of prose alone is not there: a change log names what it removed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

from memory_assets.schema.protocols import History, Removal

_PROSE = re.compile(
    r"(?i)\.(?:mdx?|mdc|markdown|rst|adoc)$|(?:^|/)(?:changes|changelog|news)[^/]*$"
)

Search = Callable[[str, str], object]
"""Says whether a name is in a file of this path with this content."""


@dataclass(frozen=True)
class Trace:
    """How a name is seen in files."""

    is_there: Search
    """Whether a file names it."""
    was_there: Search
    """Whether what a commit took out of a file did."""
    literal: str = ""
    """What both contain."""
    globs: tuple[str, ...] = ()
    """Names of the files that define such a name; none for all."""


def in_text(pattern: re.Pattern[str]) -> Search:
    """Returns the search for the pattern in a file of any path."""
    return lambda _, text: pattern.search(text)


def is_present(history: History, trace: Trace) -> bool:
    """Returns whether the name is in a file of HEAD or of the working tree, as far as they are
    read in time.
    """
    return any(
        trace.literal in text and trace.is_there(path, text) and _is_of(trace, path)
        for path, text in history.texts()
        if not history.is_incomplete
    )


def latest_removal(history: History, trace: Trace, after: date | None = None) -> Removal | None:
    """Returns the last commit after the day that took the name out of a file."""
    for patch in history.patches(trace.globs):
        if after is not None and patch.day <= after:
            return None
        if trace.literal in patch.removed and _is_of(trace, patch.path):
            was_there = trace.was_there(patch.path, patch.removed)
            if was_there and not trace.was_there(patch.path, patch.added):
                return Removal(patch.commit, patch.day)
    return None


def removal_of_file(history: History, path: re.Pattern[str]) -> Removal | None:
    """Returns the last commit that removed a file of such a path."""
    removed = (patch for patch in history.patches() if not patch.added and path.search(patch.path))
    patch = next(removed, None)
    return Removal(patch.commit, patch.day) if patch else None


def _is_of(trace: Trace, path: str) -> bool:
    name = path.rpartition("/")[2]
    if trace.globs:
        return any(fnmatchcase(name, glob) for glob in trace.globs)
    return not _PROSE.search(path)
