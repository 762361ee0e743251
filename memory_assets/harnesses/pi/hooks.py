"""Our parts of pi's settings: an extension of our own, and the server of tools."""

from memory_assets.harnesses.hook_commands import MARK, HookTarget, render_script
from memory_assets.harnesses.hook_parts import HookPart, JsonServer, OwnFile

EXTENSION_FILE = "memory-assets.ts"


def hook_parts(target: HookTarget) -> tuple[HookPart, ...]:
    """Returns the parts for the target.

    The extension itself starts the server that answers prompts, because releases of pi without a
    client for MCP would start none. With the exposure `direct` the model sees the tools and need
    not search for them.
    """
    path = target.folder / "extensions" / EXTENSION_FILE
    entry = {**target.server_entry(is_recalling=False), "exposure": "direct"}
    extension = render_script(target, __package__ or "", "extension.ts")
    return (
        OwnFile(path=path, content=extension, mark=MARK),
        JsonServer(path=target.folder / "mcp.json", entry=entry),
    )
