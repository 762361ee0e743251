"""What is ours in the files of harnesses: hooks in a JSON settings file, one line of a TOML file, a file of our own.

A part adds itself to the text of its file by insertions alone, and takes itself out again whatever else was edited there.
Nothing here touches a disk.
"""

import json
import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from memory_assets.errors import HooksError, NotOursError
from memory_assets.stages.deliver.json_text import BOM, Insertion, Node, append_item, cut, insert_members, parse

HOOK_SECONDS = 5
"""After which a harness may end a hook; it is done in hundredths of a second."""

MARK = "# by `memory hooks install`"
"""Tells our line of a TOML file from others."""


class Part(Protocol):
    """What is ours in one file."""

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def advice(self) -> str:
        """What a person has to do besides."""
        ...

    def is_in(self, text: str) -> bool:
        """Returns whether something of ours is in the text."""
        ...

    def is_current(self, text: str) -> bool:
        """Returns whether all that is ours is in the text, as it would be added now."""
        ...

    def add(self, text: str) -> list[Insertion]:
        """Returns what adds it to a text that holds nothing of ours; raises `HooksError` where that cannot be done."""
        ...

    def remove(self, text: str, kept: Sequence[str] = ()) -> str:
        """Returns the text without what is ours; `kept` names what was there, empty, before."""
        ...

    def kept(self, text: str) -> list[str]:
        """Returns the names of what is there already and stays when ours is gone."""
        ...


@dataclass(frozen=True)
class JsonHooks:
    """Hooks in a settings file of the shape that Claude Code and Codex share."""

    path: Path
    harness: str
    commands: Mapping[str, Sequence[str]]
    """The words of the command, by event."""
    advice: str = ""

    def is_in(self, text: str) -> bool:
        """Returns whether a hook of ours is in the text."""
        return self._find(_root(text, self.path)) is not None

    def is_current(self, text: str) -> bool:
        """Returns whether each event has our hook, with the command that it would be given now."""
        found = {(event, hook["command"]) for event, _, _, hook in self._ours(_root(text, self.path))}
        return found == {(event, shell_line(words)) for event, words in self.commands.items()}

    def add(self, text: str) -> list[Insertion]:
        """Returns what adds a hook to each event."""
        if not text.removeprefix(BOM).strip():
            hooks = {event: [self._group(event)] for event in self.commands}
            return [Insertion(len(text), json.dumps({"hooks": hooks}, indent=2, ensure_ascii=False) + "\n")]
        root = _root(text, self.path)
        hooks = root.child("hooks")
        if hooks is None:
            return [insert_members(text, root, {"hooks": {event: [self._group(event)] for event in self.commands}})]
        if not isinstance(hooks.value, dict):
            raise HooksError(f"`hooks` in {self.path} is no object; mend it, then install again.")
        missing = {event: [self._group(event)] for event in self.commands if hooks.child(event) is None}
        joined = [self._join(text, hooks, event) for event in self.commands if event not in missing]
        return [*joined, *([insert_members(text, hooks, missing)] if missing else [])]

    def remove(self, text: str, kept: Sequence[str] = ()) -> str:
        """Returns the text without our hooks, and without what held nothing else."""
        while (found := self._find(root := _root(text, self.path))) is not None:
            event, place, index, _ = found
            hooks = _child(root, "hooks")
            groups = _child(hooks, event)
            listed = _child(groups.children[place], "hooks")
            if len(listed.children) > 1:
                text = cut(text, listed, index)
            elif len(groups.children) > 1 or event in kept:
                text = cut(text, groups, place)
            elif len(hooks.children) > 1 or "hooks" in kept:
                text = cut(text, hooks, _last(hooks.keys, event))
            else:
                text = cut(text, root, _last(root.keys, "hooks"))
        return text

    def kept(self, text: str) -> list[str]:
        """Returns `hooks` and the events in it that are there already."""
        hooks = _root(text, self.path).child("hooks") if text.removeprefix(BOM).strip() else None
        return [] if hooks is None else ["hooks", *hooks.keys]

    def _group(self, event: str) -> dict[str, Any]:
        return {"hooks": [{"type": "command", "command": shell_line(self.commands[event]), "timeout": HOOK_SECONDS}]}

    def _join(self, text: str, hooks: Node, event: str) -> Insertion:
        groups = hooks.child(event)
        if groups is None or not isinstance(groups.value, list):
            raise HooksError(f"`hooks.{event}` in {self.path} is no list; mend it, then install again.")
        return append_item(text, groups, self._group(event))

    def _find(self, root: Node) -> tuple[str, int, int, dict[str, Any]] | None:
        return next(self._ours(root), None)

    def _ours(self, root: Node) -> Iterator[tuple[str, int, int, dict[str, Any]]]:
        """Yields where each hook of ours stands: its event, the place of its group, its place in the group; and itself."""
        hooks = root.value.get("hooks")
        for event, groups in hooks.items() if isinstance(hooks, dict) else ():
            for place, group in enumerate(groups if isinstance(groups, list) else ()):
                listed = group.get("hooks") if isinstance(group, dict) else None
                for index, hook in enumerate(listed if isinstance(listed, list) else ()):
                    if self._is_ours(hook):
                        yield event, place, index, hook

    def _is_ours(self, hook: Any) -> bool:
        command = hook.get("command") if isinstance(hook, dict) else None
        return isinstance(command, str) and f"hooks run {self.harness} " in command and "memory" in command


