"""Assets for the data outside of the store: the transcripts of each harness, and what extras poll.

Lineage begins with them. Dagster does not build them: the step that reads such data logs one
observation of each source, with counts and times.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from memory_assets.harnesses.declaration import ReadHarness
from memory_assets.harnesses.harness_list import HARNESSES
from memory_assets.runs.freshness import INFLOWS
from memory_assets.schema.tables import Table
from memory_assets.store.store import Store

GROUP = "00_sources"

_TRANSCRIPTS_TABLE = "resources"
"""The table that is built from the transcripts of all harnesses."""


def source_keys(table: Table) -> list[dg.AssetKey]:
    """Returns the keys of the sources that the table is built from."""
    if table.name == _TRANSCRIPTS_TABLE:
        return [_key(name) for name in HARNESSES]
    return [_key(INFLOWS[table.name][1].name)] if table.name in INFLOWS else []


def make_sources() -> list[dg.AssetSpec]:
    """Returns an external asset for each harness and for each inflow of an extra."""
    harnesses = [
        _spec(name, f"Transcripts of {harness.title}: {_folders(harness)}.")
        for name, harness in HARNESSES.items()
    ]
    polled = [
        _spec(inflow.name, f"The {inflow.name} that the table {table} is built from.")
        for table, (_, inflow) in INFLOWS.items()
    ]
    return [*harnesses, *polled]


def observations(store: Store, table: Table, keys: Sequence[str]) -> Iterator[dg.AssetObservation]:
    """Yields an observation of each source that a step of the table read and that has content."""
    if table.name == _TRANSCRIPTS_TABLE:
        yield from _of_harnesses(store)
    if table.name in INFLOWS:
        _, inflow = INFLOWS[table.name]
        parts = store.tables.parts(table.name, keys)
        rows = {key: info.rows for key, info in parts.items()}
        metadata = {"polled": len(keys), "items": rows}
        yield dg.AssetObservation(_key(inflow.name), metadata=metadata)


def _of_harnesses(store: Store) -> Iterator[dg.AssetObservation]:
    ranges = store.tables.scan(_TRANSCRIPTS_TABLE)
    size = pl.col("byte_to") - pl.col("byte_from")
    by_harness = ranges.group_by("harness").agg(
        transcripts=pl.col("source_id").n_unique(),
        sessions=pl.col("conversation_id").n_unique(),
        megabytes=(size.sum() / 1e6).round(3),
        last_message_at=pl.col("content_until").max(),
        last_read_at=pl.col("created_at").max(),
    )
    for row in by_harness.sort("harness").collect().iter_rows(named=True):
        name = row.pop("harness")
        metadata: dict[str, Any] = {key: value for key, value in row.items() if value is not None}
        for key in ("last_message_at", "last_read_at"):
            if key in metadata:
                metadata[key] = dg.MetadataValue.timestamp(metadata[key])
        yield dg.AssetObservation(_key(name), metadata=metadata)


def _key(name: str) -> dg.AssetKey:
    return dg.AssetKey(["sources", name])


def _spec(name: str, description: str) -> dg.AssetSpec:
    return dg.AssetSpec(_key(name), description=description, group_name=GROUP)


def _folders(harness: ReadHarness) -> str:
    """Returns where the harness keeps transcripts if no variable of the environment says else."""
    return " and ".join(
        f"`{location.find(Path('~'), {}).as_posix()}`" for location in harness.transcripts
    )
