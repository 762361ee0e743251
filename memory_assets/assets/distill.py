"""The distill stage as assets: messages become segments, observations with verdicts, and the daily log."""

from collections.abc import Sequence

import dagster as dg
import polars as pl

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.assets.capture import windows_of
from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check
from memory_assets.assets.glue import (
    DAYS,
    DAYS_PER_RUN,
    START_ATTEMPTS,
    bars,
    counts_of,
    result_of,
    table_spec,
)
from memory_assets.runs.pending import distil_inputs
from memory_assets.schema.progress import track
from memory_assets.services.forget.rows import without_forgotten
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.distill import DISTILL_VERSION
from memory_assets.stages.distill.allowance import plan_allowances
from memory_assets.stages.distill.daily_log import remove_sections, render_section, update_log, windows_in
from memory_assets.stages.distill.day import build_observations, build_segments
from memory_assets.stages.distill.model.answer_rows import answers_by_window
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.standards import Standards, standards_of
from memory_assets.store.store import Store
from memory_assets.text.files import write_atomically

GROUP = "distill"
TABLES = ("segments", "observations", "verdicts")
WRITTEN = ("segments", "verdicts", "observations")
"""Observations last: whether a day is up to date is told by them."""

DESCRIPTIONS = {
    "segments": "Neighbouring messages about one topic, with a narrative of one to three sentences.",
    "observations": "Facts worth keeping from each segment, with priority, category and verdict.",
    "verdicts": "What the write gate said of every candidate fact, and why.",
}


def _spec(table: str, deps: list[str]) -> dg.AssetSpec:
    arguments = table_spec(table, group=GROUP, version=DISTILL_VERSION, daily=True, deps=deps)
    return dg.AssetSpec(table, description=DESCRIPTIONS[table], **arguments)


@dg.multi_asset(
    name="distil",
    specs=[
        _spec("segments", ["messages", "observer_answers"]),
        _spec("observations", ["segments"]),
        _spec("verdicts", ["segments"]),
    ],
    backfill_policy=dg.BackfillPolicy.multi_run(DAYS_PER_RUN),
    retry_policy=START_ATTEMPTS,
)
def distil(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]):
    """Observes the windows of each day: one walk over its messages gives segments, observations and verdicts."""
    days, written = context.partition_keys, 0
    with store.lock():
        windows = store.tables.read("windows")
        standards, inputs = standards_of(store.settings), distil_inputs(store, windows, days)
        allowances = plan_allowances(windows, standards.limits.most_allowed)
        for day in track(days, "distill"):
            written += _distil_day(store, day, allowances, standards, inputs[day])
    for table in TABLES:
        yield result_of(context, store, table, days, written, _mix(store, table, days))


def _distil_day(store: Store, day: str, allowances: dict[str, int], standards: Standards, inputs: str) -> bool:
    """Writes the three tables of the day, unless they were made from the same messages by the same rules."""
    present = [store.tables.parts(table, [day]).get(day) for table in TABLES]
    if all(part is not None and part.inputs == inputs for part in present):
        return False
    made = without_forgotten(_observe(store, day, allowances, standards), tombstones_of(store))
    for table in WRITTEN:
        store.tables.write(table, day, made[table], inputs=inputs)
    return True


def _observe(store: Store, day: str, allowances: dict[str, int], standards: Standards) -> dict[str, pl.DataFrame]:
    """Returns the three tables of the day."""
    windows, messages = windows_of(store, day), store.tables.read("messages", [day])
    answers = answers_by_window(store.tables.read("observer_answers", [day]), AnswerStore(store.answers))
    segments = build_segments(windows, messages, answers=answers)
    how = {"answers": answers, "allowances": allowances, "standards": standards}
    observations, verdicts = build_observations(windows, messages, segments, **how)
    return {"segments": segments, "observations": observations, "verdicts": verdicts}


def _mix(store: Store, table: str, days: Sequence[str]) -> dict[str, object]:
    frame = store.tables.read(table, days)
    columns = {
        "segments": ("project",),
        "observations": ("gate", "priority", "category"),
        "verdicts": ("verdict", "reason", "parse_path"),
    }
    plots: dict[str, object] = {f"{column}_mix": bars(counts_of(frame, column)) for column in columns[table]}
    if table == "verdicts" and frame.height:
        plots["discarded_share"] = round(frame.filter(pl.col("verdict") == "discard").height / frame.height, 4)
    return plots


