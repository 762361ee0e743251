"""Reads what the briefing shows beside the memories: the lessons that apply, and the triggers that are due.

The schedule `briefing_daily` renders the briefing at 00:05 in the owner's zone, and `memory ingest` does so when the due
triggers differ from those in the briefing, so a new day needs no new transcript to show them.
"""

from datetime import date

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.stages.brief.due import Trigger, find_due
from memory_assets.stages.brief.lessons import active_lessons
from memory_assets.stages.embed.notes import hidden_sources
from memory_assets.store.ledger import FORGOTTEN
from memory_assets.store.store import Store

LESSONS_MD = "lessons.md"


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
