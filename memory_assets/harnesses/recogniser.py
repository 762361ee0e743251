"""How the files of a harness are recognised: by one of their records, or by the tables of an SQLite
file.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memory_assets.schema.vocabulary import Harness

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


def type_of(record: Record) -> str:
    """Returns the record's type; empty where it has none."""
    record_type = record.get("type")
    return record_type if isinstance(record_type, str) else ""


def message_of(record: Record) -> Record:
    """Returns the record's message; empty where it has none."""
    message = record.get("message")
    return message if isinstance(message, dict) else {}
