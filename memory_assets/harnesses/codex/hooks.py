"""Our parts of Codex's files: one line and one table of `config.toml`, and hooks in `hooks.json`.

Codex runs a hook only if a person trusted it: then `config.toml` has the hash of the hook. Nothing
here reads or writes a file.
"""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_assets.errors import HooksError, NotOursError
from memory_assets.harnesses.hook_commands import HookTarget
from memory_assets.harnesses.hook_events import NOTIFY, TOOL
from memory_assets.harnesses.hook_parts import SERVER, HookPart, JsonHooks, bound_to, root_of
from memory_assets.harnesses.json_text import BOM, Insertion

MARK = "# by `memory hooks install`"
"""Marks our line and our table of a TOML file."""

_NOTIFY = re.compile(
    rf"(?:^|(?<={BOM}))notify = \[.*\] +{re.escape(MARK)}[ \t]*\r?(?:\n|\Z)", re.MULTILINE
)
_TABLE = re.compile(
    rf"(?:(?<=\n)\r?\n)?^\[mcp_servers\.{SERVER}\] "
    rf"+{re.escape(MARK)}.*(?:\n(?!\[(?!mcp_servers\.{SERVER}\.)).*)*\n?",
    re.MULTILINE,
)
"""Our table with everything up to the next table. If only our own lines were removed, lines that
somebody added to them would become part of the table before.
"""


def hook_parts(target: HookTarget) -> tuple[HookPart, ...]:
    """Returns the parts for the target."""
    config = target.folder / "config.toml"
    hooks = CodexHooks(
        path=target.folder / "hooks.json",
        harness=target.harness,
        commands=target.hook_commands(),
        matchers={TOOL: "Bash|apply_patch"},
        beside=config,
    )
    notify = target.hook_command(NOTIFY)
    return hooks, CodexConfig(path=config, notify=notify, server=target.server_command())


@dataclass(frozen=True, kw_only=True)
class CodexConfig(HookPart):
    """Our table in `config.toml` with the server of tools, and our line `notify`.

    With the line, Codex calls us after each turn. Another `notify`, and another server of the same
    name, stay.
    """

    notify: Sequence[str]
    """The words of the command that Codex calls after each turn."""
    server: Sequence[str]
    """The words of the command that starts the server of tools."""

    def store_in(self, text: str) -> str | None:
        """Returns the store of our line, or of our table."""
        settings = self._read(text)
        line = settings.get("notify") if _NOTIFY.search(text) else None
        table = settings["mcp_servers"][SERVER].get("args") if _TABLE.search(text) else None
        return bound_to(line or table or ())

    def note(self, text: str, beside: str = "") -> str:
        """Returns a sentence about each `notify` and server that is not ours and stays."""
        settings = self._read(text)
        notes = []
        if self._has_other_notify(text, settings):
            notes.append(
                f"`notify` in {self.path} is yours and stays; Codex reports ended sessions "
                "by its hooks."
            )
        if self._has_other_server(text, settings):
            notes.append(
                f"`mcp_servers.{SERVER}` in {self.path} is another server and stays; add "
                "ours under another name."
            )
        return " ".join(notes)

    def is_current(self, text: str) -> bool | None:
        """Returns whether our line and our table are as they would be added now.

        Returns None if neither is there.
        """
        if not (_NOTIFY.search(text) or _TABLE.search(text)):
            return None
        settings = self._read(text)
        is_line_current = self._line in text.splitlines() or self._has_other_notify(text, settings)
        present = settings.get("mcp_servers", {}).get(SERVER)
        expected = {"command": self.server[0], "args": list(self.server[1:])}
        is_table_current = isinstance(present, dict) and expected.items() <= present.items()
        return is_line_current and (is_table_current or self._has_other_server(text, settings))

    def add(self, text: str) -> list[Insertion]:
        """Returns the insertions of the line at the top, and of the table at the end."""
        settings = self._read(text)
        newline = "\r\n" if "\r\n" in text else "\n"
        content = text.removeprefix(BOM)
        line = "" if self._has_other_notify(text, settings) else self._line + newline
        table = self._table.replace("\n", newline)
        if self._has_other_server(text, settings):
            table = ""
        if not (line or table):
            raise NotOursError(self.note(text))
        if table and (content or line):
            # A blank line in front of the table, and the missing end of the last line.
            line_ends = 1 + (not f"\n{content}".endswith("\n"))
            table = newline * line_ends + table
        start = len(text) - len(content)
        if not content:
            return [Insertion(start, line + table)]
        insertions = (Insertion(start, line), Insertion(len(text), table))
        return [insertion for insertion in insertions if insertion.text]

    def remove(self, text: str, earlier_containers: Sequence[str] = ()) -> str:
        """Returns the text without our line, and without our table and what was added to it."""
        return _TABLE.sub("", _NOTIFY.sub("", text))

    @property
    def _line(self) -> str:
        return f"notify = {json.dumps(list(self.notify), ensure_ascii=False)}  {MARK}"

    @property
    def _table(self) -> str:
        command = json.dumps(self.server[0], ensure_ascii=False)
        arguments = json.dumps(list(self.server[1:]), ensure_ascii=False)
        return f"[mcp_servers.{SERVER}]  {MARK}\ncommand = {command}\nargs = {arguments}\n"

    def _read(self, text: str) -> dict[str, Any]:
        try:
            return _parse_toml(text)
        except tomllib.TOMLDecodeError as error:
            raise HooksError(
                f"Cannot read {self.path}: {error}. Fix the file, then install again."
            ) from error

    def _has_other_notify(self, text: str, settings: Mapping[str, Any]) -> bool:
        return "notify" in settings and not _NOTIFY.search(text)

    def _has_other_server(self, text: str, settings: Mapping[str, Any]) -> bool:
        servers = settings.get("mcp_servers")
        return isinstance(servers, dict) and SERVER in servers and not _TABLE.search(text)


