"""Recognises the harness that wrote a file, by one of its records or by the tables of SQLite.

Harnesses whose transcripts cannot be read yet have a rule, too. Otherwise their files would be
taken for those of another harness.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from memory_assets.harnesses.codex.reader import KNOWN
from memory_assets.schema.vocabulary import Harness
from memory_assets.text.words import word_set

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Recogniser:
    """How the files of one harness are recognised."""

    title: str
    is_record: Callable[[Record], bool] = lambda _: False
    tables: frozenset[str] = frozenset()
    """Names that the tables of its SQLite file include."""
    harness: Harness | None = None
    """None where there is no reader yet."""


def recognise(record: Record) -> Recogniser | None:
    """Returns the harness that writes such records, or None."""
    return next((recogniser for recogniser in RECOGNISERS if recogniser.is_record(record)), None)


def recognise_tables(names: Collection[str]) -> Recogniser | None:
    """Returns the harness that keeps its sessions in such tables, or None."""
    with_tables = (recogniser for recogniser in RECOGNISERS if recogniser.tables)
    return next((recogniser for recogniser in with_tables if recogniser.tables <= set(names)), None)


def _type_of(record: Record) -> str:
    record_type = record.get("type")
    return record_type if isinstance(record_type, str) else ""


def _message_of(record: Record) -> Record:
    message = record.get("message")
    return message if isinstance(message, dict) else {}


def _is_claude_code(record: Record) -> bool:
    record_type = _type_of(record)
    is_named = isinstance(record.get("sessionId"), str) or "leafUuid" in record
    is_snapshot = record_type == "file-history-snapshot" and "snapshot" in record
    has_message = isinstance(record.get("message"), dict)
    is_message = record_type in ("user", "assistant") and has_message
    return bool(record_type) and (is_named or is_snapshot or is_message)


# `KNOWN["records"]` are the records that the reader of Codex skips; it reads the other four.
_CODEX_TYPES = KNOWN["records"] | word_set("session_meta response_item event_msg compacted")


def _is_codex(record: Record) -> bool:
    return _type_of(record) in _CODEX_TYPES and isinstance(record.get("payload"), dict)


def _is_pi(record: Record) -> bool:
    if "id" not in record or not _type_of(record):
        return False
    has_time = "timestamp" in record
    is_header = _type_of(record) == "session" and ("cwd" in record or has_time)
    return is_header or ("parentId" in record and has_time)


def _is_qwen(record: Record) -> bool:
    if not isinstance(record.get("sessionId"), str):
        return False
    is_marked = "provenance" in record or "systemPayload" in record
    return is_marked or isinstance(_message_of(record).get("parts"), list)


def _is_copilot(record: Record) -> bool:
    is_event = "." in _type_of(record) and isinstance(record.get("data"), dict)
    return is_event and "id" in record and "timestamp" in record


def _is_gemini(record: Record) -> bool:
    return "projectHash" in record and "sessionId" in record and "type" not in record


def _is_cursor(record: Record) -> bool:
    has_content = isinstance(_message_of(record).get("content"), list)
    return has_content and "role" in record and "type" not in record


RECOGNISERS = (
    Recogniser("Qwen Code", _is_qwen),
    Recogniser("Copilot CLI", _is_copilot),
    Recogniser("Gemini CLI", _is_gemini),
    Recogniser("Cursor", _is_cursor, tables=frozenset({"cursorDiskKV"})),
    Recogniser("OpenCode", tables=frozenset({"session", "message", "part"})),
    Recogniser("Codex", _is_codex, harness="codex"),
    Recogniser("Claude Code", _is_claude_code, harness="claude_code"),
    Recogniser("pi", _is_pi, harness="pi"),
)
"""The first one that matches a file counts."""
