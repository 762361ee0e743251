"""Our part of Qwen Code's settings: hooks, and the server of tools, in one file."""

from memory_assets.harnesses.hook_commands import HookTarget
from memory_assets.harnesses.hook_events import TOOL
from memory_assets.harnesses.hook_parts import HookPart, JsonHooks, JsonServer
from memory_assets.harnesses.part_of_one_file import JoinedParts


def hook_parts(target: HookTarget) -> tuple[HookPart, ...]:
    """Returns the part for the target. The server is trusted: its tools need no consent."""
    path = target.folder / "settings.json"
    hooks = JsonHooks(
        path=path,
        harness=target.harness,
        commands=target.hook_commands(),
        matchers={TOOL: "^(run_shell_command|edit|write_file)$"},
    )
    server = JsonServer(path=path, entry={**target.server_entry(), "trust": True})
    return (JoinedParts(path=path, parts=(hooks, server)),)