@dataclass(frozen=True)
class TomlNotify:
    """The line of Codex's `config.toml` that has it call us after each turn; a `notify` of somebody else's stays."""

    path: Path
    words: Sequence[str]
    advice: str = ""

    def is_in(self, text: str) -> bool:
        """Returns whether our line is in the text."""
        return bool(self._line.search(text))

    def is_current(self, text: str) -> bool:
        """Returns whether our line is in the text as it would be added now."""
        return self._text in text.splitlines()

    def add(self, text: str) -> list[Insertion]:
        """Returns what adds the line at the top, above the first table; raises `HooksError` where there is another one."""
        try:
            told = tomllib.loads(text.removeprefix(BOM).replace("\r\n", "\n"))
        except tomllib.TOMLDecodeError as error:
            raise HooksError(f"Cannot read {self.path}: {error}. Mend it, then install again.") from error
        if "notify" in told:
            raise NotOursError(f"`notify` in {self.path} is yours and stays; Codex tells of ended sessions by its hooks.")
        newline = "\r\n" if "\r\n" in text else "\n"
        return [Insertion(len(text) - len(text.removeprefix(BOM)), self._text + newline)]

    def remove(self, text: str, kept: Sequence[str] = ()) -> str:
        """Returns the text without our line."""
        return self._line.sub("", text)

    def kept(self, text: str) -> list[str]:
        """Returns nothing: a line leaves nothing behind."""
        return []

    @property
    def _text(self) -> str:
        return f"notify = {json.dumps(list(self.words), ensure_ascii=False)}  {MARK}"

    @property
    def _line(self) -> re.Pattern[str]:
        return re.compile(rf"(?:^|(?<={BOM}))notify = \[.*\] +{re.escape(MARK)}[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


@dataclass(frozen=True)
class OwnFile:
    """A file that is ours as a whole; one of the same name that somebody else wrote stays."""

    path: Path
    content: str
    mark: str
    """A line that tells it is ours."""
    advice: str = ""

    def is_in(self, text: str) -> bool:
        """Returns whether the file is ours."""
        return self.mark in text

    def is_current(self, text: str) -> bool:
        """Returns whether the file is as it would be written now."""
        return text == self.content

    def add(self, text: str) -> list[Insertion]:
        """Returns the whole file; raises `HooksError` where somebody else's lies in its place."""
        if text:
            raise NotOursError(f"{self.path} is not ours and stays; rename it, then install again.")
        return [Insertion(0, self.content)]

    def remove(self, text: str, kept: Sequence[str] = ()) -> str:
        """Returns nothing: all of it is ours."""
        return ""

    def kept(self, text: str) -> list[str]:
        """Returns nothing."""
        return []


def shell_line(words: Sequence[str]) -> str:
    """Returns the words as a line of the shell that harnesses hand it to."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _root(text: str, path: Path) -> Node:
    if not text.removeprefix(BOM).strip():
        return Node(0, 0, {})
    try:
        root = parse(text)
    except (ValueError, RecursionError) as error:
        raise HooksError(f"Cannot read {path}: {error}. Mend it, then try again.") from error
    if not isinstance(root.value, dict):
        raise HooksError(f"{path} holds no settings: it is no JSON object. Mend it, then try again.")
    return root


def _last(keys: Sequence[str], key: str) -> int:
    return len(keys) - 1 - list(reversed(keys)).index(key)


def _child(node: Node, key: str) -> Node:
    found = node.child(key)
    assert found is not None
    return found
