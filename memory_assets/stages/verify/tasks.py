"""Reads which tasks a repository defines: targets of make, recipes of just, scripts of packages,
tasks of mise.
"""

import json
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_assets.stages.verify.file_reading import read_text
from memory_assets.stages.verify.named import NamedKind

_RULE = re.compile(r"(?m)^([^\s#:=][^#:=\n]*?)\s*::?(?![=:])")
_RECIPE = re.compile(r"(?m)^(?:alias\s+)?@?([A-Za-z_][\w-]*)[^:=\n]*:(?:[^=]|$)|^alias\s+([\w-]+)")
_MAKE_RULE = r"^(?:[^\s:=#][^:=\n]*\s)?{}(?:\s[^:=\n]*)?:(?!=)"
_MADE_LATER = re.compile(r"\$[({]|%")
_INCLUDES = re.compile(r"(?m)^ *(?:[-s]?include\b|\$\((?:eval|call|foreach)\b)")
"""What may define targets that a reader of the file cannot see."""

_TASK_FOLDERS = ("mise-tasks", ".mise-tasks", ".mise/tasks", "mise/tasks", ".config/mise/tasks")
"""Folders whose files are tasks of mise."""


@dataclass(frozen=True)
class Tasks:
    """The tasks of one kind that some files define."""

    names: frozenset[str]
    is_open: bool = False
    """Whether there may be others that cannot be read."""


def _targets(text: str) -> Tasks:
    targets = frozenset(name for rule in _RULE.findall(text) for name in rule.split())
    is_made_later = any(map(_MADE_LATER.search, targets)) or _INCLUDES.search(text)
    return Tasks(targets, bool(is_made_later))


def _recipes(text: str) -> Tasks:
    recipes = frozenset(first or second for first, second in _RECIPE.findall(text))
    return Tasks(recipes, bool(re.search(r"(?m)^(?:import|mod)\b", text)))


def _scripts(text: str) -> Tasks:
    return Tasks(frozenset(_table(json.loads(text), "scripts")))


def _mise_tasks(text: str) -> Tasks:
    content = tomllib.loads(text)
    return Tasks(frozenset(_table(content, "tasks")), "task_config" in content)


def _table(content: Any, name: str) -> Mapping[str, Any]:
    table = content.get(name) if isinstance(content, Mapping) else None
    return table if isinstance(table, Mapping) else {}


@dataclass(frozen=True)
class TaskFiles:
    """Where tasks of a kind are defined, and how a definition looks."""

    names: Collection[str]
    """Names of files, in any folder."""
    read: Callable[[str], Tasks]
    line: str
    """The expression of a line that defines the task."""


TASK_FILES: dict[NamedKind, TaskFiles] = {
    "make target": TaskFiles(("Makefile", "makefile", "GNUmakefile"), _targets, _MAKE_RULE),
    "just recipe": TaskFiles(
        ("justfile", "Justfile", ".justfile"), _recipes, r"^@?{}(?![\w-])[^:\n]*:(?!=)"
    ),
    "package script": TaskFiles(("package.json",), _scripts, r'"{}"\s*:'),
    "mise task": TaskFiles(
        ("mise.toml", ".mise.toml"), _mise_tasks, r"^(?:\[tasks\.\"?)?{}(?![\w-])"
    ),
}


def read_tasks(kind: NamedKind, root: Path, files: Collection[str]) -> Tasks:
    """Returns the tasks that these files of the working tree define; open where one cannot be
    read.
    """
    names = frozenset[str]()
    is_open = kind == "mise task" and any((root / each).is_dir() for each in _TASK_FOLDERS)
    for file in files:
        content = read_text(root, file)
        try:
            tasks = TASK_FILES[kind].read(content.text)
        except ValueError:
            tasks = Tasks(frozenset(), is_open=True)
        names |= tasks.names
        is_open = is_open or tasks.is_open or bool(content.problem)
    return Tasks(names, is_open)
