"""Recognises the records of Codex."""

from memory_assets.harnesses.codex.known_records import RECORDS
from memory_assets.harnesses.recogniser import Recogniser, Record, type_of

_TYPES = RECORDS | {"session_meta", "response_item", "event_msg", "compacted"}


def _is_record(record: Record) -> bool:
    return type_of(record) in _TYPES and isinstance(record.get("payload"), dict)


RECOGNISER = Recogniser("Codex", _is_record, harness="codex")
