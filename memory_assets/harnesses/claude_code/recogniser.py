"""Recognises the records of Claude Code."""

from memory_assets.harnesses.recogniser import Recogniser, Record, type_of


def _is_record(record: Record) -> bool:
    record_type = type_of(record)
    is_named = isinstance(record.get("sessionId"), str) or "leafUuid" in record
    is_snapshot = record_type == "file-history-snapshot" and "snapshot" in record
    has_message = isinstance(record.get("message"), dict)
    is_message = record_type in ("user", "assistant") and has_message
    return bool(record_type) and (is_named or is_snapshot or is_message)


RECOGNISER = Recogniser("Claude Code", _is_record, harness="claude_code")
