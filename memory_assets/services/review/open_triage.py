"""Opens a triage of a store, reads the decisions that people made in REVIEW.md, and synchronises
the owner's task list.

The rules are in `stages/triage`; the assets of that group apply them.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import filelock
import numpy as np
import polars as pl

from memory_assets.adapters.git_workspace import ChangedLine, GitWorkspace
from memory_assets.adapters.todoist_tasks import TOKEN, TodoistTasks
from memory_assets.errors import ModelError, StoreBusyError, TaskListError
from memory_assets.schema.extras import further_sources, gather
from memory_assets.schema.frames import hash_of
from memory_assets.schema.protocols import Row, Task, TaskList
from memory_assets.schema.records import MEMORY_MD
from memory_assets.services.models.open_models import withheld_lines
from memory_assets.services.search.corpus import open_embedder
from memory_assets.services.settings.which_store import is_sample
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.embed.present import read_present
from memory_assets.stages.friction.review import FrictionItem, show_frictions
from memory_assets.stages.reflect.proposals import section_of
from memory_assets.stages.triage import promote, run
from memory_assets.stages.triage.auto import GIVEN_UP, PUBLISHED, only_person
from memory_assets.stages.triage.batch import (
    ReviewQuestion,
    plan_reviews,
    promoted_entries,
    read_verdicts,
    unreviewed,
)
from memory_assets.stages.triage.comparison import StatementComparison
from memory_assets.stages.triage.contradictions import AdrContradiction
from memory_assets.stages.triage.current import read_proposals
from memory_assets.stages.triage.decisions import DECIDED, EDITED
from memory_assets.stages.triage.human import put_back
from memory_assets.stages.triage.memory_md import Entry, read_entries
from memory_assets.stages.triage.page import usefulness
from memory_assets.stages.triage.projects import FOLDER, home_of, memory_files
from memory_assets.stages.triage.review_time import last_days
from memory_assets.stages.triage.tasks import fetch_tasks, sync_tasks, unapplied_decisions
from memory_assets.store.ledger import Event
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.files import replace_if_same

GUARDED = ("preferences", "rules-conventions")
"""Categories whose sections accept only statements of the owner."""


def rules_of(settings: Settings, first_number: int = 1) -> run.TriageRules:
    """Returns the rules of a triage with these settings."""

    def section(category: str) -> str:
        return section_of(category, settings.sections, settings.owner)

    return run.TriageRules(
        settings.clock(),
        settings.owner,
        settings.review_days,
        list(map(section, settings.sections)),
        frozenset(section(category).casefold() for category in GUARDED),
        trust_after=settings.trust_after,
        zone=settings.zone,
        first_number=first_number,
    )


def workspace_of(store: Store) -> GitWorkspace:
    """Returns the workspace's repository, creating it if needed."""
    workspace = GitWorkspace(store.workspace)
    workspace.prepare()
    return workspace


def triage_of(store: Store, workspace: GitWorkspace | None = None) -> run.Triage:
    """Returns a triage of the store, creating the workspace's repository if needed."""
    comparison = StatementComparison(partial(_encode, store.settings.embedding_model))
    rules = rules_of(store.settings, store.first_number)
    workspace = workspace or workspace_of(store)
    return run.Triage(workspace, store.ledger, store.tables, store.archive, rules, comparison)


def reading_triage(store: Store) -> run.Triage:
    """Returns a triage of the store that creates nothing."""
    return triage_of(store, GitWorkspace(store.workspace))


def _encode(model: str, texts: Sequence[str]) -> np.ndarray | None:
    """Returns the vectors of the texts; None where the embedding model is missing."""
    try:
        return open_embedder(model).encode(texts)
    except ModelError:
        return None


def triage_answers(store: Store) -> AnswerStore:
    """Returns the stored answers of models about proposals."""
    return AnswerStore(store.answers / "triage")


def proposals_to_review(store: Store, reviews: pl.DataFrame) -> list[dict[str, Any]]:
    """Returns the proposals that a model has not reviewed and may be sent; none that somebody else
    wrote.
    """
    may_send = store.settings.may_send
    waiting = run.waits_for_review(store.tables, reviews)
    allowed = (row for row in waiting if PUBLISHED not in row["session_ids"])
    return [row for row in allowed if may_send(row["project"])]


def review_questions(store: Store, model: str) -> list[ReviewQuestion]:
    """Returns the requests to the model about the proposals of `proposals_to_review`."""
    answers = triage_answers(store)
    reviews = read_verdicts(answers.every())
    pending = proposals_to_review(store, reviews.clear())
    waiting = list(unreviewed(pending, reviews))
    if not waiting:
        return []
    return plan_reviews(waiting, _open_entries(store, pending, reviews), model, answers)


