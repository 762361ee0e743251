"""Finds what a Markdown file for agents or people names, and what can be looked up in a repository.

Only what is written as code counts: between backticks, in a block of commands, or as a link within
the repository. Prose is never taken for a name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory_assets.schema.vocabulary import NamedKind
from memory_assets.stages.embed.names import listed_programs
from memory_assets.stages.verify.named import Named, is_possible, tasks_in
from memory_assets.stages.verify.names_of_sentence import names_in_sentence

FOUND_IN_FILES: tuple[NamedKind, ...] = (
    "symbol", "environment variable", "command", "flag", "dependency",
)  # fmt: skip
"""Kinds that need the content of files, and their history, to be looked up."""

_FENCE = re.compile(r"\s*(?:[>*-]\s+)?(`{3,}|~{3,})\s*([\w+-]*)")
_SHELLS = frozenset({"", "sh", "bash", "shell", "zsh", "console", "shell-session", "terminal"})
_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)")
_LINK = re.compile(r"\]\(<?([^()\s<>]+)>?(?:\s+\"[^\"]*\")?\)")
_PROMPT = re.compile(r"^\s*(?:[$%#>❯]|\S{1,60}[@:]\S{0,60}[$#])\s+")
_COMMENT = re.compile(r"(?:^|\s)#\s.*")
_ELSEWHERE = ("git clone ", "cd ", "--prefix", "-C ", "--filter", "--workspace", "-w ")
"""What makes a block's commands run in another folder than the repository's top."""

_NEW_PROJECT = re.compile(r"(?<!\S)(?:mkdir|init|create|new)\s")
_PATH = re.compile(r"(?:\./)?[\w.@+-]+(?:/[\w.@+-]+)*/?")
_LINES_OF_PATH = re.compile(r"(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)$")


@dataclass
class _Place:
    """Where in a Markdown file a reader is."""

    fence: str = ""
    """The mark that ends the block of code; empty outside of one."""
    is_shell: bool = False
    is_elsewhere: bool = False
    """Whether the block's commands run in another folder."""
    is_new: bool = False
    """Whether the section is about a project that its reader creates."""

    def is_mark(self, line: str) -> bool:
        """Moves to the line, and returns whether it begins or ends a block of code."""
        mark = _FENCE.match(line)
        if mark and (not self.fence or mark[1].startswith(self.fence)):
            self.fence = "" if self.fence else mark[1]
            self.is_shell = mark[2].lower() in _SHELLS
            self.is_elsewhere = False
            return True
        if self.fence:
            self.is_elsewhere = self.is_elsewhere or _is_elsewhere(line)
            self.is_new = self.is_new or (self.is_shell and _NEW_PROJECT.search(line) is not None)
        elif line.startswith("#"):
            self.is_new = False
        return False


def names_in(markdown: str) -> Iterator[Named]:
    """Yields the names, line by line; a name that is written twice, twice."""
    place = _Place()
    lines = markdown.splitlines()
    for number, line in enumerate(lines, 1):
        if place.is_mark(line) or place.is_new:
            continue
        if place.fence:
            if place.is_shell and not place.is_elsewhere:
                command = _COMMENT.sub("", _PROMPT.sub("", line))
                yield from _names_of_command(command, number)
                yield from _other_names(f"`{command}`", number)
        elif not _is_caption(line, lines[number : number + 4]):
            yield from _names_of_prose(line, number)


def _is_caption(line: str, following: list[str]) -> bool:
    """Returns whether the line ends with the name of a file that its reader writes: its content
    follows.
    """
    texts = (text for text in following if text.strip() and not text.startswith("<!--"))
    mark = _FENCE.match(next(texts, ""))
    return line.rstrip().endswith(":") and mark is not None and mark[2].lower() not in _SHELLS


def _names_of_prose(line: str, number: int) -> Iterator[Named]:
    for span in _SPAN.finditer(line):
        words = span[2].strip()
        if not _is_elsewhere(words):
            yield from _names_of_command(words, number)
    for link in _LINK.finditer(_SPAN.sub("", line)):
        path = link[1].partition("#")[0]
        if "://" not in path and _is_path(path):
            yield Named("path", path, number, is_linked=True)
    yield from _other_names(line, number)


def _names_of_command(command: str, number: int) -> Iterator[Named]:
    yield from tasks_in(command, number)
    for word in command.split():
        path = _LINES_OF_PATH.sub("", word.strip("\"',;()"))
        if "/" in path and _is_path(path):
            yield Named("path", path, number)


def _other_names(line: str, number: int) -> Iterator[Named]:
    """Yields other names in code, commands and flags only of programs that are not well known."""
    for named in names_in_sentence(line, in_code=True):
        program, _, rest = named.text.partition(" ")
        is_of_others = program in listed_programs() or (named.kind == "flag" and not rest)
        if named.kind in FOUND_IN_FILES and not is_of_others:
            yield replace(named, line=number, value="")


def _is_elsewhere(command: str) -> bool:
    return any(f" {words}" in f" {command} " for words in _ELSEWHERE)


def _is_path(word: str) -> bool:
    is_other = ".." in word or "@" in word.partition("/")[0] or word.startswith(("-", "//"))
    return bool(_PATH.fullmatch(word)) and is_possible(word) and not is_other
