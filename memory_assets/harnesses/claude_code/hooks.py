"""Our parts of Claude Code's settings: hooks, rules that allow reading tools, a server of tools."""

from memory_assets.harnesses.hook_commands import HookTarget
from memory_assets.harnesses.hook_events import COMPACTING, TOOL
from memory_assets.harnesses.hook_parts import SERVER, HookPart, JsonHooks, JsonServer

CLAUDE_FOLDER = "CLAUDE_CONFIG_DIR"
"""The variable that names another folder for the settings of Claude Code."""

MATCHERS = {COMPACTING: "auto", TOOL: "Bash|Edit|Write"}
"""The hook before compactions runs before automatic ones only. When a person compacts a session,
Claude Code would put a line with the command of the hook into the context; the hook at the start
after the compaction has the transcript read instead.
"""


def hook_parts(target: HookTarget) -> tuple[HookPart, ...]:
    """Returns the parts for the target."""
    has_own_folder = bool(target.environ.get(CLAUDE_FOLDER))
    servers = target.folder if has_own_folder else target.home
    hooks = JsonHooks(
        path=target.folder / "settings.json",
        harness=target.harness,
        commands=target.hook_commands(),
        matchers=MATCHERS,
        rules=[f"mcp__{SERVER}__{tool}" for tool in target.tools],
    )
    entry = {"type": "stdio", **target.server_entry(), "env": {}}
    return hooks, JsonServer(path=servers / ".claude.json", entry=entry)