def _open_entries(
    store: Store, pending: Sequence[Row], reviews: pl.DataFrame
) -> dict[str, list[Entry]]:
    """Returns the entries of each file that a model may see, and the lines that it promoted of the
    pending proposals.
    """
    withheld = withheld_lines(store)
    workspace = GitWorkspace(store.workspace)
    entries = promoted_entries({row["proposal_id"]: row for row in pending}, reviews)
    for path in memory_files(store.workspace):
        in_file = read_entries(promote.read_memory(workspace, path))
        open_entries = [entry for entry in in_file if entry.text not in withheld]
        entries[path] = [*open_entries, *entries.get(path, ())]
    return entries


def read_review(store: Store) -> run.ReviewFile:
    """Returns REVIEW.md with its decisions, the proposals whose lines are lost, and warnings where
    an editor seems to have saved only half of it.
    """
    return reading_triage(store).read_review_file()


def restore_lost(store: Store) -> None:
    """Writes the lines of lost proposals into REVIEW.md again; other changes of the file are
    kept.
    """
    lossless = ("utf-8", "surrogateescape")
    with store.lock():
        file = read_review(store)
        committed = GitWorkspace(store.workspace).at_head(run.REVIEW_MD)
        if file.reading.lost and file.content and committed:
            present = file.content.decode(*lossless)
            restored = put_back(committed.decode(*lossless), present, file.reading.lost)
            path = store.workspace / run.REVIEW_MD
            replace_if_same(path, file.content, restored.encode(*lossless))


def read_pending(store: Store) -> list[dict[str, Any]]:
    """Returns the pending proposals, the most useful first.

    A proposal is pending if the last triage left it so and the ledger has no decision since. A row
    has the columns of the proposal and of its decision, and the `path` of the file that its line is
    for. The reason and the deadline are those that the last triage wrote.
    """
    triage = reading_triage(store)
    columns = ["proposal_id", "state", "reason", "expires_at"]
    table = store.tables.read("decisions", columns=columns).filter(state="pending")
    reasons = dict(table.select("proposal_id", "reason").iter_rows())
    proposals = triage.current()
    pending = triage.read_decisions(reasons).filter(state="pending").drop("expires_at")
    pending = pending.join(table.select("proposal_id", "expires_at"), on="proposal_id")
    path_of_line = promote.files_of_lines(promote.read_lines(triage.workspace))
    rows = [proposals[row["proposal_id"]] | row for row in pending.iter_rows(named=True)]
    rows.sort(key=usefulness)
    for row in rows:
        row["path"] = path_of_line.get(row["entry"]) or home_of(row)
        row["needs_person"] = only_person(row, triage.rules.guarded)
    return rows


def write_decided(store: Store) -> list[Event]:
    """Writes the lines of decided proposals into the files of entries, without a whole triage.

    Returns the events of the lines that it added and removed.
    """
    with store.lock():
        triage = triage_of(store)
        old_count = len(store.ledger.events([promote.PROMOTED, promote.RETIRED]))
        triage.write_memory()
        return store.ledger.events([promote.PROMOTED, promote.RETIRED])[old_count:]


def last_commit(store: Store) -> str | None:
    """Returns the id of the workspace's last commit; None where there is none yet."""
    return GitWorkspace(store.workspace).head()


def changed_since(store: Store, commit: str | None) -> list[ChangedLine]:
    """Returns the lines of the files of entries that changed since the commit."""
    lines = GitWorkspace(store.workspace).changed_lines(commit, [MEMORY_MD, FOLDER])
    return [line for line in lines if line.text.strip()]


def take_back(store: Store, proposal_id: str) -> None:
    """Reopens a decided proposal and reverts the edit of MEMORY.md that it led to."""
    with store.lock():
        triage_of(store).take_back(proposal_id)


def take_along(store: Store, memory_id: str, *, text: str = "") -> None:
    """Updates the pending proposals of a memory that was corrected to `text`; an empty text means
    that the memory was forgotten.

    Does not wait for a process that holds the store's lock: the next triage updates REVIEW.md.
    """
    is_forgotten = not text
    proposal_ids = _proposals_of(store, memory_id)
    for id in proposal_ids:
        if is_forgotten:
            # Tier 1: rules decide it, as a triage would.
            reason = GIVEN_UP["forgotten"]
            rejection = {"state": "rejected", "tier": 1, "reason": reason}
            store.append_event(DECIDED, id, rejection)
        else:
            store.append_event(EDITED, id, {"text": text})
    if not store.tables.parts("decisions"):
        return
    # A forgetting may have erased proposals, so it always changes the file.
    if proposal_ids or is_forgotten or shows_more_than_proposals(store):
        with suppress(StoreBusyError), store.lock(wait_seconds=0):
            write_review(store)


