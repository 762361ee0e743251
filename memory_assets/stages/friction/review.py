"""Renders recurring problems for REVIEW.md: a section for each day, with target, size and evidence
below each item.

    ## Friction Fixes (auto-detected 2026-02-22) - [ ] `f-20260222-001` **Use `uv`, never `pip`.** —
    _3 of 20 sessions, 3 minutes each: severity 9_
      Target: `/home/mira/code/shop/AGENTS.md`, Hard Rules (approved, it becomes a patch file)
      Evidence: sessions of 2026-02-18, 2026-02-20, 2026-02-21

The lines below an item are rewritten each time; what a person writes among them stays. They do not
name the item, so deleting its line alone rejects it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import MEMORY_MD
from memory_assets.text.words import counted

HEADING = "Friction Fixes (auto-detected {day})"
HEADINGS = re.compile(r"Friction Fixes \(auto-detected \d{4}-\d{2}-\d{2}\)")
DETAIL = re.compile(r"^\s+(?:Target: `|Evidence: sessions of )")
MOST_DAYS = 7


@dataclass(frozen=True)
class FrictionItem:
    """What REVIEW.md shows around the item of a recurring problem."""

    heading: str
    why: str
    details: tuple[str, ...]


def show_frictions(
    frictions: pl.DataFrame, days: Mapping[str, date], home_of: Callable[[Row], str]
) -> dict[str, FrictionItem]:
    """Returns the review item of each recurring problem by its id; `days` are the local days of
    sessions.

    `home_of` gives the file of entries for a new line.
    """
    return {
        row["proposal_id"]: _item(row, days, home_of) for row in frictions.iter_rows(named=True)
    }


def _item(row: Row, days: Mapping[str, date], home_of: Callable[[Row], str]) -> FrictionItem:
    each = counted(round(row["minutes"]), "minute")
    sessions = f"{row['session_count']} of {row['week_session_count']} sessions"
    why = f"{sessions}, {each} each: severity {row['severity']:.0f}"
    if row["text"] == row["new"] and len(row["title"]) < 100:
        why = f"{row['title']}: {why}"
    target = row["target"]
    patched = "" if target == MEMORY_MD else " (approved, it becomes a patch file)"
    if target == MEMORY_MD:
        target = home_of(row)
    section = f", {row['section']}" if row["section"] else ""
    details = [f"  Target: `{target}`{section}{patched}"]
    if row["kind"] == "broken_rule":
        details += [f"  Adds: `{line}`" for line in row["new"].splitlines() if line]
    seen = {f"{days[id]}" for id in row["session_ids"] if id in days}
    shown = ", ".join(sorted(seen)[:MOST_DAYS]) or f"{row['event_on']}"
    details.append(f"  Evidence: sessions of {shown}")
    heading = HEADING.format(day=row["day"])
    return FrictionItem(heading, why.replace("`", ""), tuple(details))
