"""Proposals as tasks of a person's own list: another view of the same ledger, with the words of REVIEW.md.

    completed                      approves, with the text as it stands there
    deleted, or label `rejected`   rejects
    reworded                       rewords; it still waits

What was sent is in the ledger (`task.sent`: which task, and its wording), so a task is only ever read as long as its proposal
may still be decided, and one that we closed, because somebody decided elsewhere or nobody did in time, says nothing. Only what
the list itself tells decides: a task that is gone, and nobody can say how, does not. A task is made first and noted then; its
description ends with a mark that only this store can make, so that one that was not noted is found and not made twice.
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

from memory_assets.schema.protocols import Tables, Task, TaskList
from memory_assets.stages.friction.review import Shown
from memory_assets.stages.triage.decisions import EDITED, overrulable
from memory_assets.stages.triage.human import Reading, heading_of, instead_of, shown_text
from memory_assets.stages.triage.run import Heard, Rules, read_decisions, say
from memory_assets.store.ledger import Event, Ledger

TODOIST = "Todoist"
SENT, CLOSED = "task.sent", "task.closed"
KINDS = (SENT, CLOSED, EDITED)
ACTOR = "triage"
REJECTED_LABEL = "rejected"

LONGEST = 500
"""Characters of a task, as Todoist has it."""

CLOCKS_APART = timedelta(days=1)
"""By which the list's clock may differ from ours."""

HOW = "Complete it to approve, reworded first if you like. Delete it, or label it `rejected`, to reject."
GONE = (
    "The task of {id} is gone with its project, or belongs to another account; nothing was decided by that. "
    "`memory review` asks about it, too."
)
FIXED = (
    "The task of {id} was reworded, which cannot be taken over as it is; it was not decided. Decide it with `memory review`."
)
HOW_FIXED = "Complete it to approve. Delete it, or label it `rejected`, to reject."
Forgotten = Callable[[str], bool]
"""Tells of a text whether it holds words that are to be forgotten."""

_MARK = re.compile(r"\[(?P<id>[fp]-\d{8}-\d{3,}) (?P<store>[0-9a-f]{12}) (?P<content>[0-9a-f]{12})\]\s*$")


@dataclass(frozen=True)
class Sent:
    """A task that asks about a proposal, as we know it."""

    proposal_id: str
    task_id: str
    project_id: str
    text: str
    """What was to stand there."""
    content: str
    """What stood there then; a list may have its own way of writing it."""
    at: datetime
    """When it was first sent."""


@dataclass(frozen=True)
class Step:
    """One change of the list that brings it in step with the ledger."""

    kind: Literal["add", "reword", "complete", "delete", "note"]
    """`note`: it is done already, by whomever."""
    proposal_id: str
    task_id: str = ""
    content: str = ""


def open_tasks(events: Sequence[Event]) -> dict[str, Sent]:
    """Returns the tasks that are not closed by proposal, from the events of `KINDS`."""
    found: dict[str, Sent] = {}
    for event in events:
        known, said = found.get(event.target), event.payload
        if event.kind == SENT:
            told = {name: said[name] for name in ("task_id", "project_id", "text", "content")}
            found[event.target] = Sent(event.target, **told, at=known.at if known else event.at)
        elif event.kind == CLOSED:
            found.pop(event.target, None)
        elif known and said.get("surface") == TODOIST:
            found[event.target] = replace(known, text=said["text"], content=said["text"])
    return found


def look(tasks: TaskList, ledger: Ledger) -> dict[str, Task]:
    """Returns the tasks that are not closed as they stand, by id; raises `TaskListError` where the list does not answer."""
    sent = open_tasks(ledger.events(KINDS)).values()
    if not sent:
        return {}
    since = min(one.at for one in sent) - CLOCKS_APART
    return tasks.look({one.task_id: one.project_id for one in sent}, since)


def hear_tasks(found: Mapping[str, Task], ledger: Ledger, tables: Tables, rules: Rules) -> Heard:
    """Turns what a person did to the tasks into ledger events; whatever they did to others of that list is their own."""
    reading = read_now(found, ledger, tables, rules)
    heard = Heard(warnings=list(reading.warnings))
    say(reading, heard, ledger, rules.owner, TODOIST)
    return heard


