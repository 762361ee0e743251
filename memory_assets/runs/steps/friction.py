"""Builds frictions: problems that recur in the seven days that end with a day."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from functools import partial

import polars as pl

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.runs.inputs import friction_days, friction_version, observed_until
from memory_assets.runs.results import Builder, Report, Rows, Run
from memory_assets.schema.frames import empty
from memory_assets.schema.protocols import Embedder
from memory_assets.schema.records import MEMORY_MD
from memory_assets.schema.tables import TABLES
from memory_assets.services.search.corpus import open_embedder
from memory_assets.stages.friction.detect import RecurringProblem, detect, follow, number, rows_of
from memory_assets.stages.friction.stale import MemoryLine, Statement
from memory_assets.stages.friction.week import SessionInfo, Week, read_week
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage.decisions import APPROVED, REJECTED
from memory_assets.stages.triage.memory_md import Entry, read_entries
from memory_assets.store.store import Store


def friction(store: Store, _: Run) -> Builder:
    """Finds the frictions of a day and numbers them in the ledger."""
    least = store.settings.friction_observations
    # Loaded when the first day needs it.
    embedder = partial(open_embedder, store.settings.embedding_model)
    skipped: dict[str, str] = {}

    def build(day: str) -> Rows:
        count = observed_until(store, day)
        if count >= least:
            rows = find_frictions(store, day, embedder())
            version = friction_version(store, TABLES["friction"], day, is_found=not rows.is_empty())
            return Rows(rows, {"skipped": dict(skipped)}, version=version)
        skipped[day] = (
            f"{count} observations and segments; frictions are looked for from {least} on"
        )
        return Rows(empty("friction"), {"skipped": dict(skipped)})

    return build


def worst(store: Store, table: str, partitions: Sequence[str]) -> Report:
    """Returns the highest severity of the days."""
    severity = store.tables.read(table, partitions)["severity"].max()
    return Report({"worst_severity": float(severity or 0.0)})  # pyright: ignore[reportArgumentType]


def find_frictions(store: Store, day: str, embedder: Embedder) -> pl.DataFrame:
    """Returns the frictions of the day, after their numbers are written to the ledger."""
    last = date.fromisoformat(day)
    zone = store.settings.zone
    entries, lines = _entries_at_end_of(store, last)
    dated = [MemoryLine(entry.on, entry.section, entry.text) for entry in entries]

    def look_at(days: Sequence[str]) -> tuple[Sequence[RecurringProblem], Week, pl.DataFrame]:
        week = read_week(store.tables.read("messages", days), store.tables.read("sessions", days))
        facts = _facts(store, days)
        statements = _statements(facts, week)
        return detect(week, dated, statements, embedder, owner=store.settings.owner), week, facts

    days = friction_days(day)
    findings, week, facts = look_at(days)
    numbered, new = number(last, findings, store.ledger.events(), zone, first=store.first_number)
    for id, payload in new:
        store.ledger.append(NUMBERED, id, payload, actor="friction")
    written = store.tables.parts("messages", friction_days(day, is_found=True))
    next_days = [part for part, info in written.items() if info.rows and part > day]
    if numbered and next_days:
        later, week, facts = look_at([*days, *next_days])
        numbered = follow(numbered, later)
    ids = facts.select("id", "message_ids").explode("message_ids").iter_rows()
    observed = {message: id for id, message in ids if message is not None}
    count = len(week.sessions)
    rows = rows_of(last, numbered, session_count=count, entries=lines, observed=observed, zone=zone)
    return pl.concat([rows, _decided(store, day, rows)]).sort("proposal_id")


def _facts(store: Store, days: Sequence[str]) -> pl.DataFrame:
    is_said = pl.col("author").is_in(["owner", "assistant"])
    return store.tables.read("observations", days).filter(is_said, kind="fact", gate="allow")


def _decided(store: Store, day: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the frictions of the day that a person decided on and that are not found any more,
    perhaps because of it.
    """
    decided = {event.target for event in store.ledger.events([APPROVED, REJECTED])}
    others = decided.difference(rows["proposal_id"])
    return store.tables.read("friction", [day]).filter(pl.col("proposal_id").is_in(list(others)))


def _entries_at_end_of(store: Store, day: date) -> tuple[Sequence[Entry], dict[str, str]]:
    """Returns the entries of MEMORY.md at the end of the day, and the raw line of each by its text.

    So a day gives the same frictions whenever it is built: later lines must not hide what led to
    them.
    """
    end = datetime.combine(day + timedelta(days=1), time(), store.settings.zone)
    committed = GitWorkspace(store.workspace).as_of(MEMORY_MD, end)
    content = store.memory_md() if committed is None else committed.decode("utf-8", "replace")
    raw = [line.rstrip("\r") for line in content.split("\n")]
    entries = read_entries(content)
    return entries, {entry.text: raw[entry.number - 1] for entry in entries}


def _statements(observations: pl.DataFrame, week: Week) -> list[Statement]:
    statements = []
    for row in observations.iter_rows(named=True):
        session = week.sessions.get(row["session_id"]) or SessionInfo(
            row["session_id"], row["project"], row["folder"], row["person"]
        )
        ids = tuple(row["message_ids"])
        statements.append(Statement(row["text"], session, ids, row["event_at"]))
    return statements


BUILDERS = (friction,)
"""The functions that build the tables of their names (`runs.builders`)."""
