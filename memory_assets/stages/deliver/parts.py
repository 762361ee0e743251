"""The parts that are ours in the files of harnesses: hooks in a JSON settings file, one line of a TOML file, a file of our own.

A part is added to the text of its file by insertions alone, and can be removed whatever else was edited there. Nothing here
reads or writes a file.
"""

import json
import os
import re
import shlex
import subprocess
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_assets.errors import HooksError, NotOursError
from memory_assets.stages.deliver.json_text import BOM, Insertion, Node, append_item, cut, insert_members, parse

HOOK_SECONDS = 3
"""Timeout of a hook, which takes hundredths of a second. Codex warns of a longer one at the end of a session."""

MARK = "# by `memory hooks install`"
"""Marks our line of a TOML file."""


@dataclass(frozen=True, kw_only=True)
class HookPart(ABC):
    """Our part of one file."""

    path: Path
    advice: str = ""
    """What a person has to do after installing it."""

    @abstractmethod
    def is_current(self, text: str) -> bool | None:
        """Returns whether our whole part is in the text, as it would be added now; None if nothing of ours is there."""

    @abstractmethod
    def add(self, text: str) -> list[Insertion]:
        """Returns what adds the part to a text without it; raises `HooksError` where that is not possible."""

    @abstractmethod
    def remove(self, text: str, kept: Sequence[str] = ()) -> str:
        """Returns the text without our part; `kept` names containers that were there before, even if empty now."""

    def kept(self, text: str) -> list[str]:
        """Returns the names of containers that are there already and stay when our part is removed."""
        return []


@dataclass(frozen=True, kw_only=True)
class JsonHooks(HookPart):
    """Hooks in a settings file of the format that Claude Code and Codex share."""

    harness: str
    commands: Mapping[str, Sequence[str]]
    """The words of the command, by event."""

    def is_current(self, text: str) -> bool | None:
        """Returns whether each event has our hook, with its current command; None if there is no hook of ours."""
        found = {(event, hook["command"]) for event, _, _, hook in self._find(_root(text, self.path))}
        return found == {(event, shell_line(words)) for event, words in self.commands.items()} if found else None

    def add(self, text: str) -> list[Insertion]:
        """Returns what adds a hook to each event."""
        groups = {event: [self._group(event)] for event in self.commands}
        if not text.removeprefix(BOM).strip():
            return [Insertion(len(text), json.dumps({"hooks": groups}, indent=2, ensure_ascii=False) + "\n")]
        root = _root(text, self.path)
        hooks = root.child("hooks")
        if hooks is None:
            return [insert_members(text, root, {"hooks": groups})]
        if not isinstance(hooks.value, dict):
            raise HooksError(f"`hooks` in {self.path} is not an object. Fix the file, then install again.")
        missing = {event: group for event, group in groups.items() if hooks.child(event) is None}
        joined = [self._append(text, hooks, event) for event in self.commands if event not in missing]
        return [*joined, *([insert_members(text, hooks, missing)] if missing else [])]

    def remove(self, text: str, kept: Sequence[str] = ()) -> str:
        """Returns the text without our hooks, and without containers that held nothing else."""
        while (found := next(self._find(root := _root(text, self.path)), None)) is not None:
            event, place, index, _ = found
            hooks = root.children[root.index("hooks")]
            groups = hooks.children[hooks.index(event)]
            group = groups.children[place]
            listed = group.children[group.index("hooks")]
            if len(listed.children) > 1:
                text = cut(text, listed, index)
            elif len(groups.children) > 1 or event in kept:
                text = cut(text, groups, place)
            elif len(hooks.children) > 1 or "hooks" in kept:
                text = cut(text, hooks, hooks.index(event))
            else:
                text = cut(text, root, root.index("hooks"))
        return text

    def kept(self, text: str) -> list[str]:
        """Returns `hooks` and the events in it that are there already."""
        hooks = _root(text, self.path).child("hooks")
        return [] if hooks is None else ["hooks", *hooks.keys]

    def _group(self, event: str) -> dict[str, Any]:
        return {"hooks": [{"type": "command", "command": shell_line(self.commands[event]), "timeout": HOOK_SECONDS}]}

    def _append(self, text: str, hooks: Node, event: str) -> Insertion:
        groups = hooks.child(event)
        if groups is None or not isinstance(groups.value, list):
            raise HooksError(f"`hooks.{event}` in {self.path} is not a list. Fix the file, then install again.")
        return append_item(text, groups, self._group(event))

    def _find(self, root: Node) -> Iterator[tuple[str, int, int, dict[str, Any]]]:
        """Yields each of our hooks with its event, the index of its group, and its index in the group."""
        hooks = root.value.get("hooks")
        for event, groups in hooks.items() if isinstance(hooks, dict) else ():
            for place, group in enumerate(groups if isinstance(groups, list) else ()):
                listed = group.get("hooks") if isinstance(group, dict) else None
                for index, hook in enumerate(listed if isinstance(listed, list) else ()):
                    command = hook.get("command") if isinstance(hook, dict) else None
                    if isinstance(command, str) and f"hooks run {self.harness} " in command and "memory" in command:
                        yield event, place, index, hook


