"""Builds frictions: problems that recur in the seven days that end with a day."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import cached_property

import polars as pl

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.runs.inputs import observations_until
from memory_assets.runs.materialise import Builder, Report, Rows, Run
from memory_assets.schema.frames import empty
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.friction.detect import detect
from memory_assets.stages.friction.number import number, rows_of
from memory_assets.stages.friction.stale import MemoryLine, Statement
from memory_assets.stages.friction.week import DAYS, SessionInfo, Week, read_week
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage.decisions import APPROVED, REJECTED
from memory_assets.stages.triage.memory_md import read_entries
from memory_assets.store.store import Store


def friction(run: Run) -> Builder:
    """Finds the frictions of a day and numbers them in the ledger."""
    finder = FrictionFinder(run.store)
    return lambda day: Rows(finder.find(day), {"skipped": dict(finder.skipped)})


def worst(store: Store, table: str, partitions: Sequence[str]) -> Report:
    """Returns the highest severity of the days."""
    severity = store.tables.read(table, partitions)["severity"].max()
    return Report({"worst_severity": float(severity or 0.0)})  # pyright: ignore[reportArgumentType]


class FrictionFinder:
    """Finds the frictions of days, one after another; the embedder is loaded when the first day needs it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.skipped: dict[str, str] = {}
        """Days with too few observations, and how many they had."""

    def find(self, day: str) -> pl.DataFrame:
        """Returns the frictions that belong to the day, their numbers written to the ledger first."""
        store, last = self._store, date.fromisoformat(day)
        count, least = observations_until(store, day), store.settings.friction_observations
        if count < least:
            self.skipped[day] = f"{count} observations; frictions are looked for from {least} on"
            return empty("friction")
        days = [(last - timedelta(days=back)).isoformat() for back in range(DAYS)]
        week = read_week(store.tables.read("messages", days), store.tables.read("sessions", days))
        lines, written = self._lines(last)
        observations = _facts(store, days)
        observed = _statements(observations, week)
        findings = detect(week, lines, observed, self._embedder, owner=store.settings.owner)
        numbered, new = number(last, findings, store.ledger.events(), store.settings.zone)
        for one in new:
            store.ledger.append(NUMBERED, one.proposal_id, one.payload, actor="friction")
        of_message = {message: id for id, ids in observations.select("id", "message_ids").iter_rows() for message in ids}
        rows = rows_of(
            last,
            numbered,
            session_count=len(week.sessions),
            entries=written,
            observed=of_message,
            zone=store.settings.zone,
        )
        return pl.concat([rows, self._decided(day, rows)]).sort("proposal_id")

    def _decided(self, day: str, rows: pl.DataFrame) -> pl.DataFrame:
        """Returns the frictions of the day that a person decided on and that are not found any more, perhaps because of it."""
        decided = {event.target for event in self._store.ledger.events([APPROVED, REJECTED])}
        before = self._store.tables.read("friction", [day])
        return before.filter(pl.col("proposal_id").is_in(list(decided - set(rows["proposal_id"]))))

    @cached_property
    def _embedder(self) -> LocalEmbedder:
        return LocalEmbedder(self._store.settings.embedding_model)

    def _lines(self, day: date) -> tuple[list[MemoryLine], Mapping[str, str]]:
        """Returns the dated lines of MEMORY.md as it stood when the day ended, and how each is written, by its text.

        So a day finds the same whenever it is looked at: what was written since must not hide what led to it.
        """
        ended = datetime.combine(day + timedelta(days=1), time(), self._store.settings.zone)
        committed = GitWorkspace(self._store.workspace).as_of(MEMORY_MD, ended)
        content = self._store.memory_md() if committed is None else committed.decode("utf-8", "replace")
        raw = [line.rstrip("\r") for line in content.split("\n")]
        entries = read_entries(content)
        return [MemoryLine(one.on, one.section, one.text) for one in entries], {
            one.text: raw[one.number - 1] for one in entries
        }


def _facts(store: Store, days: list[str]) -> pl.DataFrame:
    found = store.tables.read("observations", days)
    return found.filter(
        (pl.col("kind") == "fact") & (pl.col("gate") == "allow") & pl.col("author").is_in(["owner", "assistant"])
    )


def _statements(observations: pl.DataFrame, week: Week) -> list[Statement]:
    return [
        Statement(
            row["text"],
            week.sessions.get(row["session_id"])
            or SessionInfo(row["session_id"], row["project"], row["folder"], row["person"]),
            tuple(row["message_ids"]),
            row["event_at"],
        )
        for row in observations.iter_rows(named=True)
    ]
