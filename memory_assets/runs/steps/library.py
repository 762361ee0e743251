"""Builds the tables of the library."""

import polars as pl

from memory_assets.runs.inputs import slog as slog_inputs
from memory_assets.runs.results import SHOWN_ROWS, Rows, per_partition
from memory_assets.schema.frames import frame_of
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.services.adrs import conflicts_of, inputs_of, table_of
from memory_assets.services.review.open_triage import workspace_of
from memory_assets.services.slog import log_events
from memory_assets.store.slog import SLOG
from memory_assets.store.store import Store


@per_partition
def adrs(store: Store, _: str) -> Rows:
    """Reads the decision records of projects."""
    version = inputs_of(store)
    frame = table_of(store)
    problems = [
        f"{row['path']}: {one}" for row in frame.iter_rows(named=True) for one in row["problems"]
    ]
    figures = {"in_force": int(frame["is_in_force"].sum()), "problems": len(problems)}
    return Rows(frame, figures, version, warnings=problems[:SHOWN_ROWS])


@per_partition
def adr_conflicts(store: Store, _: str) -> pl.DataFrame:
    """Compares the decisions in force with the active memories."""
    return conflicts_of(store.tables.read("adrs"), store.tables.read("memories"))


@per_partition
def slog(store: Store, _: str) -> Rows:
    """Logs promotions and forgettings, commits the slog, and returns its entries."""
    logged = log_events(store)
    with store.lock():
        commit = (
            workspace_of(store).commit("Log what was done", [SLOG])
            if store.slog.path.is_file()
            else None
        )
    entries = store.slog.entries()
    rows = (
        {**vars(one), "number": number, "timestamp": one.at} for number, one in enumerate(entries)
    )
    damaged = store.slog.damaged()
    figures = {
        "logged": len(logged),
        "commit": commit or "-",
        "lines_without_an_entry": len(damaged),
    }
    version = slog_inputs(store, TABLES["slog"]).get(WHOLE, "-")
    return Rows(
        frame_of("slog", rows), figures, version, warnings=[f"No entry: {line}" for line in damaged]
    )