def shows_more_than_proposals(store: Store) -> bool:
    """Returns whether REVIEW.md also shows rows of tables of optional capabilities."""
    return any(map(store.tables.has_rows, further_sources("review_md")))


def _proposals_of(store: Store, memory_id: str) -> list[str]:
    """Returns the pending proposals of new lines that rest on the memory.

    A proposal with an `entry` changes or removes a line, and is left out.
    """
    if not store.tables.parts("decisions"):
        return []
    memories = read_present(store.tables, store.ledger).filter(id=memory_id)
    source_ids = {memory_id, *memories["observation_ids"].explode()}
    decisions = reading_triage(store).read_decisions()
    pending = decisions.filter(pl.col("entry").is_null(), state="pending")["proposal_id"]
    proposals = read_proposals(store.tables)
    proposals = proposals.filter(pl.col("proposal_id").is_in(pending.implode()))
    rows = proposals.select("proposal_id", "observation_ids", "memory_id").iter_rows()
    return [id for id, ids, source in rows if not source_ids.isdisjoint([source, *ids])]


def write_review(store: Store, workspace: GitWorkspace | None = None) -> bool:
    """Writes REVIEW.md as a triage does; the caller holds the store's lock.

    Returns False, and writes nothing, if a person changed the file meanwhile.
    """
    contradicted = [asdict(item) for item in read_contradictions(store)]
    triage = triage_of(store, workspace)
    return triage.write_review(shown_frictions(store), contradicted)


def read_contradictions(store: Store) -> tuple[AdrContradiction, ...]:
    """Returns the memories that contradict documents of optional capabilities."""
    return tuple(gather("contradictions", store))


def shown_frictions(store: Store) -> Mapping[str, FrictionItem]:
    """Returns the review items of recurring problems."""
    frictions = store.tables.read("friction")
    return show_frictions(frictions, last_days(store.tables), home_of)


@dataclass(frozen=True)
class TaskSnapshot:
    """The present tasks about proposals, or why they could not be read."""

    tasks: Mapping[str, Task] = field(default_factory=dict)
    """By their id."""
    problem: str = ""


def tasks_of(store: Store) -> TaskList | None:
    """Returns the owner's task list if its token is set; the sample and branches have none."""
    settings = store.settings
    if not os.environ.get(TOKEN) or is_sample(settings) or store.origin is not None:
        return None
    label = settings.todoist_label
    project = settings.todoist_project
    return TodoistTasks(settings.clock, label=label, project=project, url=settings.todoist_url)


def read_task_snapshot(store: Store) -> TaskSnapshot:
    """Returns the present tasks with forgotten words masked; waits for the server of the task
    list.
    """
    tasks = tasks_of(store)
    if tasks is None:
        return TaskSnapshot()
    try:
        fetched = fetch_tasks(tasks, store.ledger)
    except TaskListError as error:
        return TaskSnapshot(problem=str(error))
    mask = tombstones_of(store).mask_text
    masked = {id: replace(task, content=mask(task.content)) for id, task in fetched.items()}
    return TaskSnapshot(masked)


def task_decisions_hash(store: Store, snapshot: TaskSnapshot) -> str:
    """Returns a hash of the tasks' decisions that no triage has applied yet; empty where there are
    none.
    """
    if not snapshot.tasks:
        return ""
    decisions = unapplied_decisions(snapshot.tasks, reading_triage(store))
    has_any = decisions.approved or decisions.rejected or decisions.edited
    return hash_of(decisions) if has_any else ""


def sync_task_list(store: Store, items: Mapping[str, FrictionItem]) -> tuple[dict[str, int], str]:
    """Synchronises the tasks with the pending proposals; returns the number of changes by kind, and
    the error, if any.

    Holds its own lock instead of the store's, because the server may be slow.
    """
    tasks = tasks_of(store)
    if tasks is None:
        return {}, ""
    mask = tombstones_of(store).mask_text
    about = (reading_triage(store), store.key, items)
    try:
        with filelock.FileLock(store.root / "tasks.lock", timeout=0, mode=0o600):
            return dict(sync_tasks(tasks, *about, lambda text: mask(text) != text)), ""
    except filelock.Timeout:  # another process synchronises
        return {}, ""
    except TaskListError as error:
        return {}, str(error)
