"""Recognises the harness that wrote a file by one of its records, or by the tables of an SQLite
file.

There is one rule for each harness, and the first that fits counts. A harness without a reader has a
rule, too, so that its files are not taken for those of another one; `harness` is set once there is
a reader.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from memory_assets.schema.vocabulary import Harness
from memory_assets.stages.capture.formats.known_types import CODEX_RECORDS

Record = Mapping[str, Any]

_CODEX = CODEX_RECORDS | {"session_meta", "response_item", "event_msg", "compacted"}


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
    """Returns the harness that writes such records; None where several do, or none is known to."""
    return next((recogniser for recogniser in RECOGNISERS if recogniser.is_record(record)), None)


def recognise_tables(names: Collection[str]) -> Recogniser | None:
    """Returns the harness that keeps its sessions in such tables, if one is known to."""
    return next(
        (
            recogniser
            for recogniser in RECOGNISERS
            if recogniser.tables and recogniser.tables <= set(names)
        ),
        None,
    )


def _is_qwen(record: Record) -> bool:
    is_marked = "provenance" in record or "systemPayload" in record
    return isinstance(record.get("sessionId"), str) and (
        is_marked or isinstance(_message(record).get("parts"), list)
    )


def _is_copilot(record: Record) -> bool:
    is_event = "." in _type(record) and isinstance(record.get("data"), dict)
    return is_event and "id" in record and "timestamp" in record


def _is_gemini(record: Record) -> bool:
    return "projectHash" in record and "sessionId" in record and "type" not in record


def _is_cursor(record: Record) -> bool:
    return (
        "role" in record
        and "type" not in record
        and isinstance(_message(record).get("content"), list)
    )


def _is_codex(record: Record) -> bool:
    return _type(record) in _CODEX and isinstance(record.get("payload"), dict)


def _is_claude_code(record: Record) -> bool:
    kind = _type(record)
    is_named = isinstance(record.get("sessionId"), str) or "leafUuid" in record
    is_snapshot = kind == "file-history-snapshot" and "snapshot" in record
    is_message = kind in ("user", "assistant") and isinstance(record.get("message"), dict)
    return bool(kind) and (is_named or is_snapshot or is_message)


def _is_pi(record: Record) -> bool:
    if _type(record) == "session" and "id" in record and ("cwd" in record or "timestamp" in record):
        return True
    return bool(_type(record)) and "parentId" in record and "id" in record and "timestamp" in record


def _type(record: Record) -> str:
    kind = record.get("type")
    return kind if isinstance(kind, str) else ""


def _message(record: Record) -> Record:
    message = record.get("message")
    return message if isinstance(message, dict) else {}


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
