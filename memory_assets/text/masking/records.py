"""Masks the texts of a record before it is written to the ledger, the slog or the library.

Such a record may come from any command or interface. Ids, hashes and single words are no secrets.
A record that has nothing else, as most have, is not searched: loading the search would take longer
than writing the record.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

Record = TypeVar("Record")
_NO_SECRET = re.compile(
    r"(?:mem_)?[0-9a-f]{0,64}|[a-z]{0,24}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)


def mask_record(record: Record) -> Record:
    """Returns the JSON value with every secret in its texts replaced by as many asterisks."""
    texts = [text for text in _texts_in(record) if not _NO_SECRET.fullmatch(text)]
    if not texts:
        return record
    from memory_assets.text.masking.redact import are_clean

    return record if are_clean(texts) else _masked(record)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts_in(part)


def _masked(value: Any) -> Any:
    from memory_assets.text.masking.redact import mask_text

    if isinstance(value, str):
        return mask_text(value)[0]
    if isinstance(value, Mapping):
        return {name: _masked(part) for name, part in value.items()}
    return type(value)(map(_masked, value)) if isinstance(value, list | tuple) else value
