"""Builds the answers of models, segments, observations, verdicts, triggers, lessons, daily logs."""

from collections.abc import Sequence
from itertools import chain
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.errors import ModelError
from memory_assets.runs.due import ACCUMULATED_TOKENS
from memory_assets.runs.inputs import input_versions, replaced_by_day
from memory_assets.runs.results import Builder, Markdown, Report, Rows, Run, per_partition
from memory_assets.runs.steps.deliver import emit
from memory_assets.runs.steps.embed import unencoded
from memory_assets.schema.frames import empty
from memory_assets.schema.progress import track
from memory_assets.schema.tables import JOBS
from memory_assets.services.forget.rows import without_forgotten
from memory_assets.services.models.model_questions import Consultant, Consultation
from memory_assets.services.models.open_models import open_model
from memory_assets.services.review.open_triage import workspace_of
from memory_assets.services.search.corpus import open_embedder
from memory_assets.stages.capture.messages import windows_of
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.deliver.events import ACCUMULATED
from memory_assets.stages.distill.daily_log import render_section, update_log
from memory_assets.stages.distill.dates.triggers import find_triggers
from memory_assets.stages.distill.day import build_day
from memory_assets.stages.distill.lessons import find_lessons
from memory_assets.stages.distill.model.answer_rows import (
    answers_by_window,
    open_work_of,
    plan_uses,
)
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.standards import plan_allowances, standards_of
from memory_assets.store.settings import AGENT
from memory_assets.store.store import Store
from memory_assets.text.files import write_atomically
from memory_assets.text.masking.redact import mask_frame
from memory_assets.text.words import counted


def observer_answers(store: Store, run: Run) -> Report:
    """Asks the configured model about the windows of the days; writes the rows of its answers.

    Without a model, writes those of stored answers, which agents gave, if they may still be used.
    """
    name = run.table.name
    model = open_model(store)
    observer = model.name if model else AGENT
    is_again = run.ask_again and model is not None
    consultation = Consultation(store, observer, any_prompt=not is_again)
    if run.ask_again and not model:
        consultation.reopen(chain.from_iterable(map(consultation.statuses, run.partitions)))
    versions = input_versions(store, run.table)
    if model:
        Consultant(consultation, model, backfill=run.ask_again).ask(run.partitions)
    memory_ids = store.tables.read("memories", columns=["id"])["id"]
    for day in track(run.partitions, JOBS[run.table.jobs[0]].title):
        has_consent = store.settings.has_consent
        rows = consultation.rows(day) if has_consent else empty(name)
        with store.lock():
            store.tables.write(name, day, mask_frame(rows), inputs=versions.get(day, "-"))
            store.ledger.append_once(plan_uses(rows, memory_ids), actor=observer)
    return Report(_costs(store.tables.read(name, run.partitions)))


def _costs(rows: pl.DataFrame) -> dict[str, object]:
    """Returns the tokens, seconds and costs of the answers, for plots over partitions."""
    if rows.is_empty():
        return {}
    totals = rows.select(pl.col("^.*_tokens$").sum(), pl.col("seconds").sum().round(1))
    sums = totals.row(0, named=True)
    priced = rows["cost_usd"].drop_nulls()
    counts = {"calls_without_price": rows.height - priced.len(), "calls": rows.height}
    return {**sums, "cost_usd": round(priced.sum(), 4), **counts}


def observations(store: Store, run: Run) -> Builder:
    """Builds segments, observations and verdicts of a day in one pass over its messages.

    A day for which the embedding model fails is built by words alone, until it is tried again.
    """
    versions = input_versions(store, run.table)
    standards = standards_of(store.settings)
    answer_store = AnswerStore(store.answers)
    allowances = plan_allowances(store.tables.read("windows"), standards.limits.most_allowed)
    replaced = replaced_by_day(store)

    def _build(day: str, embedder: LocalEmbedder | None) -> dict[str, pl.DataFrame]:
        rows = store.tables.read("observer_answers", [day])
        tables = build_day(
            windows_of(store.tables, day),
            store.tables.read("messages", [day]),
            answers=answers_by_window(rows, answer_store),
            replaced=replaced.get(day, ()),
            allowances=allowances,
            standards=standards,
            embedder=embedder,
        )
        return without_forgotten(tables, tombstones_of(store))

    def _build_anyhow(day: str) -> Rows:
        try:
            return Rows(_build(day, open_embedder(store.settings.embedding_model)))
        except ModelError as error:
            return unencoded(store, _build(day, None), versions.get(day, "-"), error)

    return _build_anyhow


