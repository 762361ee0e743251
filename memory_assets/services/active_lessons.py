"""Reads the lessons that apply, learnt from the owner's corrections, for the briefing and lessons.md."""

import polars as pl

from memory_assets.stages.brief.lessons import Lesson, active_lessons
from memory_assets.stages.embed.notes import hidden_sources
from memory_assets.store.ledger import FORGOTTEN
from memory_assets.store.store import Store

LESSONS_MD = "lessons.md"


def lessons_of(store: Store) -> list[Lesson]:
    """Returns the lessons of the store's owner that apply."""
    found = store.tables.read("lessons")
    if found.is_empty():
        return []
    hidden = hidden_sources(store.ledger.events([FORGOTTEN])) | _replaced(store, found)
    return active_lessons(found, store.settings.owner, hidden)


def _replaced(store: Store, lessons: pl.DataFrame) -> frozenset[str]:
    """Returns the messages of lessons whose memory was superseded."""
    superseded = store.tables.scan("memories").filter(pl.col("state") == "superseded").select("observation_ids").collect()
    ids = superseded["observation_ids"].explode().drop_nulls()
    days = [day.isoformat() for day in lessons["day"].unique()]
    observed = store.tables.scan("observations", days).filter(pl.col("id").is_in(ids.implode())).select("message_ids")
    return frozenset(observed.collect()["message_ids"].explode().drop_nulls())
