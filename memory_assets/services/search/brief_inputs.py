"""Reads what the briefing shows beside the memories: lessons that apply, triggers that are due,
work that was left open, the names of active projects, and proposals that expire soon.

The schedule `briefing_daily` renders the briefing at 00:05 in the owner's zone. `memory ingest`
renders it when the due triggers differ from those in the briefing. So the triggers of a new day are
shown without a new transcript.
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
from memory_assets.stages.distill.handoff import (
    NOT_PUSHED,
    STOPPED,
    drop_finished_work,
    find_handoff,
)
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
"""Work that was left open longer before the project's last session counts as done or given up."""

PROJECTS_SHOWN = 5
"""Active projects that the briefing names in a folder that belongs to no project."""

REQUEST_CHARS = 140
"""Characters of a request that is shown; a longer one takes more room than it is worth."""

SAME_STEP = 0.6
"""If the state and the next step have at least this share of stems in common, they say the same."""

_IS_DONE = re.compile(
    r"(?i)(?:^|; )(?:the|all|both|every\w*|this|it)\b[^;]*\b(?:is|are|was|were|has been"
    r"|have been) (?:\w+ )?(?:committed|completed?|done|finished|merged|pushed)\b"
)
"""A clause of a task that says that the work is over, such as "both PRs are merged". Clauses are
separated by `; `.
"""

_POINTS_BACK = re.compile(
    r"\b(?i:it|them|they|this|that|these|those|both|above|below|you (?:sugg|prop|list|said"
    r"|ment)\w*)\b"
    r"|\b[B-F]\b|\bA\b(?=[,.]|$| (?:for|and|or)\b)"
)
"""Words that refer to something said before, or to the letter of an option, as in "Do B".

Only a capital is such a letter. "A" may also be the article that begins a sentence, so it counts
only before a comma, a full stop, "for", "and", "or" or the end.
"""


@dataclass(frozen=True)
class OpenWork:
    """What a session left open: the task and the next step if a model named them, else the last
    request; and the state of the work.
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
    """A quote of the sentences in which the assistant's last reply leaves something open, then the
    note of the handoff, such as `STOPPED`. Either may be missing.
    """


def open_work(store: Store) -> tuple[OpenWork, ...]:
    """Returns what the last sessions of each of the owner's projects left open, the latest
    first.
    """
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
    is_forgotten = pl.col("message_id").is_in(list(_forgotten_messages(store)))
    messages = store.tables.scan("messages", days).filter(in_windows & ~is_forgotten)
    groups = messages.sort("ordinal").collect().group_by("window_id", maintain_order=True)
    messages_of = {id: group.to_dicts() for (id,), group in groups}
    items = (
        _open_work(row, model_work.get(row["window_id"]), messages_of.get(row["window_id"], []))
        for row in windows.iter_rows(named=True)
    )
    return tuple(filter(_says_enough, items))


def _says_enough(work: OpenWork) -> bool:
    """Returns whether the work has a task, or a state that tells something.

    The state `STOPPED` alone tells nothing if the request names nothing.
    """
    is_empty_state = work.state == STOPPED and not entities_of(work.request)
    return bool(work.task) or (bool(work.state) and not is_empty_state)


def _open_work(
    window: Row, model_work: tuple[str, str] | None, messages: Sequence[dict[str, Any]]
) -> OpenWork:
    """Returns the open work of the window; `model_work` is the task and the next step that a model
    named.
    """
    task, suggested_step = model_work or ("", "")
    branch = window["branch"] or ""
    handoff = find_handoff(messages, branch)
    next_step = drop_finished_work(suggested_step)
    if _IS_DONE.search(task):
        task = ""
    # A state that only repeats the task or the next step is left out. A task that is shown is not
    # done, so the note `STOPPED` repeats it.
    names_push = handoff.note == NOT_PUSHED and "push" in f"{task} {next_step}"
    names_step = shared(handoff.open_text, next_step) >= SAME_STEP
    is_repeated = bool(task) and (handoff.note == STOPPED or names_push or names_step)
    state = " ".join(filter(None, (spoken("Assistant", handoff.open_text), handoff.note)))
    return OpenWork(
        session_id=window["session_id"],
        project=window["project"],
        day=window["day"],
        branch=branch,
        title=window["title"] or "",
        task=task,
        next_step=next_step,
        request="" if task else _clear_sentence(handoff.request),
        state="" if is_repeated else state,
    )


def active_projects(store: Store) -> tuple[ActiveProject, ...]:
    """Returns the projects of the two weeks before the end of the owner's last session, the latest
    first.
    """
    columns = ["person", "status", "project", "session_id", "day", "ended_at"]
    windows = store.tables.read("windows", columns=columns).drop_nulls("day")
    is_read = pl.col("status").is_in(READ_STATUSES) & (pl.col("project") != "")
    windows = windows.filter(is_read, person=store.settings.owner)
    recent = windows.filter(pl.col("ended_at") >= pl.col("ended_at").max() - STILL_OPEN_FOR)
    projects = recent.group_by("project").agg(
        pl.col("session_id").n_unique().alias("session_count"),
        pl.col("day").min().alias("first_on"),
        pl.col("day").max().alias("last_on"),
        pl.max("ended_at"),
    )
    latest = projects.sort(["ended_at", "project"], descending=[True, False]).head(PROJECTS_SHOWN)
    rows = latest.select("session_count", "first_on", "last_on", name="project")
    return tuple(ActiveProject(**row) for row in rows.iter_rows(named=True))


def reflected_memories(store: Store, memories: pl.DataFrame) -> frozenset[str]:
    """Returns the ids of the memories with an observation that the reflection of its day cites."""
    reflections = store.tables.read("reflections", columns=["observation_ids"])
    citations = reflections.explode("observation_ids").drop_nulls()
    evidence = memories.select("id", "observation_ids").explode("observation_ids")
    return frozenset(evidence.join(citations, on="observation_ids", how="semi")["id"])


def _clear_sentence(request: str) -> str:
    """Returns the first sentence of a quoted request that can be understood alone; empty if there
    is none.
    """
    for part in request.split("…"):
        for sentence in split_sentences(part):
            words = strip_opening(sentence)
            is_understood = is_clear(words) and not _POINTS_BACK.search(words)
            if len(sentence) <= REQUEST_CHARS and ERRAND.match(words) and is_understood:
                return excerpt(request, [sentence])
    return ""


def refused_lines(store: Store) -> dict[str, list[str]]:
    """Returns project → the lines of its rejected proposals: of each, the text of the decision and
    the text as it was proposed.
    """
    decisions = store.tables.read("decisions", columns=["proposal_id", "state", "text"])
    proposals = store.tables.read("proposals", columns=["proposal_id", "project", "text"])
    rejected = decisions.filter(state="rejected")
    rejected = rejected.join(proposals, on="proposal_id", suffix="_proposed")
    lines_by_project: dict[str, list[str]] = {}
    for project, *texts in rejected.select("project", "text", "text_proposed").iter_rows():
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
    hidden = _forgotten_messages(store) | _superseded_messages(store, lessons)
    return active_lessons(lessons, store.settings.owner, hidden)


def _superseded_messages(store: Store, lessons: pl.DataFrame) -> frozenset[str]:
    """Returns the messages of lessons whose memory was superseded."""
    superseded = store.tables.scan("memories").filter(state="superseded")
    ids = superseded.select("observation_ids").collect()["observation_ids"].explode().drop_nulls()
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
