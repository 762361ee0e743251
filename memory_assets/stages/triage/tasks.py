"""Proposals as tasks of a person's own list: another review surface with the texts of REVIEW.md.

A task reads "Promote: text → section"; a person may reword the text between. It is due two days
before it expires.

    completed                      approves, with the text of the task
    deleted, or label `rejected`   rejects
    reworded                       rewords; it is still pending

The ledger records what was sent (`task.sent`: which task, and its wording), so a task is only read
while its proposal may still be decided; one that we closed, because somebody decided elsewhere or
nobody did in time, decides nothing. Neither does a task that is missing for an unknown reason. A
task is created first and recorded then; its description ends with a mark that only this store can
make, so one that was not recorded is found and not created twice.
"""

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

import polars as pl

from memory_assets.schema.protocols import Row, Task, TaskList
from memory_assets.stages.friction.review import FrictionItem
from memory_assets.stages.triage import human
from memory_assets.stages.triage.current import read_proposals
from memory_assets.stages.triage.decisions import EDITED, EXPIRES_SOON, overrulable
from memory_assets.stages.triage.run import AppliedDecisions, Triage, append_decisions
from memory_assets.store.ledger import Event, Ledger
from memory_assets.text.masking.redact import mask_text
from memory_assets.text.words import squeezed

TODOIST = "Todoist"
SENT = "task.sent"
CLOSED = "task.closed"
KINDS = (SENT, CLOSED, EDITED)
ACTOR = "triage"
REJECTED_LABEL = "rejected"

PROMOTE = "Promote: "
_TO = " → "
LONGEST = 500
"""Todoist's limit on the characters of a task."""

CLOCKS_APART = timedelta(days=1)
"""Tolerated difference between the list's clock and ours."""

MOST_SOURCES = 5
"""Sessions that a description names."""

HOW = (
    "Complete it to approve, reworded first if you like. Delete it, or label it `rejected`, to "
    "reject."
)
GONE = (
    "The task of {id} is gone with its project, or belongs to another account; nothing was decided "
    "by that. `memory review` asks about it, too."
)
FIXED = (
    "The task of {id} was reworded, which cannot be taken over as it is; it was not decided. "
    "Decide it with `memory review`."
)
HOW_FIXED = "Complete it to approve. Delete it, or label it `rejected`, to reject."
IsForgotten = Callable[[str], bool]
"""Whether a text holds words that are to be forgotten."""

_MARK = re.compile(
    r"\[(?P<id>[fp]-\d{8}-\d{3,}) (?P<store>[0-9a-f]{12}) (?P<content>[0-9a-f]{12})\]\s*$"
)


@dataclass(frozen=True)
class SentTask:
    """A task about a proposal, as recorded in the ledger."""

    proposal_id: str
    task_id: str
    project_id: str
    text: str
    """The text that was sent."""
    content: str
    """The text as the list stored it."""
    at: datetime
    """When it was first sent."""


@dataclass(frozen=True)
class TaskChange:
    """One change of the list, to agree with the ledger."""

    kind: Literal["add", "reword", "complete", "delete", "note"]
    """`note`: it is already done, so only the record is missing."""
    proposal_id: str
    task_id: str = ""
    content: str = ""


def open_tasks(events: Sequence[Event]) -> dict[str, SentTask]:
    """Returns the open tasks by proposal, from the events of `KINDS`."""
    tasks: dict[str, SentTask] = {}
    for event in events:
        id = event.target
        task = tasks.get(id)
        payload = event.payload
        if event.kind == SENT:
            about = {name: payload[name] for name in ("task_id", "project_id", "text", "content")}
            tasks[id] = SentTask(id, **about, at=task.at if task else event.at)
        elif event.kind == CLOSED:
            tasks.pop(id, None)
        elif task and payload.get("surface") == TODOIST:
            tasks[id] = replace(task, text=payload["text"], content=payload["text"])
    return tasks


def fetch_tasks(tasks: TaskList, ledger: Ledger) -> dict[str, Task]:
    """Returns the present open tasks by id, their secrets masked; raises `TaskListError` if the
    list does not answer.
    """
    sent = open_tasks(ledger.events(KINDS)).values()
    if not sent:
        return {}
    since = min(task.at for task in sent) - CLOCKS_APART
    fetched = tasks.look({task.task_id: task.project_id for task in sent}, since)
    return {id: replace(task, content=mask_text(task.content)[0]) for id, task in fetched.items()}


def apply_task_changes(tasks: Mapping[str, Task], triage: Triage) -> AppliedDecisions:
    """Appends what a person decided in the tasks to the ledger."""
    decisions = unapplied_decisions(tasks, triage)
    return append_decisions(decisions, triage.ledger, triage.rules.owner, TODOIST)


def unapplied_decisions(tasks: Mapping[str, Task], triage: Triage) -> human.ReviewDecisions:
    """Returns what the tasks decide and the ledger does not hold yet."""
    sent = open_tasks(triage.ledger.events(KINDS))
    return decisions_of_tasks(sent, tasks, triage.read_decisions())


