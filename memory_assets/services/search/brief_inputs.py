"""Reads what the briefing shows beside the memories: lessons that apply, triggers that are due,
where sessions stopped, the names of active projects, and proposals that expire soon.

The schedule `briefing_daily` renders the briefing at 00:05 in the owner's zone. `memory ingest`
renders it when the due triggers differ from those in the briefing. So the triggers of a new day are
shown without a new transcript.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import READ_STATUSES
from memory_assets.services.search.named import names_only_gone
from memory_assets.stages.brief.briefing import ActiveProject
from memory_assets.stages.brief.due import Trigger, find_due
from memory_assets.stages.brief.lessons import active_lessons
from memory_assets.stages.distill.model.answer_rows import OPEN_WORK, open_work_of
from memory_assets.stages.distill.quotes import Quote, quotes_of, rendered
from memory_assets.stages.embed.notes import hidden_sources
from memory_assets.stages.triage.decisions import EXPIRES_SOON
from memory_assets.store.ledger import FORGOTTEN
from memory_assets.store.store import Store
from memory_assets.text.sentences import split_sentences

LESSONS_MD = "lessons.md"

SESSIONS_SHOWN = 3
"""Sessions of a project whose end is shown, one for each branch."""

STILL_OPEN_FOR = timedelta(days=14)
"""Work that was left open longer before the project's last session counts as done or given up."""

PROJECTS_SHOWN = 5
"""Active projects that the briefing names in a folder that belongs to no project."""

_IS_DONE = re.compile(
    r"(?i)(?:^|; )(?:the|all|both|every\w*|this|it)\b[^;]*\b(?:is|are|was|were|has been"
    r"|have been) (?:\w+ )?(?:committed|completed?|done|finished|merged|pushed)\b"
)
"""A clause of a task that says that the work is over, such as "both PRs are merged". Clauses are
separated by `; `.
"""

_REPORTS = re.compile(
    r"(?i)\b(?:is|are|was|were|has been|have been) (?:now |all )?"
    r"(?:\w+ed|done|green|clean|complete)\W*$"
)
"""The end of a sentence that reports finished work."""


@dataclass(frozen=True)
class OpenWork:
    """Where a session stopped: the task and the next step if a model named them, else quotes."""

    session_id: str
    project: str
    day: date
    branch: str
    title: str = ""
    """What the session was about, as its harness named it."""
    task: str = ""
    next_step: str = ""
    request: str = ""
    """The first request of its last window."""
    state: str = ""
    """The last summary of its own model, else the assistant's last words."""


def open_work(store: Store) -> tuple[OpenWork, ...]:
    """Returns where the last sessions of each of the owner's projects stopped, the latest first."""
    windows = store.tables.read("windows").filter(
        pl.col("status").is_in(READ_STATUSES), person=store.settings.owner
    )
    windows = windows.drop_nulls("day").sort("ended_at", "window_id", descending=True)
    windows = windows.unique("session_id", keep="first", maintain_order=True)
    windows = windows.unique(["project", "branch"], keep="first", maintain_order=True)
    project_end = pl.col("ended_at").max().over("project")
    windows = windows.filter(pl.col("ended_at") >= project_end - STILL_OPEN_FOR)
    # The rows are sorted by time, so the first rows of each project are its latest sessions.
    row_in_project = pl.int_range(pl.len()).over("project")
    windows = windows.filter(row_in_project < SESSIONS_SHOWN)
    days = sorted({day.isoformat() for day in windows["day"]})
    # `OPEN_WORK` are the columns with the current task and the suggested next step.
    columns = ["window_id", "ordinal", "answer", *OPEN_WORK]
    model_work = open_work_of(store.tables.read("observer_answers", days, columns))
    in_windows = pl.col("window_id").is_in(windows["window_id"].to_list())
    segments = store.tables.scan("segments", days).filter(in_windows)
    forgotten = _forgotten_messages(store)
    quotes: dict[str, list[Quote]] = defaultdict(list)
    for segment in segments.sort("ordinal").collect().iter_rows(named=True):
        quotes[segment["window_id"]] += (
            quote for quote in quotes_of(segment) if quote.message_id not in forgotten
        )
    items = (
        _open_work(row, model_work.get(row["window_id"]), quotes[row["window_id"]])
        for row in windows.iter_rows(named=True)
    )
    return tuple(work for work in items if work.task or work.state)


def _open_work(
    window: Row, model_work: tuple[str, str] | None, quotes: Sequence[Quote]
) -> OpenWork:
    """Returns where the window's session stopped; `model_work` is the task and the next step that a
    model named.
    """
    task, suggested_step = model_work or ("", "")
    steps = split_sentences(suggested_step)
    if _IS_DONE.search(task):
        task = ""
    first = {quote.source: rendered(quote) for quote in reversed(quotes) if not task}
    last = {quote.source: rendered(quote) for quote in quotes if not task}
    return OpenWork(
        session_id=window["session_id"],
        project=window["project"],
        day=window["day"],
        branch=window["branch"] or "",
        title=window["title"] or "",
        task=task,
        next_step=" ".join(step for step in steps if not _REPORTS.search(step)),
        request=first.get("request", ""),
        state=last.get("summary") or last.get("state", ""),
    )


