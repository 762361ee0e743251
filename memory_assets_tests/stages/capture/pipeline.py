"""Runs the whole of capture on a store, as the build functions do, for tests."""

from datetime import date, datetime
from pathlib import Path

import polars as pl

from memory_assets.runs.materialise import materialise
from memory_assets.runs.staleness import stale_partitions
from memory_assets.runs.steps.capture import window_rules_of
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.stages.capture.discover import find_transcripts
from memory_assets.stages.capture.index import index_sources
from memory_assets.stages.capture.intake import IntakeReport, Machine, Mask, ingest_files
from memory_assets.stages.capture.messages import build_messages, build_sessions, inputs_of
from memory_assets.stages.capture.windows import plan_windows
from memory_assets.store.store import Store
from memory_assets.text.masking.redact import mask_all


def intake(
    store: Store,
    folder: Path,
    now: datetime | None = None,
    mask: Mask = mask_all,
    machine: Machine | None = None,
) -> IntakeReport:
    """Archives what is new below the folder."""
    at = now or store.settings.clock()
    return ingest_files(
        find_transcripts([folder]),
        store,
        now=at,
        mask=mask,
        machine=machine or Machine(Path.home()),
    )


def capture(store: Store, folder: Path, machine: Machine | None = None) -> IntakeReport:
    """Brings resources, records, windows, messages and sessions up to date."""
    report = intake(store, folder, machine=machine)
    index_sources(store.archive, store.tables)
    derive(store)
    return report


def derive(store: Store) -> None:
    """Brings windows, messages and sessions up to date with the records."""
    windows = plan_windows(
        store.tables.scan("records"), store.archive.resources(), window_rules_of(store)
    )
    store.tables.write("windows", "all", windows)
    for day in stale_partitions(store, TABLES["messages"]):
        own = windows.filter(pl.col("day") == date.fromisoformat(day))
        frames = build_messages(own, store.tables, store.archive, store.settings.clock())
        store.tables.write("messages", day, frames, inputs=inputs_of(own))
        messages = store.tables.scan("messages", [day])
        store.tables.write("sessions", day, build_sessions(own, messages, store.tables))


def check_points(store: Store) -> None:
    """Brings the messages of open windows, and the turns of all windows, up to date."""
    for name in ("messages_open", "checkpoints_open"):
        materialise(store, [TABLES[name]], [WHOLE])
    materialise(store, [TABLES["checkpoints"]], stale_partitions(store, TABLES["checkpoints"]))


def state(store: Store) -> dict[str, pl.DataFrame]:
    """Everything that must not depend on when and how often capture ran."""
    records = (
        store.tables.read("records").drop("resource_id").sort("source_id", "generation", "line")
    )
    messages = store.tables.read("messages").drop("resource_id").sort("message_id")
    windows = store.tables.read("windows").sort("window_id")
    sessions = store.tables.read("sessions").sort("session_id", "day")
    return {"records": records, "windows": windows, "messages": messages, "sessions": sessions}