def decisions_of_tasks(
    sent: Mapping[str, SentTask], tasks: Mapping[str, Task], decisions: pl.DataFrame
) -> human.ReviewDecisions:
    """Returns what a person decided by changing the tasks; one that was not fetched decides
    nothing.

    A person's change overrules what rules or expiry decided; a missing task does not.
    """
    late = set(overrulable(decisions))
    reading = human.ReviewDecisions()
    for row in decisions.sort("proposal_id").iter_rows(named=True):
        sent_task = sent.get(row["proposal_id"])
        task = tasks.get(sent_task.task_id) if sent_task else None
        is_open = row["state"] == "pending" or row["proposal_id"] in late
        if sent_task and task and is_open:
            _read_task(reading, row, task, _new_text(row, sent_task, task))
    reading.rejected.sort()
    return reading


def _read_task(reading: human.ReviewDecisions, row: Row, task: Task, text: str) -> None:
    """Adds what a task says about the decision `row`; `text` is empty if it was not reworded."""
    id = row["proposal_id"]
    is_waiting = row["state"] == "pending"
    if task.state == "unknown":
        reading.warnings += [GONE.format(id=id)] if is_waiting else []
    elif task.state == "deleted":
        reading.rejected += [id] if is_waiting else []
    elif REJECTED_LABEL in task.labels:
        reading.rejected.append(id)
    elif text and is_fixed(row):
        reading.warnings.append(FIXED.format(id=id))
    elif task.state == "completed":
        reading.approved[id] = text or None
    elif text and is_waiting:
        reading.edited[id] = text


def _new_text(row: Row, sent_task: SentTask, task: Task) -> str:
    """Returns the text that the person wrote into the task; empty if it is the one sent."""
    content = squeezed(task.content)
    if content in (squeezed(sent_task.content), content_of(row)):
        return ""
    text = text_in(content, row["section"])
    return "" if text == squeezed(row["text"]) else text


def plan_changes(
    decisions: pl.DataFrame, triage: Triage, tasks: Mapping[str, Task], is_forgotten: IsForgotten
) -> list[TaskChange]:
    """Returns the changes after which the list asks what REVIEW.md asks, in the present words, and
    nothing else.

    A task with a person's change that was not applied yet is left alone.
    """
    sent = open_tasks(triage.ledger.events(KINDS))
    rules = triage.rules
    reading = decisions_of_tasks(sent, tasks, decisions)
    unread = {*reading.approved, *reading.rejected, *reading.edited}
    rows = _by_id(decisions)
    steps = []
    for id, sent_task in sent.items():
        task = tasks.get(sent_task.task_id)
        if task is None:
            continue  # sent by another process since the list was fetched
        if is_forgotten(f"{task.content}\n{task.description}"):
            steps.append(TaskChange("delete", id, sent_task.task_id))
        elif id not in unread:
            is_late = sent_task.at + timedelta(days=rules.review_days) <= rules.now
            steps += _update(rows.get(id), sent_task, task, is_late=is_late)
    waiting = (row for id, row in rows.items() if row["state"] == "pending" and id not in sent)
    asked = (row for row in waiting if row["expires_at"] is not None)
    steps += [TaskChange("add", row["proposal_id"], content=content_of(row)) for row in asked]
    return steps


def _update(row: Row | None, sent: SentTask, task: Task, *, is_late: bool) -> list[TaskChange]:
    """Returns how the task has to change; that of an unknown proposal is closed only once it would
    have expired.
    """
    if row is not None and row["state"] == "pending":
        wanted = content_of(row)
        words = squeezed(sent.text)
        is_same = text_in(words, row["section"]) == squeezed(row["text"])
        if task.state != "open" or is_same or words == squeezed(wanted):
            return []
        return [TaskChange("reword", sent.proposal_id, sent.task_id, wanted)]
    if row is None and not is_late:
        return []
    is_promoted = row is not None and row["state"] == "promoted"
    closed = {"deleted", "unknown", *(["completed"] if is_promoted else [])}
    closing = "complete" if is_promoted else "delete"
    kind = "note" if task.state in closed else closing
    return [TaskChange(kind, sent.proposal_id, sent.task_id)]


