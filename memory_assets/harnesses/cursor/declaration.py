"""Cursor's agent."""

from memory_assets.harnesses.cursor.reader import CursorReader
from memory_assets.harnesses.declaration import Location, ReadHarness, Record, message_of
from memory_assets.harnesses.hook_commands import HookTarget
from memory_assets.harnesses.hook_parts import HookPart, JsonServer

SETTINGS = Location(".cursor", "CURSOR_CONFIG_DIR")


def is_record(record: Record) -> bool:
    """Returns whether Cursor's agent writes such records."""
    has_content = isinstance(message_of(record).get("content"), list)
    return has_content and "role" in record and "type" not in record


def hook_parts(target: HookTarget) -> tuple[HookPart, ...]:
    """Returns the server of tools; there are no hooks of ours."""
    return (JsonServer(path=target.folder / "mcp.json", entry=target.server_entry()),)


HARNESS = ReadHarness(
    name="cursor",
    title="Cursor",
    program="cursor-agent",
    settings=SETTINGS,
    instructions="",
    transcripts=(Location("projects", parent=SETTINGS),),
    is_record=is_record,
    reader=CursorReader,
    hook_parts=hook_parts,
)
