"""Adds our parts to the files of harnesses, and removes them.

There are hooks and rules in JSON settings, a server of tools in JSON, and a file that is all ours.
Parts that only Codex has are in `codex.hooks`. A part is added to the text of its file by
insertions alone, and can be removed whatever else was edited there. Nothing here reads or writes a
file.
"""

import json
import os
import re
import shlex
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory_assets.errors import HooksError, NotOursError
from memory_assets.harnesses.hook_events import PROMPT, TOOL
from memory_assets.harnesses.json_text import (
    BOM,
    Insertion,
    Node,
    append_items,
    cut,
    has_comments_beside,
    insert_members,
    parse,
)

HOOK_SECONDS = 3
"""Timeout of a hook; a hook takes hundredths of a second. At the end of a session, Codex warns of a
longer timeout.
"""

SERVER = "memory"
"""Name of our server of tools in harnesses."""

PROMPTS = "--prompts"
"""Option with which the server of tools also answers the hooks that recall at each prompt."""

RECALLING = "const RECALLS = true;"
"""The line of pi's extension that makes it recall at each prompt."""

NOTES = {PROMPT: "It recalls at each prompt.", TOOL: "It says what is known before tools."}
"""What people read about a part with a hook at an optional event."""

_STORE = re.compile(r'^const STORE = ("(?:[^"\\]|\\.)*");$', re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class HookPart(ABC):
    """Our part of one file."""

    path: Path
    beside: Path | None = None
    """Another file of the harness that says something about the part."""

    def note(self, text: str, beside: str = "") -> str:
        """Returns what a person should know about the part in this text.

        `beside` is the text of the other file that says something about the part.
        """
        return " ".join(NOTES[event] for event in self.optional_events(text))

    def store_in(self, text: str) -> str | None:
        """Returns the store that our part in this text is bound to, or None where it names none."""
        return None

    def optional_events(self, text: str) -> Collection[str]:
        """Returns the optional events at which our part in this text has a hook."""
        return ()

    @abstractmethod
    def is_current(self, text: str) -> bool | None:
        """Returns whether our part in the text equals what would be added now.

        Returns None if nothing of ours is there.
        """

    @abstractmethod
    def add(self, text: str) -> list[Insertion]:
        """Returns the insertions that add the part to a text without it.

        Raises `HooksError` where that is not possible.
        """

    @abstractmethod
    def remove(self, text: str, earlier_containers: Sequence[str] = ()) -> str:
        """Returns the text without our part.

        `earlier_containers` names the objects and lists that were there before it was added; they
        stay, even if they are empty now.
        """

    def kept(self, text: str) -> list[str]:
        """Returns the names of objects and lists that are there already, for `remove`."""
        return []

    def broken(self, name: str, kind: str) -> HooksError:
        """Returns the error for settings of another kind than our part needs."""
        return HooksError(
            f"`{name}` in {self.path} is not {kind}. Fix the file, then install again."
        )


@dataclass(frozen=True, kw_only=True)
class JsonHooks(HookPart):
    """Hooks, and rules that allow tools, in the settings format of Claude Code and Codex."""

    harness: str
    commands: Mapping[str, Sequence[str]]
    """Our name of an event → the words of the hook's command, which has that name."""
    rules: Sequence[str] = ()
    """Rules for `permissions.allow`, one for each tool."""
    events: Mapping[str, str] = field(default_factory=dict)
    """Our name of an event → the harness's, where they differ."""
    timeout: int = HOOK_SECONDS
    """In the unit of the harness."""
    line_name: str = "command"
    """Name of the member of a hook that has its command."""
    matchers: Mapping[str, str] = field(default_factory=dict)
    """Event → the occasions that its hook is for; other hooks are for every occasion."""

    def store_in(self, text: str) -> str | None:
        """Returns the store of the first hook of ours."""
        hooks = self.find(root_of(text, self.path))
        return bound_to(_words(next((self.line_of(hook) for *_, hook, _ in hooks), "")))

    def is_current(self, text: str) -> bool | None:
        """Returns whether our hooks and rules are exactly those that would be added now.

        Returns None without our hooks.
        """
        root = root_of(text, self.path)
        hooks = list(self.find(root))
        if not hooks:
            return None
        present = {(event, self.line_of(hook), matcher) for event, _, _, hook, matcher in hooks}
        lines = {event: shell_line(words) for event, words in self.commands.items()}
        expected = {
            (self._name_of(event), line, self.matchers.get(event)) for event, line in lines.items()
        }
        return present == expected and not self._missing_rules(root)

    def optional_events(self, text: str) -> Collection[str]:
        """Returns the optional events of our hooks."""
        hooks = self.find(root_of(text, self.path))
        words = {word for *_, hook, _ in hooks for word in self.line_of(hook).split()}
        return [event for event in NOTES if event in words]

    def add(self, text: str) -> list[Insertion]:
        """Returns the insertions that add a hook to each event, and the rules."""
        groups: dict[str, list[Any]] = {}
        for event in self.commands:
            groups.setdefault(self._name_of(event), []).append(self.group(event))
        root = root_of(text, self.path)
        missing = self._missing_rules(root)
        hooks = root.child("hooks")
        permissions = root.child("permissions")
        insertions = self._add_hooks(text, hooks, groups) if hooks else []
        if missing and permissions:
            insertions.append(self._add_rules(text, permissions, missing))
        absent: dict[str, Any] = {} if hooks else {"hooks": groups}
        if missing and not permissions:
            absent["permissions"] = {"allow": missing}
        if not text.removeprefix(BOM).strip():
            return [Insertion(len(text), _rendered(absent))]
        return [*insertions, insert_members(text, root, absent)] if absent else insertions

    def remove(self, text: str, earlier_containers: Sequence[str] = ()) -> str:
        """Returns the text without our hooks and rules, and without what held nothing else."""
        root = root_of(text, self.path)
        our_hook = next(self.find(root), None)
        while our_hook is not None:
            event, place, index, *_ = our_hook
            hooks = root.children[root.index("hooks")]
            groups = hooks.children[hooks.index(event)]
            group = groups.children[place]
            if len(self.members_of(group)) > 1:
                text = cut(text, group.children[group.index("hooks")], index)
            elif len(groups.children) > 1 or event in earlier_containers:
                text = cut(text, groups, place)
            else:
                text = _cut_member(text, root, "hooks", event, earlier_containers)
            root = root_of(text, self.path)
            our_hook = next(self.find(root), None)
        for rule in self.rules:
            if rule not in earlier_containers:
                text = self._without_rule(text, rule, earlier_containers)
        return text

    def kept(self, text: str) -> list[str]:
        """Returns which of `hooks`, its events, `permissions`, its members and our rules exist."""
        root = root_of(text, self.path)
        allowed = self._allowed(root)
        names = []
        for name in ("hooks", "permissions"):
            container = root.child(name)
            if container is not None:
                names += [name, *container.keys]
        return names + [rule for rule in self.rules if allowed and rule in allowed.value]

    def _name_of(self, event: str) -> str:
        return self.events.get(event, event)

    def group(self, event: str) -> dict[str, Any]:
        """Returns the group with the hook of an event."""
        command = shell_line(self.commands[event])
        hook = {"type": "command", "command": command, "timeout": self.timeout}
        matcher = {"matcher": self.matchers[event]} if event in self.matchers else {}
        return {**matcher, "hooks": [hook]}

    def _add_hooks(self, text: str, hooks: Node, groups: Mapping[str, Any]) -> list[Insertion]:
        if not isinstance(hooks.value, dict):
            raise self.broken("hooks", "an object")
        missing = {event: groups[event] for event in groups if event not in hooks.keys}
        present = (event for event in groups if event not in missing)
        insertions = [self._append(text, hooks, event, groups[event]) for event in present]
        if missing:
            insertions.append(insert_members(text, hooks, missing))
        return insertions

    def _append(self, text: str, hooks: Node, event: str, added: Sequence[Any]) -> Insertion:
        groups = hooks.child(event)
        if groups is None or not isinstance(groups.value, list):
            raise self.broken(f"hooks.{event}", "a list")
        return append_items(text, groups, added)

    def _add_rules(self, text: str, permissions: Node, missing: Sequence[str]) -> Insertion:
        if not isinstance(permissions.value, dict):
            raise self.broken("permissions", "an object")
        allowed = permissions.child("allow")
        if allowed is None:
            return insert_members(text, permissions, {"allow": list(missing)})
        if not isinstance(allowed.value, list):
            raise self.broken("permissions.allow", "a list")
        return append_items(text, allowed, missing)

    def _without_rule(self, text: str, rule: str, earlier_containers: Sequence[str]) -> str:
        root = root_of(text, self.path)
        allowed = self._allowed(root)
        if allowed is None or rule not in allowed.value:
            return text
        if len(allowed.children) > 1 or "allow" in earlier_containers:
            return cut(text, allowed, allowed.value.index(rule))
        return _cut_member(text, root, "permissions", "allow", earlier_containers)

    def _missing_rules(self, root: Node) -> list[str]:
        """Returns our rules that are not in `permissions.allow`."""
        allowed = self._allowed(root)
        return [rule for rule in self.rules if allowed is None or rule not in allowed.value]

    def _allowed(self, root: Node) -> Node | None:
        """Returns the list `permissions.allow`, or None where there is no such list."""
        permissions = root.child("permissions")
        allowed = permissions.child("allow") if permissions else None
        return allowed if allowed and isinstance(allowed.value, list) else None

    def find(self, root: Node) -> Iterator[tuple[str, int, int, dict[str, Any], str | None]]:
        """Yields each of our hooks as a tuple.

        It has the event, the index of the hook's group, the hook's index in the group, the hook,
        and the group's matcher.
        """
        hooks = root.value.get("hooks")
        for event, groups in hooks.items() if isinstance(hooks, dict) else ():
            for place, group in enumerate(groups if isinstance(groups, list) else ()):
                members = group.get("hooks") if isinstance(group, dict) else None
                for index, hook in enumerate(members if isinstance(members, list) else ()):
                    if self.is_ours(hook):
                        yield event, place, index, hook, group.get("matcher")

    def members_of(self, group: Node) -> tuple[Node, ...]:
        """Returns the hooks of a group."""
        return group.children[group.index("hooks")].children

    def line_of(self, hook: Any) -> str:
        """Returns the line for the shell that a hook runs; empty where it runs none."""
        line = hook.get(self.line_name) if isinstance(hook, dict) else None
        return line if isinstance(line, str) else ""

    def is_ours(self, hook: Any) -> bool:
        """Returns whether a hook runs our command."""
        line = self.line_of(hook)
        return f"hooks run {self.harness} " in line and "memory" in line


@dataclass(frozen=True, kw_only=True)
class JsonServer(HookPart):
    """Our server of tools in a JSON file, as most harnesses have it.

    Another server of the same name stays.
    """

    entry: Mapping[str, Any]
    servers: str = "mcpServers"
    """The name of the object that has the servers."""

    def store_in(self, text: str) -> str | None:
        """Returns the store that our server answers from."""
        entry = self._entry(text)
        return bound_to(_words_of(entry)) if _is_ours(entry) else None

    def is_current(self, text: str) -> bool | None:
        """Returns whether our server is there with its current command; None if it is not there."""
        entry = self._entry(text)
        return entry == self.entry if _is_ours(entry) else None

    def add(self, text: str) -> list[Insertion]:
        """Returns the insertion of the server; raises `NotOursError` if another has its name."""
        members = {self.servers: {SERVER: self.entry}}
        if not text.removeprefix(BOM).strip():
            return [Insertion(len(text), _rendered(members))]
        root = root_of(text, self.path)
        if root.child(self.servers) is None:
            return [insert_members(text, root, members)]
        servers = self._servers(root)
        if servers is None:
            raise self.broken(self.servers, "an object")
        if SERVER in servers.keys:
            raise NotOursError(
                f"`{self.servers}.{SERVER}` in {self.path} is another server and stays; add "
                "ours under another name."
            )
        return [insert_members(text, servers, members[self.servers])]

    def remove(self, text: str, earlier_containers: Sequence[str] = ()) -> str:
        """Returns the text without our server."""
        if not _is_ours(self._entry(text)):
            return text
        root = root_of(text, self.path)
        return _cut_member(text, root, self.servers, SERVER, earlier_containers)

    def kept(self, text: str) -> list[str]:
        """Returns the name of the object of servers if it is there already."""
        return [self.servers] if root_of(text, self.path).child(self.servers) else []

    def _entry(self, text: str) -> Any:
        servers = self._servers(root_of(text, self.path))
        return servers.value.get(SERVER) if servers else None

    def _servers(self, root: Node) -> Node | None:
        servers = root.child(self.servers)
        return servers if servers and isinstance(servers.value, dict) else None


@dataclass(frozen=True, kw_only=True)
class OwnFile(HookPart):
    """A whole file of ours; another file of the same name stays."""

    content: str
    mark: str
    """A line that marks it as ours."""

    def store_in(self, text: str) -> str | None:
        """Returns the store that the file names as a constant."""
        match = _STORE.search(text) if self.mark in text else None
        return json.loads(match[1]) if match else None

    def optional_events(self, text: str) -> Collection[str]:
        """Returns the prompt if the file is ours and has the line that makes it recall."""
        return [PROMPT] if self.mark in text and RECALLING in text else ()

    def is_current(self, text: str) -> bool | None:
        """Returns whether the file is as it would be written now; None if it is not ours."""
        return text == self.content if self.mark in text else None

    def add(self, text: str) -> list[Insertion]:
        """Returns the whole file; raises `HooksError` where another file has its name."""
        if text:
            raise NotOursError(f"{self.path} is not ours and stays; rename it, then install again.")
        return [Insertion(0, self.content)]

    def remove(self, text: str, earlier_containers: Sequence[str] = ()) -> str:
        """Returns an empty text: all of it is ours."""
        return ""


def shell_line(words: Sequence[str]) -> str:
    """Returns the words as a line for the shell in which harnesses run it.

    Outside of Windows the line does nothing where its program no longer exists.
    """
    if os.name == "nt":
        return subprocess.list2cmdline(words)
    return f"[ -x {shlex.quote(words[0])} ] || exit 0; exec {shlex.join(words)}"


def _words(shell: str) -> list[str]:
    try:
        return shlex.split(shell)
    except ValueError:
        return []  # somebody edited it


def bound_to(words: Sequence[str]) -> str | None:
    """Returns the store that a command of ours names."""
    return words[-1] if len(words) > 1 and words[-2] == "--store" else None


def _is_ours(entry: Any) -> bool:
    """Returns whether an entry of a server starts ours with `--store`, as installed."""
    words = [word for word in _words_of(entry) if word != PROMPTS]
    return words[-4:-1] == ["serve", "mcp", "--store"]


def _words_of(entry: Any) -> list[Any]:
    """Returns the arguments of a server's entry, in some harnesses with its command before them."""
    fields = entry if isinstance(entry, dict) else {}
    words = fields.get("args", fields.get("command"))
    return words if isinstance(words, list) else []


def _rendered(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _cut_member(
    text: str, root: Node, name: str, key: str, earlier_containers: Sequence[str]
) -> str:
    """Returns the text without the member `key` of the object `name` of the root.

    The object goes, too, if it has no other member or comment and was not there before.
    """
    container = root.children[root.index(name)]
    index = container.index(key)
    is_shared = len(container.children) > 1 or has_comments_beside(text, container, index)
    if is_shared or name in earlier_containers:
        return cut(text, container, index)
    return cut(text, root, root.index(name))


def root_of(text: str, path: Path) -> Node:
    """Returns the object of settings in the text; raises `HooksError` where it is no object."""
    if not text.removeprefix(BOM).strip():
        return Node(0, 0, {})
    try:
        root = parse(text, has_last_commas=path.suffix == ".jsonc")
    except (ValueError, RecursionError) as error:
        raise HooksError(f"Cannot read {path}: {error}. Fix the file, then try again.") from error
    if not isinstance(root.value, dict):
        raise HooksError(
            f"{path} has no settings: it is not a JSON object. Fix the file, then try again."
        )
    return root
