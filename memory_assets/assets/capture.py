"""The capture stage as assets: transcripts become archived resources, records, windows, sessions and messages."""

import json
from datetime import timedelta

import dagster as dg
import polars as pl

from memory_assets.assets.checks import fresh, no_secrets_check, rows_check, schema_check
from memory_assets.assets.glue import bars, counts_of, materialise_days, table_asset, write_whole
from memory_assets.runs.pending import flushes, told_of_sessions, windows_inputs
from memory_assets.schema import frames as schemas
from memory_assets.schema.frames import hash_of
from memory_assets.services.forget.erase import finish
from memory_assets.services.sources import find_sources
from memory_assets.stages.capture.index import INDEX_VERSION, index_sources
from memory_assets.stages.capture.intake import take_in
from memory_assets.stages.capture.masking.redact import MASKING_VERSION
from memory_assets.stages.capture.messages import build_messages, build_sessions, inputs_of
from memory_assets.stages.capture.replan import plan_windows_incrementally
from memory_assets.stages.capture.tombstones import masking, tombstones_of
from memory_assets.stages.capture.windows import WINDOWS_VERSION, Cutting, plan_windows
from memory_assets.store.store import Store
from memory_assets.text.tokens import CHARS_A_TOKEN

GROUP = "capture"
RAW_TAIL = 0.60
"""Share of the context that an unobserved tail may fill before its window is closed."""


def cutting_of(store: Store) -> Cutting:
    """Returns the rules by which windows are cut."""
    settings = store.settings
    return Cutting(
        now=settings.clock(),
        zone=settings.zone,
        idle=timedelta(minutes=settings.idle_minutes),
        short_turns=settings.short_turns,
        tail_chars=int(settings.context_tokens * RAW_TAIL * CHARS_A_TOKEN),
        people=settings.people,
        owner=settings.owner,
        flushes=flushes(store),
        told=told_of_sessions(store),
    )


def plan(store: Store, inputs: str) -> pl.DataFrame:
    """Returns the table `windows`; only sessions that may differ are cut anew, unless a rule or a flush changed."""
    rules, resources = cutting_of(store), store.archive.resources()
    written = store.tables.parts("windows").get("all")
    now, then = json.loads(inputs), json.loads(written.inputs) if written else {}
    if any(now[name] != then.get(name) for name in ("rules", "flushes")):
        return plan_windows(store.tables.scan("records"), resources, rules)
    changed = [source for source, fingerprint in now["sources"].items() if then["sources"].get(source) != fingerprint]
    before = store.tables.read("windows")
    return plan_windows_incrementally(store.tables, resources, rules, before=before, changed=changed)


