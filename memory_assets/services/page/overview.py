"""What is known of a project and of the owner, in groups that say what they count."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import polars as pl

from memory_assets.services.search.brief_inputs import OpenWork, open_work
from memory_assets.services.search.named import gone_marks
from memory_assets.stages.embed.present import read_present
from memory_assets.store.store import Store

COLUMNS = (
    "id kind state text category priority scope project confidence merged_count first_event_at "
    "event_at superseded_by"
).split()
GROUPS = {
    "Rules": ("rules-conventions",),
    "Preferences and people": ("preferences", "people-relationships", "health", "hobbies"),
    "Decisions and facts": ("system-architecture", "operations", "memory-system", "projects"),
}
"""Title → categories; each active fact is in one group."""

SHOWN = 6
"""Memories of a group on the first page; the list of memories has all."""

LATELY = timedelta(days=7)
"""What was learnt this week."""

RECENTLY = timedelta(days=28)
"""How far back problems are shown, and what was replaced."""

PAGE_ROWS = 50


@dataclass(frozen=True)
class MemoryRow:
    """A memory of the table, with what it names that is gone."""

    id: str
    kind: str
    state: str
    text: str
    category: str
    priority: str
    scope: str
    project: str
    confidence: float
    merged_count: int
    first_event_at: datetime
    event_at: datetime
    superseded_by: str | None
    newer: str | None
    gone_mark: str = ""


@dataclass(frozen=True)
class MemoryGroup:
    """Memories of one kind: what is counted, how many there are, and the latest."""

    title: str
    counted: str
    """What the count counts, in words."""
    count: int
    rows: Sequence[MemoryRow]


@dataclass(frozen=True)
class Problem:
    """Something that went wrong in several sessions."""

    proposal_id: str
    title: str
    text: str
    project: str
    occurrence_count: int
    session_count: int
    event_at: datetime


@dataclass(frozen=True)
class Overview:
    """What the first page shows."""

    groups: Sequence[MemoryGroup]
    open_work: Sequence[OpenWork]
    week: MemoryGroup
    outdated: MemoryGroup
    problems: Sequence[Problem]


@dataclass(frozen=True)
class MemoryPage:
    """One page of the list of memories."""

    rows: Sequence[MemoryRow]
    count: int
    page: int
    page_count: int


def overview_of(store: Store, project: str, now: datetime) -> Overview:
    """Returns what is known of the project and of all; of every project without one."""
    memories = _present(store).filter(pl.col("kind") == "fact", _is_about(project))
    active = memories.filter(state="active")
    marks = gone_marks(store.tables)
    groups = [
        _group(title, "active", active.filter(pl.col("category").is_in(categories)), marks)
        for title, categories in GROUPS.items()
    ]
    is_new = pl.col("first_event_at") >= now - LATELY
    is_replaced = (pl.col("state") == "superseded") & (pl.col("event_at") >= now - RECENTLY)
    names_gone = (pl.col("state") == "active") & pl.col("id").is_in(list(marks))
    is_outdated = is_replaced | (pl.col("state") == "stale") | names_gone
    what = "replaced within four weeks, stale, or naming what is gone"
    return Overview(
        groups=groups,
        open_work=[work for work in open_work(store) if project in ("", work.project)],
        week=_group(
            "Learnt this week", "first said within seven days", active.filter(is_new), marks
        ),
        outdated=_group("Holds no more", what, memories.filter(is_outdated), marks),
        problems=_problems(store, project, now),
    )


def list_memories(
    store: Store, *, project: str = "", category: str = "", state: str = "", page: int = 1
) -> MemoryPage:
    """Returns a page of the facts with that project, category or group, and state, the latest
    first.
    """
    filters = {"project": (project,), "category": GROUPS.get(category, (category,))}
    filters |= {"state": (state,)}
    wanted = [pl.col(name).is_in(values) for name, values in filters.items() if any(values)]
    is_listed = (pl.col("kind") == "fact") & (pl.col("state") != "forgotten")
    rows = _present(store).filter(is_listed, *wanted)
    page_count = max(-(-rows.height // PAGE_ROWS), 1)
    page = min(max(page, 1), page_count)
    latest = rows.sort("event_at", "id", descending=True).slice((page - 1) * PAGE_ROWS, PAGE_ROWS)
    return MemoryPage(_rows(latest, gone_marks(store.tables)), rows.height, page, page_count)


def project_names(store: Store) -> list[str]:
    """Returns the projects that something is known of, the one with most memories first."""
    counts = store.tables.scan("memories").filter(pl.col("project") != "")
    counts = counts.group_by("project").len().sort("len", "project", descending=[True, False])
    return counts.collect()["project"].to_list()


def _present(store: Store) -> pl.DataFrame:
    """Returns the memories with what was saved, corrected and forgotten since the last update."""
    rows = read_present(store.tables, store.ledger).select(COLUMNS)
    newer = rows.filter(pl.col("state") != "forgotten").select(superseded_by="id", newer="text")
    return rows.join(newer, on="superseded_by", how="left")


def _is_about(project: str) -> pl.Expr:
    """Returns whether a memory is of the project, or not of one project alone."""
    if not project:
        return pl.lit(True)
    return (pl.col("project").is_in([project, ""])) | (pl.col("scope") != "project")


def _group(title: str, what: str, rows: pl.DataFrame, marks: dict[str, str]) -> MemoryGroup:
    latest = rows.sort("event_at", "id", descending=True).head(SHOWN)
    return MemoryGroup(title, what, rows.height, _rows(latest, marks))


def _rows(rows: pl.DataFrame, marks: dict[str, str]) -> list[MemoryRow]:
    dicts = rows.to_dicts()
    return [MemoryRow(**row, gone_mark=marks.get(row["id"], "")) for row in dicts]


def _problems(store: Store, project: str, now: datetime) -> list[Problem]:
    rows = store.tables.scan("friction").select(*Problem.__dataclass_fields__)
    rows = rows.filter(pl.col("event_at") >= now - RECENTLY).collect()
    if project:
        rows = rows.filter(project=project)
    worst = rows.sort("event_at", "proposal_id", descending=True).head(SHOWN)
    return [Problem(**row) for row in worst.iter_rows(named=True)]
