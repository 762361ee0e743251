"""Gemini CLI."""

from memory_assets.harnesses.declaration import Location, ReadHarness, Record
from memory_assets.harnesses.gemini.hooks import hook_parts
from memory_assets.harnesses.gemini.reader import GeminiReader

SETTINGS = Location(".gemini", parent=Location("", "GEMINI_CLI_HOME"))


def is_record(record: Record) -> bool:
    """Returns whether Gemini CLI writes such records; one at the start of a file is its header."""
    return "projectHash" in record and "sessionId" in record and "type" not in record


HARNESS = ReadHarness(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    prompt_options=("--prompt-interactive",),
    settings=SETTINGS,
    instructions="GEMINI.md",
    transcripts=(Location("tmp", parent=SETTINGS),),
    is_record=is_record,
    reader=GeminiReader,
    hook_parts=hook_parts,
)
