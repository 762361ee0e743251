"""Builds frictions: problems that recur in the seven days that end with a day."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

import polars as pl

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import ModelError
from memory_assets.runs.inputs import (
    counted_rules,
    friction_days,
    friction_version,
    session_count,
)
from memory_assets.runs.results import Builder, Report, Rows, Run
from memory_assets.runs.steps.embed import unencoded
from memory_assets.schema.frames import empty
from memory_assets.schema.protocols import Embedder
from memory_assets.schema.records import MEMORY_MD
from memory_assets.schema.tables import TABLES
from memory_assets.services.health.visible_rules import exposure_of, rules_in
from memory_assets.services.search.corpus import open_embedder
from memory_assets.stages.friction.broken_rules import find_broken_rules
from memory_assets.stages.friction.detect import RecurringProblem, detect, follow, number, rows_of
from memory_assets.stages.friction.known_rules import KnownRule, judge_day
from memory_assets.stages.friction.week import Week, read_week
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage.decisions import APPROVED, REJECTED
from memory_assets.stages.triage.memory_md import read_entries
from memory_assets.store.store import Store


def obedience(store: Store, _: Run) -> Builder:
    """Judges for each session of a day which rules it kept and which it broke."""
    rules = rules_in(store)

    def build(day: str) -> pl.DataFrame:
        """Returns the verdicts of the day."""
        if not rules:
            return empty("obedience")
        messages = store.tables.read("messages", [day])
        sessions = store.tables.read("sessions", [day])
        harnesses = dict(sessions.select("session_id", "harness").iter_rows())
        exposure = exposure_of(store, messages)
        week = read_week(messages, sessions)
        return judge_day(date.fromisoformat(day), rules, week, harnesses, exposure)

    return build


def friction(store: Store, _: Run) -> Builder:
    """Finds the frictions of a day and numbers them in the ledger."""
    least = store.settings.friction_sessions
    # Loads the model when the first day needs it.
    load_embedder = partial(open_embedder, store.settings.embedding_model)
    rules = rules_in(store)
    counted = counted_rules(store, rules)
    skipped: dict[str, str] = {}

    def build(day: str) -> Rows:
        count = session_count(store, day)
        if count < least:
            skipped[day] = f"{count} sessions; frictions are looked for from {least} on"
            return Rows(empty("friction"), {"skipped": dict(skipped)})
        version_of = partial(friction_version, store, TABLES["friction"], day, counted)
        try:
            rows = find_frictions(store, day, load_embedder(), rules)
        except ModelError as error:
            skipped[day] = str(error)
            kept_rows = store.tables.read("friction", [day])
            version = version_of(has_friction=not kept_rows.is_empty())
            return unencoded(store, kept_rows, version, error)
        version = version_of(has_friction=not rows.is_empty())
        return Rows(rows, {"skipped": dict(skipped)}, version=version)

    return build


def worst_severity(store: Store, table: str, partitions: Sequence[str]) -> Report:
    """Returns the highest severity of the days."""
    severity = store.tables.read(table, partitions)["severity"].max()
    return Report({"worst_severity": float(severity or 0.0)})  # pyright: ignore[reportArgumentType]


def find_frictions(
    store: Store, day: str, embedder: Embedder, rules: Sequence[KnownRule]
) -> pl.DataFrame:
    """Returns the frictions of the day, after it has noted their numbers in the ledger."""
    last = date.fromisoformat(day)
    zone = store.settings.zone
    lines = _lines_at_end_of(store, last)

    def detect_in(days: Sequence[str]) -> tuple[Sequence[RecurringProblem], Week, pl.DataFrame]:
        week = read_week(store.tables.read("messages", days), store.tables.read("sessions", days))
        judged = store.tables.read("obedience", days)
        broken_rules = find_broken_rules(judged, rules, week.sessions)
        owner = store.settings.owner
        problems = detect(week, lines, embedder, owner=owner, broken_rules=broken_rules)
        return problems, week, _facts(store, days)

    days = friction_days(day)
    findings, week, facts = detect_in(days)
    numbered, new_numbers = number(
        last, findings, store.ledger.events(), zone, first=store.first_number
    )
    for id, payload in new_numbers:
        store.ledger.append(NUMBERED, id, payload, actor="friction")
    written = store.tables.parts("messages", friction_days(day, has_friction=True))
    next_days = [part for part, info in written.items() if info.rows and part > day]
    if numbered and next_days:
        # Counts what happened again on later days; finds no new problems there.
        later, week, facts = detect_in([*days, *next_days])
        numbered = follow(numbered, later)
    ids = facts.select("id", "message_ids").explode("message_ids").iter_rows()
    observed = {message: id for id, message in ids if message is not None}
    count = len(week.sessions)
    rows = rows_of(last, numbered, session_count=count, observed=observed, zone=zone)
    return pl.concat([rows, _decided(store, day, rows)]).sort("proposal_id")


def _facts(store: Store, days: Sequence[str]) -> pl.DataFrame:
    """Returns the allowed facts that the owner or the assistant said."""
    is_said = pl.col("author").is_in(["owner", "assistant"])
    return store.tables.read("observations", days).filter(is_said, kind="fact", gate="allow")


def _decided(store: Store, day: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the written frictions of the day that a person decided and that `rows` lacks.

    The decision may be why they are not found any more.
    """
    decided = {event.target for event in store.ledger.events([APPROVED, REJECTED])}
    others = decided.difference(rows["proposal_id"])
    return store.tables.read("friction", [day]).filter(pl.col("proposal_id").is_in(list(others)))


def _lines_at_end_of(store: Store, day: date) -> list[tuple[str, datetime]]:
    """Returns the entries of MEMORY.md at the end of the day, each with its own day.

    Later lines must not hide the friction that led to them. So a day has the same frictions
    whenever it is built.
    """
    end = datetime.combine(day + timedelta(days=1), time(), store.settings.zone)
    committed = GitWorkspace(store.workspace).as_of(MEMORY_MD, end)
    content = store.memory_md() if committed is None else committed.decode("utf-8", "replace")
    entries = read_entries(content)
    return [(entry.text, datetime.combine(entry.on, time(), UTC)) for entry in entries]


BUILDERS = (obedience, friction)
"""The functions that build the tables of their names (`runs.builders`)."""
