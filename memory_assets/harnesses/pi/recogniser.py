"""Recognises the records of pi."""

from memory_assets.harnesses.recogniser import Recogniser, Record, type_of


def _is_record(record: Record) -> bool:
    if "id" not in record or not type_of(record):
        return False
    has_time = "timestamp" in record
    is_header = type_of(record) == "session" and ("cwd" in record or has_time)
    return is_header or ("parentId" in record and has_time)


RECOGNISER = Recogniser("pi", _is_record, harness="pi")
