"""Reads what the briefing shows beside the memories: lessons that apply, triggers that are due,
work that was left open, the names of active projects, and proposals that expire soon.

The schedule `briefing_daily` renders the briefing at 00:05 in the owner's zone, and `memory ingest`
does so when the due triggers differ from those in the briefing, so a new day needs no new
transcript to show them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import READ_STATUSES
from memory_assets.stages.brief.briefing import ActiveProject
from memory_assets.stages.brief.due import Trigger, find_due
from memory_assets.stages.brief.lessons import active_lessons
from memory_assets.stages.distill.handoff import NOT_PUSHED, STOPPED, find_handoff, what_is_next
from memory_assets.stages.distill.items import entities_of
from memory_assets.stages.distill.model.answer_rows import OPEN_WORK, open_work_of
from memory_assets.stages.distill.rules.grammar import ERRAND, is_clear, strip_opening
from memory_assets.stages.distill.spoken import spoken
from memory_assets.stages.embed.notes import hidden_sources
from memory_assets.stages.triage.decisions import EXPIRES_SOON
from memory_assets.store.ledger import FORGOTTEN
from memory_assets.store.store import Store
from memory_assets.text.sentences import excerpt, split_sentences
from memory_assets.text.words import shared

LESSONS_MD = "lessons.md"


SESSIONS_SHOWN = 3
"""Sessions of a project whose end is shown, one for each branch."""

STILL_OPEN_FOR = timedelta(days=14)
"""Before the project's last session; what was left open earlier is done or given up."""

PROJECTS_SHOWN = 5
"""Active projects, latest session first, that the briefing names in a folder that belongs to no
project.
"""


REQUEST_CHARS = 140
"""A longer request costs more than it says."""

SAME_STEP = 0.6
"""If the state and the next step have at least this share of stems in common, they say the same."""

_IS_DONE = re.compile(
    r"(?i)(?:^|; )(?!also|secondary)(?:the|all|both|every\w*|this|it)\b[^;]*\b(?:is|are|was"
    r"|were|has been|have been) (?:\w+ )?"
    r"(?:committed|completed?|done|finished|merged|pushed)\b"
)
"""Says of a named task that it is over."""

_POINTS_BACK = re.compile(
    r"\b(?i:it|them|they|this|that|these|those|both|above|below|you (?:sugg|prop|list|said"
    r"|ment)\w*)\b"
    r"|\b[B-F]\b|\bA\b(?=[,.]|$| (?:for|and|or)\b)"
)
"""Words that refer to something said before, or to the letter of an option."""


@dataclass(frozen=True)
class OpenWork:
    """What a session left open: the task and the next step that a model named, else the last
    request; and its state.
    """

    session_id: str
    project: str
    day: date
    branch: str
    title: str = ""
    """What the session was about, as its harness named it."""
    task: str = ""
    next_step: str = ""
    request: str = ""
    """Empty if it cannot be understood alone."""
    state: str = ""
    """What of the assistant's last words leaves something open, quoted, with a note."""


def open_work(store: Store) -> tuple[OpenWork, ...]:
    """Returns what the last sessions of each of the owner's projects left open, the latest
    first.
    """
    windows = store.tables.read("windows").filter(
        pl.col("status").is_in(READ_STATUSES), person=store.settings.owner
    )
    ended = windows.drop_nulls("day").sort("ended_at", "window_id", descending=True)
    last = ended.unique("session_id", keep="first", maintain_order=True)
    last = last.unique(["project", "branch"], keep="first", maintain_order=True)
    last_end = pl.col("ended_at").max().over("project")
    near = last.filter(pl.col("ended_at") >= last_end - STILL_OPEN_FOR)
    latest = near.filter(pl.int_range(pl.len()).over("project") < SESSIONS_SHOWN)
    days = sorted({day.isoformat() for day in latest["day"]})
    columns = ["window_id", "ordinal", "answer", *OPEN_WORK]
    named = open_work_of(store.tables.read("observer_answers", days, columns))
    is_latest = pl.col("window_id").is_in(latest["window_id"].to_list())
    is_hidden = pl.col("message_id").is_in(list(_hidden(store)))
    messages = store.tables.scan("messages", days).filter(is_latest & ~is_hidden)
    groups = messages.sort("ordinal").collect().group_by("window_id", maintain_order=True)
    texts = {id: group.to_dicts() for (id,), group in groups}
    items = (
        _open_work(row, named.get(row["window_id"]), texts.get(row["window_id"], []))
        for row in latest.iter_rows(named=True)
    )
    return tuple(
        work
        for work in items
        if work.task or (work.state and (work.state != STOPPED or entities_of(work.request)))
    )