def read_now(found: Mapping[str, Task], ledger: Ledger, tables: Tables, rules: Rules) -> Reading:
    """Returns what the tasks decide that is not in the ledger yet."""
    return read_tasks(open_tasks(ledger.events(KINDS)), found, read_decisions(tables, ledger, rules))


def read_tasks(sent: Mapping[str, Sent], found: Mapping[str, Task], decisions: pl.DataFrame) -> Reading:
    """Returns what a person decided by what became of the tasks; one that was not looked at says nothing.

    What rules or the clock decided can still be overruled by what somebody did, and not by a task's absence.
    """
    rows, late = _by_id(decisions), set(overrulable(decisions))
    approved, rejected, edited, warnings = {}, [], {}, []
    for id, one in sent.items():
        task, row = found.get(one.task_id), rows.get(id)
        if task is None or row is None or not (row["state"] == "pending" or id in late):
            continue
        is_waiting, text = row["state"] == "pending", _plain(task.content)
        is_reworded = text not in ("", _plain(one.content), content_of(row))
        if task.state in ("deleted", "unknown"):
            if is_waiting and task.state == "deleted":
                rejected.append(id)
            elif is_waiting:
                warnings.append(GONE.format(id=id))
        elif REJECTED_LABEL in task.labels:
            rejected.append(id)
        elif is_reworded and is_fixed(row):
            warnings.append(FIXED.format(id=id))
        elif task.state == "completed":
            approved[id] = text if is_reworded else None
        elif is_waiting and is_reworded:
            edited[id] = text
    return Reading(approved, tuple(sorted(rejected)), edited, tuple(warnings))


def plan(
    decisions: pl.DataFrame,
    sent: Mapping[str, Sent],
    found: Mapping[str, Task],
    rules: Rules,
    is_forgotten: Forgotten = lambda text: False,
) -> list[Step]:
    """Returns what has to be done for the list to ask about what waits, in its present words, and about nothing else.

    What a person did to a task and nobody has read yet is left as it is.
    """
    reading = read_tasks(sent, found, decisions)
    unread = {*reading.approved, *reading.rejected, *reading.edited}
    rows = _by_id(decisions)
    steps = []
    for id, one in sent.items():
        task, row = found.get(one.task_id), rows.get(id)
        if task is None:
            continue  # sent by another process since the list was looked at
        if is_forgotten(f"{task.content}\n{task.description}"):
            steps.append(Step("delete", id, one.task_id))
        elif id not in unread:
            is_late = one.at + timedelta(days=rules.review_days) <= rules.now
            steps += _closing(row, one, task, is_late=is_late) + _rewording(row, one, task)
    waiting = (row for row in rows.values() if row["state"] == "pending" and row["proposal_id"] not in sent)
    return steps + [Step("add", row["proposal_id"], content=content_of(row)) for row in waiting]


def _closing(row: Mapping[str, Any] | None, one: Sent, task: Task, *, is_late: bool) -> list[Step]:
    """Returns how the task of a decided proposal ends; of one that is not known at present, only once it would have expired."""
    if (row is None and not is_late) or (row is not None and row["state"] == "pending"):
        return []
    is_kept = row is not None and row["state"] == "promoted"
    if task.state in ("deleted", "unknown") or (is_kept and task.state == "completed"):
        return [Step("note", one.proposal_id, one.task_id)]
    return [Step("complete" if is_kept else "delete", one.proposal_id, one.task_id)]


def _rewording(row: Mapping[str, Any] | None, one: Sent, task: Task) -> list[Step]:
    if row is None or row["state"] != "pending" or task.state != "open":
        return []
    wanted = content_of(row)
    return [] if _plain(wanted) == _plain(one.text) else [Step("reword", one.proposal_id, one.task_id, wanted)]