@table_asset("resources", group=GROUP, version=MASKING_VERSION, daily=False, freshness_policy=fresh(days=7))
def resources(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Byte ranges of transcripts, archived once with their secrets, and what is forgotten, masked."""
    with store.lock():
        finish(store)
        report = take_in(
            find_sources(store.settings),
            store.archive,
            now=store.settings.clock(),
            mask=masking(tombstones_of(store)),
            masking_version=MASKING_VERSION,
            key=store.key,
        )
        for path, reason in report.unreadable:
            context.log.warning(f"Not captured: {path}: {reason}")
        frame = store.archive.resources()
        return write_whole(
            store,
            "resources",
            frame,
            hash_of(frame.height),
            new_ranges=report.new_ranges,
            new_bytes=report.new_bytes,
            masked_secrets=int(frame["masked_count"].sum()),
            files_waiting_for_a_line_end=report.waiting,
            files_rewritten=report.rewritten,
            copies_of_a_longer_file=report.copies,
            unreadable_files=len(report.unreadable),
        )


@table_asset("records", group=GROUP, version=INDEX_VERSION, daily=False, deps=["resources"])
def records(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """One light row for each line of a transcript: what it is and where its bytes lie."""
    with store.lock():
        changed = index_sources(store.archive, store.tables)
    parts = store.tables.parts("records")
    statuses = counts_of(store.tables.read("records", columns=["status"]), "status")
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": sum(info.rows for info in parts.values()),
            "sources": len(parts),
            "sources_changed": len(changed),
            "statuses": bars(statuses),
            **{f"{name}_records": count for name, count in statuses.items()},
        }
    )


@table_asset("windows", group=GROUP, version=WINDOWS_VERSION, daily=False, deps=["records", "events"])
def windows(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Stretches of a session that are observed as a whole, closed by a compaction, the session's end or their size."""
    with store.lock():
        inputs = windows_inputs(store)
        frame = plan(store, inputs)
        plots = {column: bars(counts_of(frame, column)) for column in ("trigger", "status", "harness")}
        return write_whole(store, "windows", frame, inputs, **plots)


def windows_of(store: Store, day: str) -> pl.DataFrame:
    """Returns the windows that closed on the day."""
    return store.tables.read("windows").filter(pl.col("day") == pl.lit(day).str.to_date())


@table_asset("messages", group=GROUP, version=INDEX_VERSION, daily=True, deps=["windows", "resources"])
def messages(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Messages of the windows that closed on the day, with their text."""
    return materialise_days(
        context,
        store,
        "messages",
        inputs=lambda day: inputs_of(windows_of(store, day)),
        build=lambda day: build_messages(windows_of(store, day), store.tables, store.archive, store.settings.clock()),
    )


@table_asset(
    "sessions", group=GROUP, version=INDEX_VERSION, daily=True, deps=["windows", "messages"], freshness_policy=fresh(days=2)
)
def sessions(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What is known of each session from the windows that closed on the day: name, duration, counts, files."""
    return materialise_days(
        context,
        store,
        "sessions",
        inputs=lambda day: inputs_of(windows_of(store, day)),
        build=lambda day: build_sessions(windows_of(store, day), store.tables.read("messages", [day]), store.tables),
    )


@table_asset("messages_open", group=GROUP, version=INDEX_VERSION, daily=False, deps=["windows", "resources"])
def messages_open(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Messages of windows that are still growing, replaced at every run."""
    with store.lock():
        opened = store.tables.read("windows").filter(pl.col("status") == "open")
        frames = list(build_messages(opened, store.tables, store.archive, store.settings.clock()))
        frame = pl.concat(frames) if frames else schemas.empty("messages_open")
        return write_whole(store, "messages_open", frame, inputs_of(opened), sessions=opened["session_id"].n_unique())


def _messages_outside_their_windows(store: Store, days: list[str] | None) -> pl.DataFrame:
    """Returns messages that are in no window or in several, and messages of windows that are missing."""
    closed = store.tables.read("windows").filter(pl.col("day").is_not_null())
    if days is not None:
        closed = closed.filter(pl.col("day").cast(pl.String).is_in(days))
    wanted = closed.select("window_id", pl.col("message_ids").alias("message_id")).explode("message_id")
    found = store.tables.read("messages", days, columns=["window_id", "message_id"])
    both = ["window_id", "message_id"]
    missing = wanted.join(found, on=both, how="anti").with_columns(problem=pl.lit("missing"))
    foreign = found.join(wanted, on=both, how="anti").with_columns(problem=pl.lit("in no window"))
    doubled = wanted.filter(pl.col("message_id").is_duplicated()).with_columns(problem=pl.lit("in several windows"))
    return pl.concat([missing, foreign, doubled])


def _untraceable(store: Store, days: list[str] | None) -> pl.DataFrame:
    archived = store.archive.resources().select(pl.col("id").alias("resource_id"))
    found = store.tables.read("messages", days, columns=["message_id", "resource_id"])
    return found.join(archived, on="resource_id", how="anti")


def _changed_ranges(store: Store, days: list[str] | None) -> pl.DataFrame:
    newest = store.archive.resources().sort("created_at").tail(CHECKED_RANGES)
    return newest.filter([not store.archive.verify(resource) for resource in newest["id"]]).select("id", "path")


CHECKED_RANGES = 50
"""Ranges whose bytes are hashed again at each run, newest first; `memory doctor` hashes all."""

ASSETS = [resources, records, windows, messages, sessions, messages_open]
CHECKS = [
    *(schema_check(table) for table in ("resources", "records", "windows", "messages", "sessions", "messages_open")),
    rows_check("resources", "archived_bytes_unchanged", "The newest archived ranges still have their hashes.", _changed_ranges),
    rows_check(
        "messages",
        "coverage",
        "Every message of a closed window is there, in exactly one window.",
        _messages_outside_their_windows,
    ),
    rows_check("messages", "provenance", "Every message lies in an archived range.", _untraceable),
    *(no_secrets_check(table) for table in ("resources", "records", "windows", "messages", "sessions", "messages_open")),
]
