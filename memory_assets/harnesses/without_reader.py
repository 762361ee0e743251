"""Harnesses whose transcripts cannot be read yet: how they are recognised, and where they lie.

They have a rule, too, so that their files are not taken for those of another harness.
"""

from collections.abc import Mapping
from pathlib import Path

from memory_assets.harnesses.recogniser import Recogniser, Record, message_of, type_of

_PLACES = (".qwen/projects", ".copilot/session-state", ".gemini/tmp", ".cursor/projects")
"""Below the person's home."""


def unread_places(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Returns their usual places, whether or not they exist."""
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return [*(home / place for place in _PLACES), data / "opencode" / "opencode.db"]


def _is_qwen(record: Record) -> bool:
    if not isinstance(record.get("sessionId"), str):
        return False
    is_marked = "provenance" in record or "systemPayload" in record
    return is_marked or isinstance(message_of(record).get("parts"), list)


def _is_copilot(record: Record) -> bool:
    is_event = "." in type_of(record) and isinstance(record.get("data"), dict)
    return is_event and "id" in record and "timestamp" in record


def _is_gemini(record: Record) -> bool:
    return "projectHash" in record and "sessionId" in record and "type" not in record


def _is_cursor(record: Record) -> bool:
    has_content = isinstance(message_of(record).get("content"), list)
    return has_content and "role" in record and "type" not in record


WITHOUT_READER = (
    Recogniser("Qwen Code", _is_qwen),
    Recogniser("Copilot CLI", _is_copilot),
    Recogniser("Gemini CLI", _is_gemini),
    Recogniser("Cursor", _is_cursor, tables=frozenset({"cursorDiskKV"})),
    Recogniser("OpenCode", tables=frozenset({"session", "message", "part"})),
)