def sync_tasks(
    tasks: TaskList,
    triage: Triage,
    key: bytes,
    shown: Mapping[str, FrictionItem],
    is_forgotten: IsForgotten,
) -> Counter[str]:
    """Creates, rewords and closes tasks, each recorded in the ledger at once, and returns how many
    of each kind.

    Raises `TaskListError` at the first that fails; what was done until then is recorded, the rest
    stays due. `key` is the store's own, and `shown` holds the review items of recurring problems.
    """
    decisions = triage.tables.read("decisions")
    rows = _by_id(decisions)
    rules = triage.rules
    steps = plan_changes(decisions, triage, fetch_tasks(tasks, triage.ledger), is_forgotten)
    is_adding = any(step.kind == "add" for step in steps)
    since = rules.now - timedelta(days=rules.review_days) - CLOCKS_APART
    unnoted = _unnoted(tasks.labelled(since), key) if is_adding else {}
    proposals = read_proposals(triage.tables).select("proposal_id", "session_ids")
    sources = dict(proposals.iter_rows())
    counts: Counter[str] = Counter()
    for step in steps:
        id = step.proposal_id
        if step.kind != "add":
            _change(tasks, step, triage.ledger)
        elif id in unnoted:
            _note_unnoted(step, unnoted[id], triage.ledger, key)
        else:
            description = describe(rows[id], step.content, key, shown, sources.get(id, ()))
            due_on = (rows[id]["expires_at"] - EXPIRES_SOON).astimezone(rules.zone).date()
            task = tasks.add(step.content, description, due_on)
            _note(triage.ledger, id, task, step.content)
        counts[step.kind] += 1
    return counts


def _note_unnoted(step: TaskChange, task: Task, ledger: Ledger, key: bytes) -> None:
    """Records a task that was created and not recorded; a person may have reworded it since."""
    mark = _MARK.search(task.description)
    as_sent = _mark(key, step.proposal_id, squeezed(task.content))
    if not mark or mark["content"] != as_sent:
        task = replace(task, content=step.content)
    _note(ledger, step.proposal_id, task, task.content)


def _change(tasks: TaskList, step: TaskChange, ledger: Ledger) -> None:
    if step.kind == "reword":
        _note(ledger, step.proposal_id, tasks.reword(step.task_id, step.content), step.content)
        return
    if step.kind == "complete":
        tasks.complete(step.task_id)
    elif step.kind == "delete":
        tasks.delete(step.task_id)
    ledger.append(CLOSED, step.proposal_id, {"task_id": step.task_id}, actor=ACTOR)


def _note(ledger: Ledger, proposal_id: str, task: Task, text: str) -> None:
    place = {"task_id": task.id, "project_id": task.project_id}
    payload = {**place, "content": task.content, "text": text}
    ledger.append(SENT, proposal_id, payload, actor=ACTOR)


def content_of(row: Row) -> str:
    """Returns the text of a decision's task: the proposed text and its section, or which line to
    retire.
    """
    whole = _whole(row)
    return f"{whole[: LONGEST - 1]}…" if is_cut(row) else whole


def is_cut(row: Row) -> bool:
    """Returns whether the text is too long for a task."""
    return len(_whole(row)) > LONGEST


def is_fixed(row: Row) -> bool:
    """Returns whether the task cannot be reworded: it asks to retire a line, or does not show the
    whole text.
    """
    return not row["text"] or is_cut(row)


def _whole(row: Row) -> str:
    if not row["text"]:
        return squeezed(f"Retire: {human.shown_text(row)}")
    return squeezed(f"{PROMOTE}{row['text']}{_TO}{row['section']}")


def text_in(content: str, section: str) -> str:
    """Returns the line that the text of a task proposes, without the words around it, as far as the
    person kept them.
    """
    return content.removeprefix(PROMOTE.strip()).removesuffix(f"{_TO}{section}".rstrip()).strip()


def describe(
    row: Row,
    content: str,
    key: bytes,
    shown: Mapping[str, FrictionItem],
    sources: Sequence[str] = (),
) -> str:
    """Returns the description of a task: target, reason, the sessions it comes from, how to decide,
    and our mark.
    """
    id = row["proposal_id"]
    friction = shown.get(id)
    if friction:
        lines = [friction.heading, friction.why, *map(str.strip, friction.details)]
    else:
        lines = [human.heading_of(row), human.instead_of(row), row["reason"]]
    if sources:
        more = f" and {len(sources) - MOST_SOURCES} more" if len(sources) > MOST_SOURCES else ""
        lines.append(f"Sources: {', '.join(sources[:MOST_SOURCES])}{more}")
    if is_cut(row):
        lines.append("Only its beginning is shown here; REVIEW.md has it whole.")
    lines.append(HOW_FIXED if is_fixed(row) else HOW)
    lines.append(f"[{id} {_mark(key, id)} {_mark(key, id, content)}]")
    return "\n".join(filter(None, lines))


def _unnoted(tasks: Sequence[Task], key: bytes) -> dict[str, Task]:
    """Returns the tasks with a mark of this store, by proposal; others with the label are not
    ours.
    """
    by_id: dict[str, Task] = {}
    for task in tasks:
        mark = _MARK.search(task.description)
        if mark and mark["store"] == _mark(key, mark["id"]):
            by_id.setdefault(mark["id"], task)
    return by_id


def _by_id(decisions: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return {row["proposal_id"]: row for row in decisions.iter_rows(named=True)}


def _mark(key: bytes, *parts: str) -> str:
    return hmac.new(key, "\n".join(parts).encode(), hashlib.sha256).hexdigest()[:12]