def emit_accumulated(store: Store, table: str, partitions: Sequence[str]) -> Report:
    """Emits `observations.accumulated` for each day with at least `ACCUMULATED_TOKENS`."""
    columns = ["day", "tokens", "kind", "session_id"]
    rows = store.tables.read(table, partitions, columns=columns)
    days = rows.group_by("day").agg(pl.len(), pl.col("tokens").sum()).sort("day")
    for day, count, tokens in days.filter(pl.col("tokens") >= ACCUMULATED_TOKENS).iter_rows():
        figures = {"totalTokens": tokens, "observationCount": count}
        emit(store, ACCUMULATED, day.isoformat(), "", **figures)
    facts = rows.filter(kind="fact").height
    counts = {"facts": facts, "sessions": rows["session_id"].n_unique()}
    return Report({**counts, "observation_tokens": int(rows["tokens"].sum())})


@per_partition
def triggers(store: Store, day: str) -> pl.DataFrame:
    """Resolves the future dates that a day's messages and facts name."""
    tables = store.tables
    settings = store.settings
    messages = tables.read("messages", [day])
    is_cited = pl.col("id").is_in(messages["resource_id"].unique().to_list())
    resources = tables.scan("resources").filter(is_cited)
    captured_at = dict(resources.select("id", "created_at").collect().iter_rows())
    observed = tables.read("observations", [day])
    windows = tables.read("windows")
    order = None if settings.date_order == "auto" else settings.date_order
    return find_triggers(messages, observed, windows, captured_at, settings.zone, order)


@per_partition
def lessons(store: Store, day: str) -> pl.DataFrame:
    """Finds the owner's corrections and rules in a day's messages."""
    tables = store.tables
    return find_lessons(tables.read("messages", [day]), windows_of(tables, day))


def daily_log(store: Store, run: Run) -> Report:
    """Updates the logs of the days and commits those that changed."""
    with store.lock():
        workspace = workspace_of(store)
        windows = {day: _logged_windows(store, day) for day in run.partitions}
        changed = [f"memory/{day}.md" for day in windows if _write_log(store, day, windows[day])]
        workspace.commit(f"Log {counted(len(changed), 'day')}", changed)
    by_day = {
        day: {"windows": rows.height, "preview": _outline(rows, store.settings.zone)}
        for day, rows in windows.items()
        if rows.height
    }
    return Report({"days_changed": len(changed)}, by_partition=by_day)


def _logged_windows(store: Store, day: str) -> pl.DataFrame:
    """Returns the windows of the day that its log has a section for, with the number of facts."""
    facts = store.tables.read("observations", [day], columns=["window_id"])
    counts = facts.group_by("window_id").agg(facts=pl.len())
    is_logged = (pl.col("status") == "observed") | pl.col("facts").is_not_null()
    windows = windows_of(store.tables, day).join(counts, on="window_id", how="left")
    return windows.filter(is_logged).sort("ended_at", "window_id")


def _outline(windows: pl.DataFrame, zone: ZoneInfo) -> Markdown:
    """Returns a table of the log's sections: ids, times in the zone, facts; no words of them."""
    lines = ["| window | session | from | to | facts |", "|---|---|---|---|---:|"]
    columns = ("window_id", "session_id", "started_at", "ended_at", "facts")
    for window, session, started_at, ended_at, facts in windows.select(columns).iter_rows():
        times = [f"{at.astimezone(zone):%H:%M}" if at else "" for at in (started_at, ended_at)]
        lines.append(f"| {window} | {session} | {' | '.join(times)} | {facts or 0} |")
    return Markdown("\n".join(lines))


def _write_log(store: Store, day: str, windows: pl.DataFrame) -> bool:
    """Updates the day's log and returns whether that changed it."""
    path = store.workspace / "memory" / f"{day}.md"
    written = path.read_bytes().decode("utf-8", "surrogateescape") if path.is_file() else ""
    segments = store.tables.read("segments", [day])
    facts = store.tables.read("observations", [day])
    if windows.is_empty() and not written:
        return False
    session_rows = store.tables.read("sessions", [day]).to_dicts()
    sessions = {row["session_id"]: row for row in session_rows}
    last_windows = dict(windows.select("session_id", "window_id").iter_rows())
    open_work = open_work_of(store.tables.read("observer_answers", [day]))
    sections = [
        render_section(
            window,
            segments,
            facts,
            session=sessions.get(window["session_id"]),
            is_handoff=last_windows[window["session_id"]] == window["window_id"],
            open_work=open_work.get(window["window_id"], ("", "")),
            zone=store.settings.zone,
        )
        for window in windows.iter_rows(named=True)
    ]
    text = update_log(written, sections, title=day)
    if text == written:
        return False
    write_atomically(path, text.encode("utf-8", "surrogateescape"))
    return True


BUILDERS = (observer_answers, observations, triggers, lessons, daily_log)
"""The functions that build the tables of their names (`runs.builders`)."""
