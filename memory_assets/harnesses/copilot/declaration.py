"""Copilot CLI."""

from memory_assets.harnesses.copilot.hooks import hook_parts
from memory_assets.harnesses.copilot.reader import CopilotReader
from memory_assets.harnesses.declaration import Location, ReadHarness, Record, type_of

SETTINGS = Location(".copilot", "COPILOT_HOME")


def is_record(record: Record) -> bool:
    """Returns whether Copilot CLI writes such records."""
    is_event = "." in type_of(record) and isinstance(record.get("data"), dict)
    return is_event and "id" in record and "timestamp" in record


HARNESS = ReadHarness(
    name="copilot",
    title="Copilot CLI",
    program="copilot",
    prompt_options=("--interactive",),
    settings=SETTINGS,
    instructions="copilot-instructions.md",
    transcripts=(Location("session-state", parent=SETTINGS),),
    is_record=is_record,
    reader=CopilotReader,
    hook_parts=hook_parts,
)
