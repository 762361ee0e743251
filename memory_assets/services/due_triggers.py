"""What comes up, of the open store: the triggers of today and tomorrow for the briefing, or of any day for who asks.

The daily check. The schedule `briefing_daily` renders the briefing at 00:05 in the owner's zone, and `memory ingest` does
whenever what comes up is not what the briefing says; so a day that begins needs no new transcript to be told of.
"""

from datetime import date
from typing import TYPE_CHECKING

import polars as pl

from memory_assets.stages.brief.due import Trigger, find_due
from memory_assets.stages.embed.notes import hidden_sources
from memory_assets.store.ledger import FORGOTTEN

if TYPE_CHECKING:
    from memory_assets.store.store import Store


def coming_up(store: "Store", memories: pl.DataFrame, *, on: date | None = None, is_all: bool = False) -> tuple[Trigger, ...]:
    """Returns what comes up on the day, today by default, or the day after it; with `is_all` everything that is ahead."""
    today = on or store.settings.today()
    days = [day for day, info in store.tables.parts("triggers").items() if info.rows]
    if not days:
        return ()
    hidden = hidden_sources(store.ledger.events([FORGOTTEN]))
    found = store.tables.read("triggers", days)
    return find_due(found, memories, today=today, is_all=is_all, hidden=hidden)
