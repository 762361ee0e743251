"""Gathers the evidence of a promoted line, complete enough to outlive every rebuild: ranges,
hashes, quotes.
"""

import hashlib
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import polars as pl

from memory_assets.errors import TranscriptError
from memory_assets.schema.protocols import Row
from memory_assets.store.archive import Archive
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.text.short_ids import short_id

LONGEST_SESSION = timedelta(days=7)
"""Messages of one occurrence are at most this far from its date."""

QUOTED_CHARS = 160


def gather_evidence(proposal: Row, tables: ParquetTables, archive: Archive) -> dict[str, Any]:
    """Returns the observations and records behind a proposal: path, line, byte range, hash of the
    record, quoted words.

    A recurring problem rests on messages (`message_ids`), observed or not.
    """
    if "message_ids" in proposal:
        return _evidence(proposal, _records_of_messages(proposal, tables, archive))
    is_behind = pl.col("id").is_in(proposal["observation_ids"])
    behind = tables.scan("observations").filter(is_behind).collect().sort("event_at", "id")
    allowed = behind.filter(gate="allow")
    # A held echo is no evidence, unless it is itself the question.
    observations = behind if allowed.is_empty() else allowed
    wanted = observations["message_ids"].explode().to_list()
    days = [day.isoformat() for day in observations["day"].unique()]
    messages = tables.scan("messages", days).filter(pl.col("message_id").is_in(wanted)).collect()
    by_id = {row["message_id"]: row for row in messages.iter_rows(named=True)}
    records = [
        _record(row, by_id[message_id], archive)
        for row in observations.iter_rows(named=True)
        for message_id in row["message_ids"]
        if message_id in by_id
    ]
    return _evidence(proposal, records)


class EvidenceTables(ParquetTables):
    """The tables, with what some proposals rest on, and nothing else, of those that are large."""

    def __init__(self, tables: ParquetTables, proposals: pl.DataFrame) -> None:
        super().__init__(tables.root)
        problems = tables.read("friction").filter(
            pl.col("proposal_id").is_in(proposals["proposal_id"].implode())
        )
        observations = _rows(tables, "observations", id=proposals["observation_ids"].explode())
        messages = pl.concat([rows["message_ids"].explode() for rows in (observations, problems)])
        sessions = observations["session_id"]
        self._rows = {
            "observations": observations,
            "messages": _rows(tables, "messages", message_id=messages),
            "reflections": _rows(tables, "reflections", reflection_id=proposals["reflection_id"]),
            "checkpoints": _rows(tables, "checkpoints", session_id=sessions),
        }

    def scan(self, table: str, parts: Iterable[str] | None = None) -> pl.LazyFrame:
        """Returns the rows that were read before, where the table has such."""
        rows = self._rows.get(table)
        return super().scan(table, parts) if rows is None else rows.lazy()


def _rows(tables: ParquetTables, table: str, **values: pl.Series) -> pl.DataFrame:
    """Returns the rows whose column has one of the values."""
    ((column, wanted),) = values.items()
    return tables.scan(table).filter(pl.col(column).is_in(wanted.unique().implode())).collect()


def _evidence(proposal: Row, records: list[dict[str, Any]]) -> dict[str, Any]:
    named = ("memory_id", "reflection_id", "observation_ids", "session_ids")
    return {**{name: proposal[name] for name in named}, "evidence": records}


def _records_of_messages(
    proposal: Row, tables: ParquetTables, archive: Archive
) -> list[dict[str, Any]]:
    """Returns the records of the messages, in order of time; the owner's are quoted."""
    during = pl.col("event_at").is_between(
        proposal["first_event_at"] - LONGEST_SESSION, proposal["event_at"] + LONGEST_SESSION
    )
    is_named = during & pl.col("message_id").is_in(proposal["message_ids"])
    messages = tables.scan("messages").filter(is_named).collect()
    records = []
    for row in messages.sort("event_at", "session_id", "ordinal").iter_rows(named=True):
        beginning = row["text"].strip().partition("\n")[0][:QUOTED_CHARS]
        quote = beginning if row["author"] == "owner" else ""
        records.append(_record({**row, "id": "", "segment_id": "", "quote": quote}, row, archive))
    return records


def _record(observation: Row, message: Row, archive: Archive) -> dict[str, Any]:
    entry = archive.find(message["resource_id"])
    if entry is None:
        raise TranscriptError(
            f"Message {message['message_id']} lies in the archived range {message['resource_id']}, "
            "which is not in the catalog. `memory doctor` counts what is missing; restore "
            "resources/ from a backup, then run `memory data rebuild`."
        )
    content = archive.read(
        entry.source_id, entry.generation, message["byte_from"], message["byte_to"]
    )
    return {
        "observation_id": observation["id"],
        "shown_as": short_id(observation["id"]) if observation["id"] else "",
        **{name: observation[name] for name in ("segment_id", "window_id", "session_id", "quote")},
        **{name: getattr(entry, name) for name in ("harness", "path", "source_id", "generation")},
        "resource_id": entry.id,
        **{name: message[name] for name in ("message_id", "line", "byte_from", "byte_to")},
        "sha256": hashlib.sha256(content).hexdigest(),
    }