def _open_work(
    window: Row, named: tuple[str, str] | None, messages: Sequence[dict[str, Any]]
) -> OpenWork:
    task, next_step = named or ("", "")
    branch = window["branch"] or ""
    stopped = find_handoff(messages, branch)
    next_step = what_is_next(next_step)
    if _IS_DONE.search(task):
        task = ""
    is_pushing = stopped.note == NOT_PUSHED and "push" in f"{task} {next_step}"
    is_same = shared(stopped.open_text, next_step) >= SAME_STEP
    is_told = task and (stopped.note == STOPPED or is_pushing or is_same)
    state = " ".join(filter(None, (spoken("Assistant", stopped.open_text), stopped.note)))
    return OpenWork(
        **{name: window[name] for name in ("session_id", "project", "day")},
        branch=branch,
        title=window["title"] or "",
        task=task,
        next_step=next_step,
        request="" if task else _clear(stopped.request),
        state="" if is_told else state,
    )


def active_projects(store: Store) -> tuple[ActiveProject, ...]:
    """Returns the projects of the owner's last two weeks of work, the latest first."""
    columns = ["person", "status", "project", "session_id", "day", "ended_at"]
    windows = store.tables.read("windows", columns=columns).drop_nulls("day")
    is_read = pl.col("status").is_in(READ_STATUSES) & (pl.col("project") != "")
    recent = windows.filter(is_read, person=store.settings.owner)
    near = recent.filter(pl.col("ended_at") >= pl.col("ended_at").max() - STILL_OPEN_FOR)
    projects = near.group_by("project").agg(
        pl.col("session_id").n_unique(),
        pl.col("day").min().alias("first"),
        pl.col("day").max().alias("last"),
        pl.max("ended_at"),
    )
    latest = projects.sort(["ended_at", "project"], descending=[True, False]).head(PROJECTS_SHOWN)
    rows = latest.select("project", "session_id", "first", "last").iter_rows()
    return tuple(ActiveProject(*row) for row in rows)


def reflected_memories(store: Store, memories: pl.DataFrame) -> frozenset[str]:
    """Returns the memories with an observation that the reflection of its day cites."""
    reflections = store.tables.read("reflections", columns=["observation_ids"])
    cited = reflections.explode("observation_ids").drop_nulls()
    members = memories.select("id", "observation_ids").explode("observation_ids")
    return frozenset(members.join(cited, on="observation_ids", how="semi")["id"])


def _clear(request: str) -> str:
    """Returns the first sentence of a quoted request that says alone what is wanted; empty if none
    does.
    """
    for part in request.split("…"):
        for sentence in split_sentences(part):
            words = strip_opening(sentence)
            says_alone = is_clear(words) and not _POINTS_BACK.search(words)
            if len(sentence) <= REQUEST_CHARS and ERRAND.match(words) and says_alone:
                return excerpt(request, [sentence])
    return excerpt(request, [])


def refused_lines(store: Store) -> dict[str, list[str]]:
    """Returns the lines that were proposed for each project and refused, by whoever decided, as
    they were proposed and said.
    """
    decisions = store.tables.read("decisions", columns=["proposal_id", "state", "text"])
    proposals = store.tables.read("proposals", columns=["proposal_id", "project", "text"])
    rejected = decisions.filter(state="rejected").join(proposals, on="proposal_id", suffix="_said")
    lines_by_project: dict[str, list[str]] = {}
    for project, *texts in rejected.select("project", "text", "text_said").iter_rows():
        lines_by_project.setdefault(project, []).extend(texts)
    return lines_by_project


def expiring_on(store: Store) -> list[date]:
    """Returns the local days on which pending proposals that were asked about expire soon, one for
    each.
    """
    decisions = store.tables.read("decisions", columns=["state", "expires_at"])
    moments = decisions.filter(state="pending")["expires_at"].drop_nulls().sort()
    limit = store.settings.clock() + EXPIRES_SOON
    return [at.astimezone(store.settings.zone).date() for at in moments if at <= limit]


def lessons_of(store: Store) -> list[Row]:
    """Returns the lessons of the store's owner that apply."""
    lessons = store.tables.read("lessons")
    if lessons.is_empty():
        return []
    return active_lessons(lessons, store.settings.owner, _hidden(store) | _replaced(store, lessons))


def _replaced(store: Store, lessons: pl.DataFrame) -> frozenset[str]:
    """Returns the messages of lessons whose memory was superseded."""
    superseded = store.tables.scan("memories").filter(state="superseded")
    ids = superseded.select("observation_ids").collect()["observation_ids"].explode().drop_nulls()
    days = [day.isoformat() for day in lessons["day"].unique()]
    observed = store.tables.scan("observations", days).filter(pl.col("id").is_in(ids.implode()))
    messages = observed.select("message_ids").collect()["message_ids"]
    return frozenset(messages.explode().drop_nulls())


def due_triggers(
    store: Store, memories: pl.DataFrame, *, on: date | None = None, is_all: bool = False
) -> tuple[Trigger, ...]:
    """Returns the triggers of the day (by default today) and the day after it; with `is_all`, all
    later ones, too.
    """
    days = [day for day, info in store.tables.parts("triggers").items() if info.rows]
    if not days:
        return ()
    triggers = store.tables.read("triggers", days)
    today = on or store.settings.today()
    return find_due(triggers, memories, today=today, is_all=is_all, hidden=_hidden(store))


def _hidden(store: Store) -> frozenset[str]:
    """Returns the messages with forgotten content."""
    return hidden_sources(store.ledger.events([FORGOTTEN]))
