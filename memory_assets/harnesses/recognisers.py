"""Recognises the harness that wrote a file, by its name, a record or its tables of SQLite.

Harnesses whose transcripts cannot be read yet are recognised, too. Otherwise their files would be
taken for those of another harness.
"""

import os
import re
from collections.abc import Collection

from memory_assets.harnesses.declaration import HarnessDeclaration, Record
from memory_assets.harnesses.harness_list import RECOGNISED


def recognise(record: Record) -> HarnessDeclaration | None:
    """Returns the harness that writes such records, or None."""
    return next((harness for harness in RECOGNISED if harness.is_record(record)), None)


def recognise_name(path: str) -> HarnessDeclaration | None:
    """Returns the harness that alone gives its transcripts such a name and folder, or None."""
    place = path.replace(os.sep, "/")
    for harness in RECOGNISED:
        if any(re.search(pattern, place) for pattern in harness.file_names):
            return harness
    return None


def recognise_tables(names: Collection[str]) -> HarnessDeclaration | None:
    """Returns the harness that keeps its sessions in such tables, or None."""
    with_tables = (harness for harness in RECOGNISED if harness.tables)
    return next((harness for harness in with_tables if harness.tables <= set(names)), None)
