"""Our parts of Copilot CLI's settings: hooks of their own shape, and the server of tools."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memory_assets.harnesses.hook_commands import HookTarget
from memory_assets.harnesses.hook_events import COMPACTING, END, PROMPT, START
from memory_assets.harnesses.hook_parts import HookPart, JsonHooks, JsonServer, shell_line
from memory_assets.harnesses.json_text import Node

EVENTS = {
    START: "sessionStart",
    COMPACTING: "preCompact",
    END: "sessionEnd",
    PROMPT: "userPromptSubmitted",
}
"""Event → its name in Copilot CLI, which reads no context from a hook before a tool."""


def hook_parts(target: HookTarget) -> tuple[HookPart, ...]:
    """Returns the parts for the target."""
    lines = target.hook_commands()
    hooks = CopilotHooks(
        path=target.folder / "settings.json",
        harness=target.harness,
        commands={event: words for event, words in lines.items() if event in EVENTS},
        events=EVENTS,
        line_name="bash",
    )
    entry = {"type": "local", **target.server_entry(), "tools": ["*"]}
    return hooks, JsonServer(path=target.folder / "mcp-config.json", entry=entry)


@dataclass(frozen=True, kw_only=True)
class CopilotHooks(JsonHooks):
    """Hooks that stand in the list of their event, without a group around them."""

    def group(self, event: str) -> dict[str, Any]:
        """Returns the hook of an event."""
        line = shell_line(self.commands[event])
        return {"type": "command", self.line_name: line, "timeoutSec": self.timeout}

    def find(self, root: Node) -> Iterator[tuple[str, int, int, dict[str, Any], str | None]]:
        """Yields each of our hooks; its index in a group is 0."""
        hooks = root.value.get("hooks")
        for event, members in hooks.items() if isinstance(hooks, dict) else ():
            for place, hook in enumerate(members if isinstance(members, list) else ()):
                if self.is_ours(hook):
                    yield event, place, 0, hook, None

    def members_of(self, group: Node) -> tuple[Node, ...]:
        """Returns the hook itself."""
        return (group,)
