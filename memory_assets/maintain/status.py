"""How the store stands at a glance: what is in it, what waits, how old it is, and where its files lie.

Takes an open store, reads manifests and a few small columns, runs nothing.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from memory_assets.protocols import Tables

if TYPE_CHECKING:
    from memory_assets.store import Store

COUNTED = ("sessions", "messages", "observations", "memories", "proposals")


@dataclass(frozen=True)
class Status:
    """The store at a glance."""

    store: Path
    is_sample: bool
    rows: dict[str, int]
    """Rows of the tables that people ask about."""
    memories: dict[str, int]
    """Memories by state."""
    pending: int
    open_windows: int
    first_day: str | None
    last_day: str | None
    updated_at: datetime | None
    """When the memories were last made."""
    memory_md: Path
    review_md: Path
    briefing_md: Path

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been taken in yet."""
        return not any(self.rows.values())


def status_of(store: "Store", *, is_sample: bool = False) -> Status:
    """Returns how the store stands."""
    tables = store.tables
    days = [day for day, info in tables.parts("observations").items() if info.rows]
    written = [info.written_at for info in tables.parts("memories").values()]
    return Status(
        store=store.root,
        is_sample=is_sample,
        rows={table: sum(info.rows for info in tables.parts(table).values()) for table in COUNTED},
        memories=_count(tables, "memories", "state"),
        pending=_count(tables, "decisions", "state").get("pending", 0),
        open_windows=_count(tables, "windows", "status").get("open", 0),
        first_day=min(days, default=None),
        last_day=max(days, default=None),
        updated_at=max(written, default=None),
        memory_md=store.workspace / "MEMORY.md",
        review_md=store.workspace / "REVIEW.md",
        briefing_md=store.workspace / "briefing.md",
    )


def _count(tables: Tables, table: str, column: str) -> dict[str, int]:
    frame = tables.scan(table).group_by(column).agg(pl.len().alias("count")).sort(column).collect()
    return dict(frame.iter_rows())
