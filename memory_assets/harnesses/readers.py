"""Selects the reader of a transcript, and finds its session by the path and the first lines."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import PureWindowsPath
from typing import Any

from memory_assets.harnesses.damaged_lines import records_in
from memory_assets.harnesses.harness_list import HARNESSES
from memory_assets.harnesses.normal_form import TranscriptReader
from memory_assets.schema.vocabulary import Harness

HEADER_LINES = 50
"""First lines that `session_id_of` and `seed_of` need: a fork repeats the header of each session
that it was forked from.
"""

_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_SUFFIX = re.compile(r"\.(?:jsonl|ndjson)(?![A-Za-z0-9]).*$", re.IGNORECASE)


def open_reader(
    harness: Harness,
    path: str,
    state: Mapping[str, Any] | None = None,
    *,
    session_id: str | None = None,
) -> TranscriptReader:
    """Returns a reader for the transcript at the path, which continues from the state.

    Without a `session_id`, the session is the one that the path names.
    """
    session_id = session_id or session_id_of(harness, path, ())
    return HARNESSES[harness].reader.open(session_id, path, state)


def session_id_of(harness: Harness, path: str, first_lines: Sequence[bytes]) -> str:
    """Returns the id of the session in the file.

    It is in the file's name, maybe among other words, or else in the first records. Of several ids
    in the name, the one that the records also have counts, else the last.
    """
    reader = HARNESSES[harness].reader
    stem = _SUFFIX.sub("", PureWindowsPath(path).name)
    records = [*chain.from_iterable(map(records_in, first_lines))]
    session_of_path = reader.session_of_path(path, stem, records)
    if session_of_path:
        return session_of_path
    ids_in_name = _UUID.findall(stem)
    if len(ids_in_name) == 1:
        return ids_in_name[0]
    id_in_records = next(filter(None, map(reader.session_in, records)), None)
    if id_in_records and (not ids_in_name or id_in_records in ids_in_name):
        return id_in_records
    return ids_in_name[-1] if ids_in_name else stem


def origin_of(harness: Harness, path: str, first_lines: Sequence[bytes]) -> tuple[str, str | None]:
    """Returns the session in the file, and the session that it was forked from or spawned by."""
    session_id = session_id_of(harness, path, first_lines)
    reader = HARNESSES[harness].reader.open(session_id, path)
    parents = (reader.read(line).parent_session_id for line in first_lines)
    return session_id, next(filter(None, parents), None)


def folder_of(harness: Harness, path: str) -> str:
    """Returns the working folder of a file whose records name none (`folder_of_path`)."""
    return HARNESSES[harness].reader.folder_of_path(path)


def seed_of(harness: Harness, path: str, first_lines: Sequence[bytes]) -> str:
    """Returns the seed of the file's message ids (`TranscriptReader.seed_of`)."""
    session_id = session_id_of(harness, path, first_lines)
    return HARNESSES[harness].reader.seed_of(session_id, first_lines)
