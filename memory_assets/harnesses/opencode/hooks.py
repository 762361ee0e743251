"""Our parts of OpenCode's settings: a plugin of our own, and the server of tools."""

from memory_assets.harnesses.hook_commands import MARK, HookTarget, render_script
from memory_assets.harnesses.hook_parts import HookPart, JsonServer, OwnFile

PLUGIN_FILE = "memory.ts"


def hook_parts(target: HookTarget) -> tuple[HookPart, ...]:
    """Returns the parts for the target."""
    names = ("opencode.jsonc", "opencode.json")
    present = (target.folder / name for name in names if (target.folder / name).is_file())
    settings = next(present, target.folder / "opencode.json")
    entry = {"type": "local", "command": target.server_command(), "enabled": True}
    plugin = render_script(target, __package__ or "", "plugin.ts")
    return (
        OwnFile(path=target.folder / "plugins" / PLUGIN_FILE, content=plugin, mark=MARK),
        JsonServer(path=settings, entry=entry, servers="mcp"),
    )
