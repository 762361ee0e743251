"""What masking moves: ids and hashes are made from content, so those of masked lines, and all that builds on them, change.

The ledger names messages, windows, segments, observations and records by them. This says which becomes which, so that what
people decided about other facts of the same session stays about these.
"""

import hashlib
import re
import uuid
from collections.abc import Iterator, Mapping

import polars as pl

from memory_assets.schema.protocols import Tables
from memory_assets.stages.capture.index import read_ids
from memory_assets.stages.capture.windows import window_key
from memory_assets.stages.distill.rows import NAMESPACE
from memory_assets.store.archive import Archive

Moved = dict[str, str]
"""Old → new, each as long as the other."""

_ID = re.compile(
    rb"msg_[0-9a-f]{20}|(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-f])"
)


def moved_hashes(before: bytes, after: bytes) -> Iterator[tuple[str, str]]:
    """Yields the hashes of the records that masking changed; a last one may still wait for its newline."""
    for old, new in zip(before.split(b"\n"), after.split(b"\n"), strict=True):
        if old != new:
            yield from ((_hash(old + end), _hash(new + end)) for end in (b"\n", b""))


def moved_ids(archive: Archive, tables: Tables, sources: list[str]) -> Moved:
    """Returns the ids that change with the masked bytes of the sources, whose tables are still the old ones."""
    messages: Moved = {}
    for source in sources:
        before = tables.read("records", [source], columns=["generation", "line", "message_id"]).drop_nulls()
        after = read_ids(archive, source)
        both = before.join(after, on=["generation", "line"], suffix="_now").filter(
            pl.col("message_id") != pl.col("message_id_now")
        )
        messages |= dict(both.select("message_id", "message_id_now").iter_rows())
    return {**messages, **_built_on(messages, tables)}


def follow(moved: Mapping[str, str], raw: bytes) -> bytes:
    """Returns the bytes with each id and hash that moved as it is now."""
    if not moved:
        return raw
    return _ID.sub(lambda match: moved.get(match[0].decode(), match[0].decode()).encode(), raw)


def _built_on(messages: Moved, tables: Tables) -> Moved:
    windows, segments, observations = {}, {}, {}
    for id, session, trigger, first in (
        tables.read("windows").select("window_id", "session_id", "trigger", "first_message_id").iter_rows()
    ):
        if first in messages:
            windows[id] = window_key(session, trigger, messages[first])
    for id, window, ids in tables.read("segments", columns=["segment_id", "window_id", "message_ids"]).iter_rows():
        if window in windows or ids[0] in messages:
            segments[id] = _uuid(windows.get(window, window), messages.get(ids[0], ids[0]))
    columns = ["id", "window_id", "segment_id", "text_hash"]
    for id, window, segment, text_hash in tables.read("observations", columns=columns).iter_rows():
        if segment in segments:
            observations[id] = _uuid(windows.get(window, window), segments[segment], text_hash)
    return {**windows, **segments, **observations}


def _uuid(*parts: str | None) -> str:
    return str(uuid.uuid5(NAMESPACE, "/".join(map(str, parts))))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
