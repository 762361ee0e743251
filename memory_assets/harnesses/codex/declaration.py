"""Codex."""

from memory_assets.harnesses.codex.hooks import hook_parts
from memory_assets.harnesses.codex.reader import KNOWN, CodexReader
from memory_assets.harnesses.declaration import (
    EnforcedRule,
    Enforcement,
    Location,
    MemoryFolders,
    ReadHarness,
    Record,
    quoted,
    type_of,
)
from memory_assets.text.words import word_set

SETTINGS = Location(".codex", "CODEX_HOME")

# `KNOWN["records"]` are the records that the reader skips; it reads the other four.
_TYPES = KNOWN["records"] | word_set("session_meta response_item event_msg compacted")


def is_record(record: Record) -> bool:
    """Returns whether Codex writes such records."""
    return type_of(record) in _TYPES and isinstance(record.get("payload"), dict)


def is_not_for_memory(record: Record) -> bool:
    """Returns whether the header says that the session is not for memory."""
    header = record.get("payload")
    return isinstance(header, dict) and header.get("memory_mode") == "disabled"


def enforce(rule: EnforcedRule) -> Enforcement:
    """Returns a file of rules for commands that begin so."""
    decision = "prompt" if rule.asks else "forbidden"
    behind = f'decision="{decision}", justification={quoted(rule.text)})'
    patterns = (quoted(command.split()) for command in rule.commands)
    lines = (f"prefix_rule(pattern={pattern}, {behind}" for pattern in patterns)
    return Enforcement(f".codex/rules/{rule.id}.rules", "", "\n".join(lines))


HARNESS = ReadHarness(
    name="codex",
    title="Codex",
    program="codex",
    settings=SETTINGS,
    transcripts=(
        Location("sessions", parent=SETTINGS),
        Location("archived_sessions", parent=SETTINGS),
    ),
    is_record=is_record,
    reader=CodexReader,
    hook_parts=hook_parts,
    memories=MemoryFolders("memories"),
    is_not_for_memory=is_not_for_memory,
    enforce=enforce,
)
