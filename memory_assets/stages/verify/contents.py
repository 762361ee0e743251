"""Searches the files of a repository, as they are and as they were, for what a text names.

What is found in a file of prose alone is not there: a change log names what it removed.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

from memory_assets.schema.protocols import History, Patch, Removal

_PROSE = re.compile(
    r"(?i)\.(?:mdx?|mdc|markdown|rst|adoc)$|(?:^|/)(?:change|history|news)[^/.]*(?:\.txt)?$"
)
_NO_EVIDENCE = re.compile(
    r"(?i)(?:^|/)(?:change|history|news|readme|contributing|agents|claude|gemini|memory)[^/.]*\.?\w*$"
    r"|\.mdc$|copilot-instructions"
)
"""Names of files that say what was removed, or that are themselves checked."""

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
    is_documented: bool = False
    """Whether a document is enough, because a program can make the name of parts."""
    is_word: bool = False
    """Whether the literal is a whole word of letters, digits and underscores."""


def in_text(pattern: re.Pattern[str]) -> Search:
    """Returns the search for the pattern in a file of any path."""
    return lambda _, text: pattern.search(text)


@dataclass(frozen=True)
class SearchedHistory:
    """A history, searched for what was taken out after a day, or ever."""

    history: History
    after: date | None = None

    def has(self, trace: Trace) -> bool:
        """Returns whether the name is in a file of HEAD or of the working tree, as far as they are
        read in time.
        """
        texts = self.history.texts()
        if trace.is_word:
            example = self.history.words().get(trace.literal)
            texts = (example, *texts) if example else ()
        return any(
            trace.literal in text
            and not self.history.is_incomplete
            and _is_of(trace, path)
            and trace.is_there(path, text)
            for path, text in texts
        )

    def removal_of(self, trace: Trace) -> Removal | None:
        """Returns the last commit that took the name, which no file has, out of one."""
        if self.history.is_incomplete:
            return None
        for patch in self._patches(trace.globs):
            if trace.literal in patch.removed and _is_of(trace, patch.path):
                was_there = trace.was_there(patch.path, patch.removed)
                if was_there and not trace.was_there(patch.path, patch.added):
                    return Removal(patch.commit, patch.day)
        return None

    def removal_of_file(self, path: re.Pattern[str]) -> Removal | None:
        """Returns the last commit that removed a file of such a path."""
        for patch in self._patches():
            if not patch.added and path.search(patch.path):
                return Removal(patch.commit, patch.day)
        return None

    def _patches(self, globs: tuple[str, ...] = ()) -> Iterator[Patch]:
        for patch in self.history.patches(globs):
            if self.after is not None and patch.day <= self.after:
                return
            yield patch


def _is_of(trace: Trace, path: str) -> bool:
    if trace.globs:
        return any(fnmatchcase(f"/{path}", f"*/{glob}") for glob in trace.globs)
    is_document = _PROSE.search(path) is not None
    return (trace.is_documented or not is_document) and not (
        is_document and _NO_EVIDENCE.search(path)
    )
