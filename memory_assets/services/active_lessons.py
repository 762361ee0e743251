"""What was learnt from corrections, of the open store: the lessons that hold, for the briefing and the file lessons.md."""

from typing import TYPE_CHECKING

import polars as pl

from memory_assets.stages.brief.lessons import Lesson, active_lessons, render_lessons
from memory_assets.stages.embed.notes import hidden_sources
from memory_assets.store.ledger import FORGOTTEN
from memory_assets.text.files import text_of

if TYPE_CHECKING:
    from memory_assets.store.store import Store

LESSONS_MD = "lessons.md"


def lessons_of(store: "Store") -> list[Lesson]:
    """Returns the lessons of the store's owner that hold."""
    found = store.tables.read("lessons")
    if found.is_empty():
        return []
    hidden = hidden_sources(store.ledger.events([FORGOTTEN])) | _replaced(store, found)
    return active_lessons(found, store.settings.owner, hidden)


def lessons_are_behind(store: "Store") -> bool:
    """Returns whether lessons.md, and so the briefing, tells other lessons than those that hold."""
    return text_of(store.workspace / LESSONS_MD) != render_lessons(lessons_of(store))


def _replaced(store: "Store", lessons: pl.DataFrame) -> frozenset[str]:
    """Returns the messages of lessons whose memory was replaced by another one."""
    gone = store.tables.read("memories", columns=["state", "observation_ids"]).filter(pl.col("state") == "superseded")
    ids = gone["observation_ids"].explode().drop_nulls()
    days = [day.isoformat() for day in lessons["day"].unique()]
    seen = store.tables.read("observations", days, columns=["id", "message_ids"]).filter(pl.col("id").is_in(ids.implode()))
    return frozenset(seen["message_ids"].explode().drop_nulls())
