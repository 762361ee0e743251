"""Qwen Code."""

from memory_assets.harnesses.declaration import Location, ReadHarness, Record, message_of
from memory_assets.harnesses.qwen.hooks import hook_parts
from memory_assets.harnesses.qwen.reader import QwenReader

SETTINGS = Location(".qwen", "QWEN_HOME")


def is_record(record: Record) -> bool:
    """Returns whether Qwen Code writes such records."""
    if not isinstance(record.get("sessionId"), str):
        return False
    is_marked = "provenance" in record or "systemPayload" in record
    return is_marked or isinstance(message_of(record).get("parts"), list)


HARNESS = ReadHarness(
    name="qwen",
    title="Qwen Code",
    program="qwen",
    prompt_options=("--prompt-interactive",),
    settings=SETTINGS,
    transcripts=(Location("projects", parent=Location("", "QWEN_RUNTIME_DIR", SETTINGS)),),
    is_record=is_record,
    reader=QwenReader,
    hook_parts=hook_parts,
)
