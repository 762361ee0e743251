"""Finds the triggers that are due: those of today and tomorrow for the briefing, or of any day on request.

The schedule `briefing_daily` renders the briefing at 00:05 in the owner's zone, and `memory ingest` does so when the due
triggers differ from those in the briefing, so a new day needs no new transcript to show them.
"""

from datetime import date

import polars as pl

from memory_assets.stages.brief.due import Trigger, find_due
from memory_assets.stages.embed.notes import hidden_sources
from memory_assets.store.ledger import FORGOTTEN
from memory_assets.store.store import Store


def due_triggers(store: Store, memories: pl.DataFrame, *, on: date | None = None, is_all: bool = False) -> tuple[Trigger, ...]:
    """Returns the triggers of the day (by default today) and the day after it; with `is_all`, all later ones, too."""
    days = [day for day, info in store.tables.parts("triggers").items() if info.rows]
    if not days:
        return ()
    hidden = hidden_sources(store.ledger.events([FORGOTTEN]))
    found, today = store.tables.read("triggers", days), on or store.settings.today()
    return find_due(found, memories, today=today, is_all=is_all, hidden=hidden)