def bring_in_step(
    tasks: TaskList,
    decisions: pl.DataFrame,
    ledger: Ledger,
    rules: Rules,
    key: bytes,
    shown: Mapping[str, Shown] | None = None,
    is_forgotten: Forgotten = lambda text: False,
) -> Counter[str]:
    """Makes, rewords and closes tasks, each noted in the ledger as soon as it is done, and returns how many of each kind.

    Raises `TaskListError` at the first that cannot be done; what was done until then is noted, the rest is due as before.
    `key` is the store's own, and `shown` tells what stands around a friction.
    """
    steps = plan(decisions, open_tasks(ledger.events(KINDS)), look(tasks, ledger), rules, is_forgotten)
    rows = _by_id(decisions)
    is_adding = any(step.kind == "add" for step in steps)
    unnoted = _unnoted(tasks.labelled(rules.now - timedelta(days=rules.review_days) - CLOCKS_APART), key) if is_adding else {}
    done: Counter[str] = Counter()
    for step in steps:
        if step.kind == "add":
            made = unnoted.get(step.proposal_id)
            _add(tasks, step, made, describe(rows[step.proposal_id], step.content, key, shown or {}), ledger, key)
        else:
            _change(tasks, step, ledger)
        done[step.kind] += 1
    return done


def _add(tasks: TaskList, step: Step, made: Task | None, description: str, ledger: Ledger, key: bytes) -> None:
    """Makes a task, or notes the one that was made and not noted: what it says by now may be a person's rewording."""
    task = made or tasks.add(step.content, description)
    is_as_sent = made is None or _content_mark(made) == _mark(key, step.proposal_id, _plain(made.content))
    text = made.content if made and is_as_sent else step.content
    _note(ledger, step.proposal_id, task if is_as_sent else replace(task, content=step.content), text)


def _change(tasks: TaskList, step: Step, ledger: Ledger) -> None:
    if step.kind == "reword":
        _note(ledger, step.proposal_id, tasks.reword(step.task_id, step.content), step.content)
        return
    if step.kind == "complete":
        tasks.complete(step.task_id)
    elif step.kind == "delete":
        tasks.delete(step.task_id)
    ledger.append(CLOSED, step.proposal_id, {"task_id": step.task_id}, actor=ACTOR)


def _note(ledger: Ledger, proposal_id: str, task: Task, text: str) -> None:
    stands = {"task_id": task.id, "project_id": task.project_id, "content": task.content}
    ledger.append(SENT, proposal_id, {**stands, "text": text}, actor=ACTOR)


def content_of(row: Mapping[str, Any]) -> str:
    """Returns what the task of a decision says: the proposed text, or which line is to go."""
    whole = _whole(row)
    return f"{whole[: LONGEST - 1]}…" if is_cut(row) else whole


def is_cut(row: Mapping[str, Any]) -> bool:
    """Returns whether the text is too long for a task."""
    return len(_whole(row)) > LONGEST


def is_fixed(row: Mapping[str, Any]) -> bool:
    """Returns whether the task cannot be reworded: it asks whether a line may go, or does not show the whole text."""
    return not row["text"] or is_cut(row)


def _whole(row: Mapping[str, Any]) -> str:
    return _plain(shown_text(row) if row["text"] else f"Retire: {shown_text(row)}")


def describe(row: Mapping[str, Any], content: str, key: bytes, shown: Mapping[str, Shown]) -> str:
    """Returns the description of a task: where it would go, why it waits, how to decide, and our mark."""
    around = shown.get(row["proposal_id"])
    lines = [
        around.heading if around else heading_of(row),
        "" if around else instead_of(row),
        around.why if around else row["reason"],
        *(line.strip() for line in (around.details if around else ())),
        "Only its beginning is shown here; REVIEW.md has it whole." if is_cut(row) else "",
        HOW_FIXED if is_fixed(row) else HOW,
        f"[{row['proposal_id']} {_mark(key, row['proposal_id'])} {_mark(key, row['proposal_id'], content)}]",
    ]
    return "\n".join(line for line in lines if line)


def _unnoted(tasks: Sequence[Task], key: bytes) -> dict[str, Task]:
    """Returns the tasks that carry a mark of this store, by proposal; what else has the label is not ours."""
    marked = [(mark["id"], mark["store"], task) for task in tasks if (mark := _MARK.search(task.description))]
    return {id: task for id, store, task in reversed(marked) if store == _mark(key, id)}


def _content_mark(task: Task) -> str:
    found = _MARK.search(task.description)
    return found["content"] if found else ""


def _by_id(decisions: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return {row["proposal_id"]: row for row in decisions.iter_rows(named=True)}


def _mark(key: bytes, *parts: str) -> str:
    return hmac.new(key, "\n".join(parts).encode(), hashlib.sha256).hexdigest()[:12]


def _plain(text: str) -> str:
    return " ".join(text.split())
