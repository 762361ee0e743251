"""Claude Code."""

from memory_assets.harnesses.claude_code.hooks import CLAUDE_FOLDER, hook_parts
from memory_assets.harnesses.claude_code.reader import ClaudeCodeReader
from memory_assets.harnesses.declaration import (
    EnforcedRule,
    Enforcement,
    Location,
    MemoryFolders,
    ReadHarness,
    Record,
    message_of,
    type_of,
)

SETTINGS = Location(".claude", CLAUDE_FOLDER)


def is_record(record: Record) -> bool:
    """Returns whether Claude Code writes such records."""
    record_type = type_of(record)
    is_named = isinstance(record.get("sessionId"), str) or "leafUuid" in record
    is_snapshot = record_type == "file-history-snapshot" and "snapshot" in record
    is_message = record_type in ("user", "assistant") and bool(message_of(record))
    return bool(record_type) and (is_named or is_snapshot or is_message)


def enforce(rule: EnforcedRule) -> Enforcement:
    """Returns permission rules for the files and for commands that begin so."""
    folders = (path.rstrip("/") + "/**" * path.endswith("/") for path in rule.files)
    lines = [*map("Edit({})".format, folders), *map("Bash({}:*)".format, rule.commands)]
    return Enforcement(".claude/settings.json", "ask" if rule.asks else "deny", "\n".join(lines))


HARNESS = ReadHarness(
    name="claude_code",
    title="Claude Code",
    program="claude",
    settings=SETTINGS,
    transcripts=(Location("projects", parent=SETTINGS),),
    is_record=is_record,
    reader=ClaudeCodeReader,
    hook_parts=hook_parts,
    memories=MemoryFolders("projects/*/memory", deepest=3, is_beside_sessions=True),
    enforce=enforce,
)