@dataclass(frozen=True, kw_only=True)
class TomlNotify(HookPart):
    """The line of Codex's `config.toml` that makes it call us after each turn; another `notify` stays."""

    words: Sequence[str]

    def is_current(self, text: str) -> bool | None:
        """Returns whether our line is as it would be added now; None if it is not in the text."""
        return self._text in text.splitlines() if self._line.search(text) else None

    def add(self, text: str) -> list[Insertion]:
        """Returns what adds the line at the top, above the first table; raises `HooksError` where there is another one."""
        try:
            settings = tomllib.loads(text.removeprefix(BOM).replace("\r\n", "\n"))
        except tomllib.TOMLDecodeError as error:
            raise HooksError(f"Cannot read {self.path}: {error}. Fix the file, then install again.") from error
        if "notify" in settings:
            raise NotOursError(f"`notify` in {self.path} is yours and stays; Codex reports ended sessions by its hooks.")
        newline = "\r\n" if "\r\n" in text else "\n"
        return [Insertion(len(text) - len(text.removeprefix(BOM)), self._text + newline)]

    def remove(self, text: str, kept: Sequence[str] = ()) -> str:
        """Returns the text without our line."""
        return self._line.sub("", text)

    @property
    def _text(self) -> str:
        return f"notify = {json.dumps(list(self.words), ensure_ascii=False)}  {MARK}"

    @property
    def _line(self) -> re.Pattern[str]:
        return re.compile(rf"(?:^|(?<={BOM}))notify = \[.*\] +{re.escape(MARK)}[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class OwnFile(HookPart):
    """A whole file of ours; another file of the same name stays."""

    content: str
    mark: str
    """A line that marks it as ours."""

    def is_current(self, text: str) -> bool | None:
        """Returns whether the file is as it would be written now; None if it is not ours."""
        return text == self.content if self.mark in text else None

    def add(self, text: str) -> list[Insertion]:
        """Returns the whole file; raises `HooksError` where another file has its name."""
        if text:
            raise NotOursError(f"{self.path} is not ours and stays; rename it, then install again.")
        return [Insertion(0, self.content)]

    def remove(self, text: str, kept: Sequence[str] = ()) -> str:
        """Returns an empty text: all of it is ours."""
        return ""


def shell_line(words: Sequence[str]) -> str:
    """Returns the words as a line of the shell in which harnesses run it; it does nothing once its program is gone."""
    if os.name == "nt":
        return subprocess.list2cmdline(words)
    return f"[ -x {shlex.quote(words[0])} ] || exit 0; exec {shlex.join(words)}"


def _root(text: str, path: Path) -> Node:
    if not text.removeprefix(BOM).strip():
        return Node(0, 0, {})
    try:
        root = parse(text)
    except (ValueError, RecursionError) as error:
        raise HooksError(f"Cannot read {path}: {error}. Fix the file, then try again.") from error
    if not isinstance(root.value, dict):
        raise HooksError(f"{path} has no settings: it is not a JSON object. Fix the file, then try again.")
    return root