@dg.asset(
    group_name=GROUP,
    owners=["team:memory"],
    kinds={"markdown"},
    code_version="daily_log/1",
    deps=["observations", "sessions"],
    partitions_def=DAYS,
    backfill_policy=dg.BackfillPolicy.multi_run(DAYS_PER_RUN),
)
def daily_log(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """A human-readable log of each day, one section a window; what a person writes between the sections stays."""
    with store.lock():
        workspace = GitWorkspace(store.workspace)
        workspace.prepare()
        changed = [path for day in context.partition_keys if (path := _write_log(store, day))]
        workspace.commit(f"Log {len(changed)} day{'' if len(changed) == 1 else 's'}", changed)
    return dg.MaterializeResult(metadata={"days_changed": len(changed)})


def _write_log(store: Store, day: str) -> str | None:
    """Brings the day's log up to date and returns its path in the workspace, or None where nothing changed."""
    windows = windows_of(store, day).filter(pl.col("status") == "observed").sort("ended_at", "window_id")
    path = store.workspace / "memory" / f"{day}.md"
    before = path.read_bytes().decode("utf-8", "surrogateescape") if path.is_file() else ""
    if windows.is_empty() and not before:
        return None
    segments, observations = store.tables.read("segments", [day]), store.tables.read("observations", [day])
    sessions = {row["session_id"]: row for row in store.tables.read("sessions", [day]).iter_rows(named=True)}
    sections = {
        window["window_id"]: render_section(
            window, segments, observations, session=sessions.get(window["session_id"]), zone=store.settings.zone
        )
        for window in windows.iter_rows(named=True)
    }
    present = {window_id[:12] for window_id in sections}
    gone = [mark for mark in windows_in(before) if mark not in present]
    after = update_log(remove_sections(before, gone), sections, title=day)
    if after == before:
        return None
    write_atomically(path, after.encode("utf-8", "surrogateescape"))
    return f"memory/{day}.md"


def _messages_not_in_one_segment(store: Store, days: list[str] | None) -> pl.DataFrame:
    windows = store.tables.read("windows").filter((pl.col("status") == "observed") & pl.col("day").is_not_null())
    if days is not None:
        windows = windows.filter(pl.col("day").cast(pl.String).is_in(days))
    wanted = windows.select("window_id", pl.col("message_ids").alias("message_id")).explode("message_id")
    found = (
        store.tables.read("segments", days).select("window_id", pl.col("message_ids").alias("message_id")).explode("message_id")
    )
    both = ["window_id", "message_id"]
    return pl.concat(
        [
            wanted.join(found, on=both, how="anti").with_columns(problem=pl.lit("in no segment")),
            found.join(wanted, on=both, how="anti").with_columns(problem=pl.lit("not in the window")),
            found.filter(pl.struct(both).is_duplicated()).with_columns(problem=pl.lit("in several segments")),
        ]
    )


def _untraceable(store: Store, days: list[str] | None) -> pl.DataFrame:
    """Returns observations whose evidence is not among the messages of their window."""
    wanted = (
        store.tables.read("observations", days)
        .select("id", "window_id", pl.col("message_ids").alias("message_id"))
        .explode("message_id")
    )
    return wanted.join(
        store.tables.read("messages", days, columns=["window_id", "message_id"]), on=["window_id", "message_id"], how="anti"
    )


def _unquotable(store: Store, days: list[str] | None) -> pl.DataFrame:
    """Returns allowed facts whose quoted words stand in none of their messages."""
    facts = store.tables.read("observations", days).filter(pl.col("gate") == "allow").select("id", "quote", "message_ids")
    said = store.tables.read("messages", days, columns=["message_id", "text"])
    joined = facts.explode("message_ids").join(said, left_on="message_ids", right_on="message_id", how="left")
    held = [
        " ".join(row["quote"].split()) in " ".join((row["text"] or "").split())
        for row in joined.select("quote", "text").iter_rows(named=True)
    ]
    holding = joined.filter(pl.Series(held, dtype=pl.Boolean))["id"].unique()
    return facts.filter(~pl.col("id").is_in(holding.implode())).select("id")


def _rules_not_by_the_owner(store: Store, days: list[str] | None) -> pl.DataFrame:
    facts = store.tables.read("observations", days).filter((pl.col("gate") == "allow") & (pl.col("kind") == "fact"))
    return facts.filter(pl.col("category").is_in(["preferences", "rules-conventions"]) & (pl.col("author") != "owner")).select(
        "id", "author"
    )


def _without_verdict(store: Store, days: list[str] | None) -> pl.DataFrame:
    kept = store.tables.read("observations", days, columns=["id", "gate"])
    told = store.tables.read("verdicts", days, columns=["candidate_id", "verdict"]).filter(pl.col("verdict") != "discard")
    return kept.join(told, left_on=["id", "gate"], right_on=["candidate_id", "verdict"], how="anti")


ASSETS = [distil, daily_log]
CHECKS = [
    *(schema_check(table) for table in TABLES),
    rows_check(
        "segments", "coverage", "Every message of an observed window is in exactly one segment.", _messages_not_in_one_segment
    ),
    rows_check("observations", "provenance", "Every observation rests on messages of its own window.", _untraceable),
    rows_check(
        "observations",
        "quotes_stand_in_their_source",
        "The quoted words stand in the messages they are taken from.",
        _unquotable,
    ),
    rows_check(
        "observations",
        "only_the_owner_makes_rules",
        "Allowed rules and preferences rest on the owner's words.",
        _rules_not_by_the_owner,
    ),
    rows_check(
        "verdicts", "every_observation_has_its_verdict", "What is stored is what the gate let through.", _without_verdict
    ),
    *(no_secrets_check(table) for table in ("segments", "verdicts", "observations")),
]
