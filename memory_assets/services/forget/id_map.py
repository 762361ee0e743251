"""Maps old ids and hashes to new ones. They are derived from content, so masking a line changes its
id and every id that is derived from it.

The ledger refers to messages, windows, segments, observations and records by these ids. Events
about other facts of a masked session still refer to these facts once the ids are replaced.
"""

import hashlib
import re
import uuid
from collections.abc import Iterator, Mapping

import polars as pl

from memory_assets.schema.records.distill import NAMESPACE
from memory_assets.stages.capture.index import read_ids
from memory_assets.stages.capture.windows import window_key
from memory_assets.store.archive import Archive
from memory_assets.store.parquet_tables import ParquetTables

IdMap = dict[str, str]
"""Old id or hash → the new one, which is as long."""

_ID = re.compile(
    rb"msg_[0-9a-f]{20}|(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{40}"
    rb"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-f])"
)


def changed_hashes(old_content: bytes, new_content: bytes) -> Iterator[tuple[str, str]]:
    """Yields (old, new) hash of each record that masking changed, with its newline and without: the
    last record may have been hashed before its newline was written.
    """
    for old, new in zip(old_content.split(b"\n"), new_content.split(b"\n"), strict=True):
        if old != new:
            for end in (b"\n", b""):
                old_hash = hashlib.sha256(old + end).hexdigest()
                yield old_hash, hashlib.sha256(new + end).hexdigest()


def changed_ids(archive: Archive, tables: ParquetTables, sources: list[str]) -> IdMap:
    """Returns the new ids of everything that masking the sources changed.

    The old ids are read from the tables, which must not be rebuilt before.
    """
    messages: IdMap = {}
    for source in sources:
        columns = ["generation", "line", "message_id"]
        old_ids = tables.read("records", [source], columns=columns).drop_nulls()
        joined = old_ids.join(read_ids(archive, source), on=["generation", "line"], suffix="_now")
        changed = joined.filter(pl.col("message_id") != pl.col("message_id_now"))
        messages |= dict(changed.select("message_id", "message_id_now").iter_rows())
    return {**messages, **_derived(messages, tables)}


def replace_ids(new_ids: Mapping[str, str], raw: bytes) -> bytes:
    """Returns the bytes with each old id and hash replaced by the new one."""
    if not new_ids:
        return raw

    def new_id(match: re.Match[bytes]) -> bytes:
        """Returns the id that replaces the matching one: itself, if it did not change."""
        old_id = match[0].decode()
        return new_ids.get(old_id, old_id).encode()

    return _ID.sub(new_id, raw)


def _derived(messages: IdMap, tables: ParquetTables) -> IdMap:
    """Returns the new ids of windows, segments and observations that the messages changed."""
    windows = {}
    segments = {}
    observations = {}
    columns = ["window_id", "session_id", "trigger", "first_message_id"]
    for id, session, trigger, first in tables.read("windows", columns=columns).iter_rows():
        if first in messages:
            windows[id] = window_key(session, trigger, messages[first])
    columns = ["segment_id", "window_id", "message_ids"]
    for id, window, ids in tables.read("segments", columns=columns).iter_rows():
        if window in windows or ids[0] in messages:
            segments[id] = _uuid(windows.get(window, window), messages.get(ids[0], ids[0]))
    columns = ["id", "window_id", "segment_id", "text_hash"]
    for id, window, segment, text_hash in tables.read("observations", columns=columns).iter_rows():
        if segment in segments:
            observations[id] = _uuid(windows.get(window, window), segments[segment], text_hash)
    return {**windows, **segments, **observations}


def _uuid(*parts: str | None) -> str:
    return str(uuid.uuid5(NAMESPACE, "/".join(map(str, parts))))