def _parse_toml(text: str) -> dict[str, Any]:
    return tomllib.loads(text.removeprefix(BOM).replace("\r\n", "\n"))


TRUST = "Run `/hooks` in Codex and trust them."


@dataclass(frozen=True, kw_only=True)
class CodexHooks(JsonHooks):
    """Hooks in `hooks.json`; `config.toml` beside it says which of them a person trusted."""

    def note(self, text: str, beside: str = "") -> str:
        """Returns whether Codex runs our hooks, and what to do if it does not."""
        states = list(self._states(text, beside))
        untrusted = [event for event, state in states if state == "untrusted"]
        disabled = [event for event, state in states if state == "disabled"]
        notes = [super().note(text)]
        if untrusted and len(untrusted) == len(states):
            notes.append(f"Codex runs none of these hooks yet: it does not trust them. {TRUST}")
        elif untrusted:
            notes.append(
                f"Codex does not run {', '.join(untrusted)}: it does not trust the hook as "
                f"it is now. {TRUST}"
            )
        if disabled:
            notes.append(
                f"{', '.join(disabled)} is switched off in Codex; `/hooks` there switches it on."
            )
        if states and not untrusted and not disabled:
            notes.append("Codex trusts these hooks.")
        return " ".join(filter(None, notes))

    def _states(self, text: str, config: str) -> Iterator[tuple[str, str]]:
        """Yields the event of each hook of ours, and `trusted`, `untrusted` or `disabled`."""
        hook_states = _hook_states(config)
        for event, place, index, hook, matcher in self.find(root_of(text, self.path)):
            paths = {str(self.path), os.path.realpath(self.path)}
            keys = (f"{path}:{snake_case(event)}:{place}:{index}" for path in paths)
            states = (hook_states.get(key) for key in keys)
            state = next((state for state in states if isinstance(state, dict)), {})
            is_trusted = state.get("trusted_hash") == hash_of_hook(event, hook, matcher)
            if state.get("enabled") is False:
                yield event, "disabled"
            else:
                yield event, "trusted" if is_trusted else "untrusted"


def hash_of_hook(event: str, hook: Mapping[str, Any], matcher: str | None) -> str:
    """Returns the hash by which Codex (since release 0.169) knows a hook that a person trusted."""
    handler = {
        "type": "command",
        "command": hook["command"],
        "timeout": hook.get("timeout", 600),
        "async": hook.get("async", False),
    }
    identity = {"event_name": snake_case(event), "hooks": [handler]}
    if matcher is not None:
        identity["matcher"] = matcher
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def snake_case(event: str) -> str:
    """Returns the name of an event as Codex writes it in its settings."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", event).lower()


def _hook_states(config: str) -> dict[str, Any]:
    """Returns what Codex noted about each hook; nothing if its settings cannot be read."""
    try:
        hooks = _parse_toml(config).get("hooks")
    except tomllib.TOMLDecodeError:
        return {}
    states = hooks.get("state") if isinstance(hooks, dict) else None
    return states if isinstance(states, dict) else {}
