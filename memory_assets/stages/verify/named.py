"""The record of a name that can be looked up in a repository, and how tasks and paths look."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_assets.schema.vocabulary import NamedKind


@dataclass(frozen=True)
class Named:
    """One name, as it is written, and the line that it stands in."""

    kind: NamedKind
    text: str
    """Of a flag with its program, both: `program --flag`."""
    line: int = 0
    is_linked: bool = False
    """Whether it is the target of a link."""
    value: str = ""
    """What the text states of it: the version of a dependency, the value of a setting."""


_LONGEST_PATH = 255
_PLACEHOLDERS = frozenset(
    {"path", "to", "your", "my", "foo", "bar", "baz", "example", "some", "xxx", "the"}
)
"""Parts of a path that only stand for others."""

_WORD = r"([\w][\w.:/-]*)"
_VARIABLE = r"[A-Z_]+=(?:\"[^\"]*\"|'[^']*'|\S*)"
_TASKS: dict[NamedKind, re.Pattern[str]] = {
    "make target": re.compile(rf"(?:^|[\s;&])make((?:\s+(?:-[sjkB]\d*|{_VARIABLE}|{_WORD}))+)"),
    "just recipe": re.compile(rf"(?:^|&&\s*|;\s*)just\s+{_WORD}"),
    "package script": re.compile(rf"\b(?:npm|pnpm|yarn|bun)\s+run\s+{_WORD}"),
    "mise task": re.compile(rf"\bmise\s+(?:run|r)\s+{_WORD}"),
}


def tasks_in(command: str, line: int = 0) -> Iterator[Named]:
    """Yields the tasks that the command runs."""
    for kind, pattern in _TASKS.items():
        for call in pattern.finditer(command):
            for word in re.sub(_VARIABLE, "", call[1]).split():
                if not word.startswith("-"):
                    yield Named(kind, word.rstrip(".:/"), line)


def is_task(command: str) -> bool:
    """Returns whether the command begins with one that runs tasks."""
    return any(pattern.match(command) for pattern in _TASKS.values())


def is_possible(path: str) -> bool:
    """Returns whether no part of the path only stands for another ("path/to", "your-app"), and a
    file can be called so.
    """
    is_example = not _PLACEHOLDERS.isdisjoint(re.split(r"[/._-]", path.lower()))
    return len(path) <= _LONGEST_PATH and not is_example
