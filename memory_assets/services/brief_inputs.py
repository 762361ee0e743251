"""Reads what the briefing shows beside the memories: lessons that apply, triggers that are due, and work in progress.

The schedule `briefing_daily` renders the briefing at 00:05 in the owner's zone, and `memory ingest` does so when the due
triggers differ from those in the briefing, so a new day needs no new transcript to show them.
"""

from dataclasses import dataclass
from datetime import date

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.stages.brief.due import Trigger, find_due
from memory_assets.stages.brief.lessons import active_lessons
from memory_assets.stages.distill.model.answer_rows import OPEN_WORK, open_work_of
from memory_assets.stages.embed.notes import hidden_sources
from memory_assets.store.ledger import FORGOTTEN
from memory_assets.store.store import Store

LESSONS_MD = "lessons.md"


@dataclass(frozen=True)
class OpenWork:
    """What was in progress at the end of a session, according to the model that observed it."""

    session_id: str
    project: str
    day: date
    task: str
    next_step: str


def open_work(store: Store) -> tuple[OpenWork, ...]:
    """Returns what was open at the end of the last observed session of each of the owner's projects, the latest first."""
    answered = store.tables.read("observer_answers", columns=["window_id", "ordinal", "answer", *OPEN_WORK])
    if answered.is_empty():
        return ()
    found, latest = open_work_of(answered), dict[str, OpenWork]()
    observed = store.tables.read("windows").filter(status="observed", person=store.settings.owner).drop_nulls("day")
    for row in observed.sort("ended_at", "window_id", descending=True).iter_rows(named=True):
        work = OpenWork(row["session_id"], row["project"], row["day"], *found.get(row["window_id"], ("", "")))
        latest.setdefault(row["project"], work)
    return tuple(work for work in latest.values() if work.task)


def lessons_of(store: Store) -> list[Row]:
    """Returns the lessons of the store's owner that apply."""
    found = store.tables.read("lessons")
    if found.is_empty():
        return []
    return active_lessons(found, store.settings.owner, _hidden(store) | _replaced(store, found))


def _replaced(store: Store, lessons: pl.DataFrame) -> frozenset[str]:
    """Returns the messages of lessons whose memory was superseded."""
    superseded = store.tables.scan("memories").filter(pl.col("state") == "superseded").select("observation_ids").collect()
    ids = superseded["observation_ids"].explode().drop_nulls()
    days = [day.isoformat() for day in lessons["day"].unique()]
    observed = store.tables.scan("observations", days).filter(pl.col("id").is_in(ids.implode())).select("message_ids")
    return frozenset(observed.collect()["message_ids"].explode().drop_nulls())


def due_triggers(store: Store, memories: pl.DataFrame, *, on: date | None = None, is_all: bool = False) -> tuple[Trigger, ...]:
    """Returns the triggers of the day (by default today) and the day after it; with `is_all`, all later ones, too."""
    days = [day for day, info in store.tables.parts("triggers").items() if info.rows]
    if not days:
        return ()
    found, today = store.tables.read("triggers", days), on or store.settings.today()
    return find_due(found, memories, today=today, is_all=is_all, hidden=_hidden(store))


def _hidden(store: Store) -> frozenset[str]:
    """Returns the messages with forgotten content."""
    return hidden_sources(store.ledger.events([FORGOTTEN]))
