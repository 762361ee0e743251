"""Reads the sessions by id: their harness and title."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from memory_assets.services.search.corpus import until_published
from memory_assets.stages.recall.lookups import rows_of
from memory_assets.stages.recall.results import Recalled
from memory_assets.store.parquet_tables import ParquetTables


@until_published("sessions")
def read_sessions(tables: ParquetTables) -> pl.DataFrame:
    """Returns id, harness and name of each session; cached until the table changes."""
    return tables.scan("sessions").select(id="session_id", harness="harness", name="name").collect()


def with_harness(tables: ParquetTables, results: Sequence[Recalled]) -> tuple[Recalled, ...]:
    """Returns the results with the harness of their session."""
    rows = rows_of(read_sessions(tables), {result.session for result in results})
    harness_of = dict(zip(rows["id"], rows["harness"], strict=True))
    return tuple(replace(result, harness=harness_of.get(result.session, "")) for result in results)
