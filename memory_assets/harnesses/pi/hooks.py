"""Our parts of pi's settings: an extension of our own, and the server of tools."""

import json
from importlib.resources import files

from memory_assets.harnesses.hook_commands import HookTarget, command
from memory_assets.harnesses.hook_parts import RECALLING, HookPart, JsonServer, OwnFile

EXTENSION_FILE = "memory-assets.ts"
MARK = "// by `memory hooks install`"
NOT_RECALLING = RECALLING.replace("true", "false")


def hook_parts(target: HookTarget) -> tuple[HookPart, ...]:
    """Returns the parts for the target.

    The extension itself starts the server that answers prompts, because releases of pi without a
    client for MCP would start none. With the exposure `direct` the model sees the tools and need
    not search for them.
    """
    path = target.folder / "extensions" / EXTENSION_FILE
    entry = {**target.server_entry(is_recalling=False), "exposure": "direct"}
    return (
        OwnFile(path=path, content=render_extension(target), mark=MARK),
        JsonServer(path=target.folder / "mcp.json", entry=entry),
    )


def render_extension(target: HookTarget) -> str:
    """Returns the source of the extension."""
    source = files("memory_assets.harnesses.pi").joinpath("extension.ts").read_text("utf-8")
    source = source.replace('"COMMAND"', json.dumps(command(), ensure_ascii=False))
    source = source.replace('"STORE"', json.dumps(target.store)).replace("// MARK", MARK)
    return source.replace(NOT_RECALLING, RECALLING) if target.is_recalling else source