def active_projects(store: Store) -> tuple[ActiveProject, ...]:
    """Returns the projects of the two weeks before the end of the owner's last session, the latest
    first.
    """
    columns = ["person", "status", "project", "session_id", "day", "ended_at"]
    windows = store.tables.read("windows", columns=columns).drop_nulls("day")
    is_read = pl.col("status").is_in(READ_STATUSES) & (pl.col("project") != "")
    windows = windows.filter(is_read, person=store.settings.owner)
    last_end = pl.col("ended_at").max()
    recent = windows.filter(pl.col("ended_at") >= last_end - STILL_OPEN_FOR)
    projects = recent.group_by(name="project").agg(
        pl.col("session_id").n_unique().alias("session_count"),
        pl.col("day").min().alias("first_on"),
        pl.col("day").max().alias("last_on"),
        pl.max("ended_at"),
    )
    latest = projects.sort(["ended_at", "name"], descending=[True, False])
    rows = latest.head(PROJECTS_SHOWN).drop("ended_at").to_dicts()
    return tuple(ActiveProject(**row) for row in rows)


def reflected_memories(store: Store, memories: pl.DataFrame) -> frozenset[str]:
    """Returns the ids of the memories with an observation that the reflection of its day cites."""
    reflections = store.tables.read("reflections", columns=["observation_ids"])
    citations = reflections.explode("observation_ids").drop_nulls()
    evidence = memories.select("id", "observation_ids").explode("observation_ids")
    return frozenset(evidence.join(citations, on="observation_ids", how="semi")["id"])


def refused_lines(store: Store) -> dict[str, list[str]]:
    """Returns project → the lines of its rejected proposals: of each, the text of the decision and
    the text as it was proposed.
    """
    decisions = store.tables.read("decisions", columns=["proposal_id", "state", "text"])
    columns = ["proposal_id", "project", "text"]
    proposals = store.tables.read("proposals", columns=columns)
    rejected = decisions.filter(state="rejected")
    rejected = rejected.join(proposals, on="proposal_id", suffix="_proposed")
    lines_by_project: dict[str, list[str]] = {}
    rows = rejected.select("project", "text", "text_proposed").iter_rows()
    for project, *texts in rows:
        lines_by_project.setdefault(project, []).extend(texts)
    return lines_by_project


def expiring_on(store: Store) -> list[date]:
    """Returns, for each pending proposal that expires soon, the local day on which it expires."""
    decisions = store.tables.read("decisions", columns=["state", "expires_at"])
    moments = decisions.filter(state="pending")["expires_at"].drop_nulls().sort()
    limit = store.settings.clock() + EXPIRES_SOON
    return [at.astimezone(store.settings.zone).date() for at in moments if at <= limit]


def lessons_of(store: Store) -> list[Row]:
    """Returns the lessons of the store's owner that apply."""
    lessons = store.tables.read("lessons")
    if lessons.is_empty():
        return []
    hidden = _forgotten_messages(store) | _outdated_messages(store, lessons)
    return active_lessons(lessons, store.settings.owner, hidden)


def _outdated_messages(store: Store, lessons: pl.DataFrame) -> frozenset[str]:
    """Returns the messages of lessons whose memory was superseded, or names only what is gone."""
    is_gone = pl.col("id").is_in(names_only_gone(store.tables))
    is_outdated = is_gone | (pl.col("state") == "superseded")
    outdated = store.tables.scan("memories").filter(is_outdated)
    cited = outdated.select("observation_ids").collect()["observation_ids"]
    ids = cited.explode().drop_nulls()
    days = [day.isoformat() for day in lessons["day"].unique()]
    has_id = pl.col("id").is_in(ids.implode())
    observations = store.tables.scan("observations", days).filter(has_id)
    messages = observations.select("message_ids").collect()["message_ids"]
    return frozenset(messages.explode().drop_nulls())


def due_triggers(
    store: Store, memories: pl.DataFrame, *, on: date | None = None, is_all: bool = False
) -> tuple[Trigger, ...]:
    """Returns the triggers of the day (by default today) and the next day; with `is_all`, those of
    all later days, too.
    """
    days = [day for day, info in store.tables.parts("triggers").items() if info.rows]
    if not days:
        return ()
    triggers = store.tables.read("triggers", days)
    today = on or store.settings.today()
    hidden = _forgotten_messages(store)
    return find_due(triggers, memories, today=today, is_all=is_all, hidden=hidden)


def _forgotten_messages(store: Store) -> frozenset[str]:
    """Returns the messages with forgotten content."""
    return hidden_sources(store.ledger.events([FORGOTTEN]))
