"""Real days, one after the other: each is reflected on and triaged in the morning after it, and somebody reviews it as people do.

The memories of a day are those that were known at its end, so nothing is decided by what came later.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path

import polars as pl

from memory_assets.runs.steps.condensing import Past
from memory_assets.runs.steps.reflect import claims_of, propose_day
from memory_assets.services.review.open_triage import triage_of
from memory_assets.stages.triage.human import REFUSED
from memory_assets.stages.triage.run import read_settled_review
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import frame_of_part, row

ACTIONS = ("approve", "strike", "edit", "ignore")
"""What people do, in turn; of the struck ones some lines are deleted."""
LEFT_REFUSED = "leave refused"
"""Ignoring one of the refusals that are shown to be confirmed or overruled."""
MORNING = time(6, 30)


@dataclass
class Days:
    """A copy of a store with everything learnt and nothing proposed yet, and a reviewer who cycles through what people do."""

    root: Path
    zone: str
    acted: dict[str, str] = field(default_factory=dict)

    def at(self, moment: datetime) -> Store:
        """The store, with the clock at that moment."""
        return open_store(read_settings(data=self.root, now=moment, timezone=self.zone))

    def busiest(self, count: int) -> list[date]:
        """The days with most observations, in order."""
        by_day = (
            self.at(datetime(2026, 1, 1))
            .tables.read("observations", columns=["day"])
            .group_by("day")
            .len()
        )
        return sorted(by_day.sort("len", "day", descending=True).head(count)["day"])

    def run(self, days: list[date]) -> pl.DataFrame:
        """Lives the days and the week after them; returns the decisions."""
        past = Past(self.at(datetime(2026, 1, 1)))
        for day in days:
            store = self.at(datetime.combine(day + timedelta(days=1), MORNING))
            memories = past.memories(day)
            store.tables.write("memories", "all", memories)
            store.tables.write(
                "proposals",
                day.isoformat(),
                propose_day(store, past, day.isoformat(), claims_of(store)),
            )
            triage(store)
            self._review(store)
            triage(self.at(datetime.combine(day + timedelta(days=1), MORNING) + timedelta(hours=3)))
        self._work_on(days[-1])
        for days_later in (4, 9):
            last = self.at(datetime.combine(days[-1] + timedelta(days=days_later), MORNING))
            triage(last)
        return last.tables.read("decisions")

    def _work_on(self, last: date) -> None:
        """Lets each project have a session on each day of the week after the last day."""
        tables = self.at(datetime(2026, 1, 1)).tables
        projects = tables.read("proposals")["project"].unique().sort()
        for number in range(1, 10):
            day = last + timedelta(days=number)
            rows = [
                row("sessions", session_id=f"{name} {day}", day=day, project=name)
                for name in projects
            ]
            tables.write(
                "sessions", day.isoformat(), frame_of_part("sessions", day.isoformat(), *rows)
            )

    def _review(self, store: Store) -> None:
        """Ticks, strikes, rewords and leaves what waits, in turn, in REVIEW.md."""
        path = store.workspace / "REVIEW.md"
        path.write_text("\n".join(self._lines(path.read_text().splitlines())) + "\n")

    def _lines(self, lines: list[str]) -> Iterator[str]:
        is_refused = False
        for line in lines:
            if line.startswith("## "):
                is_refused = line == f"## {REFUSED}"
            proposal = line.split("`")[1] if line.startswith("- [ ] `p-") else None
            if proposal is None or proposal in self.acted:
                yield line
                continue
            action = ACTIONS[len(self.acted) % len(ACTIONS)]
            self.acted[proposal] = LEFT_REFUSED if is_refused and action == "ignore" else action
            if action == "strike" and proposal.endswith("1"):
                continue
            box = {"approve": "[x]", "edit": "[x]", "strike": "[-]", "ignore": "[ ]"}[action]
            said = line.replace("**", "**(in short) ", 1) if action == "edit" else line
            yield said.replace("[ ]", box, 1)


def copy_learnt(source: Path, target: Path) -> Path:
    """Copies a store without what triage made of it: proposals, decisions, the workspace, and their lines of the ledger."""
    shutil.copytree(
        source,
        target,
        ignore=shutil.ignore_patterns("dagster", "index", "workspace", "built", "status.txt"),
    )
    for table in ("proposals", "decisions", "amendments", "entries", "trust", "model_reviews"):
        shutil.rmtree(target / "tables" / table, ignore_errors=True)
    for path in (target / "ledger").glob("*.jsonl"):
        lines = [
            line
            for line in path.read_text().splitlines()
            if not is_of_triage(json.loads(line)["kind"])
        ]
        path.write_text("".join(f"{line}\n" for line in lines))
    return target


def is_of_triage(kind: str) -> bool:
    """Whether an event tells of a proposal or an entry."""
    return kind.startswith(("proposal.", "entry."))


def triage(store: Store) -> None:
    """One triage, without Dagster around it."""
    steps = triage_of(store)
    steps.apply_review_edits(read_settled_review(steps.workspace, wait=lambda _: None))
    store.tables.write("amendments", "all", steps.amend())
    store.tables.write("decisions", "all", steps.decide_all())
    steps.write_memory()
    store.tables.write("entries", "all", steps.list_entries())
    steps.write_review()
