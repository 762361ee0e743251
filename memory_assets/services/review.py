"""Opens what a triage needs of a store, looks at the surfaces on which people decide, and keeps their tasks in step.

Stands beside `corpus.py`: it opens and reads; `triage/` decides, and the assets of that name carry out.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import filelock

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.adapters.todoist_tasks import TOKEN, TodoistTasks
from memory_assets.errors import TaskListError
from memory_assets.schema.frames import hash_of
from memory_assets.schema.protocols import Task, TaskList
from memory_assets.services.which_store import is_sample
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.friction.review import FrictionItem
from memory_assets.stages.reflect.proposals import section_of
from memory_assets.stages.triage.human import put_back
from memory_assets.stages.triage.run import REVIEW_MD, ReviewFile, TriageRules, read_review_file
from memory_assets.stages.triage.tasks import fetch_tasks, sync_tasks, unapplied_decisions
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.files import replace_if_same

GUARDED = ("preferences", "rules-conventions")
"""Categories whose sections take only the owner's own words."""


def rules_of(settings: Settings) -> TriageRules:
    """Returns the rules of a triage with these settings."""
    order = [section_of(category, settings.sections, settings.owner) for category in settings.sections]
    guarded = frozenset(section_of(category, settings.sections, settings.owner).casefold() for category in GUARDED)
    how = {"trust_after": settings.trust_after, "zone": settings.zone}
    return TriageRules(settings.clock(), settings.owner, settings.review_days, order, guarded, **how)


def workspace_of(store: Store) -> GitWorkspace:
    """Returns the workspace's repository, made where there is none."""
    workspace = GitWorkspace(store.workspace)
    workspace.prepare()
    return workspace


def triage_answers(store: Store) -> AnswerStore:
    """Returns the raw answers of models about proposals."""
    return AnswerStore(store.answers / "triage")


def lost_proposals(store: Store) -> tuple[str, ...]:
    """Returns the proposals that are gone from REVIEW.md, where these are more at once than somebody may have meant."""
    return _surface(store).reading.lost


def put_lost_back(store: Store) -> None:
    """Writes the lines of lost proposals into REVIEW.md again, as they were; what was changed beside them stays as it is."""
    workspace = GitWorkspace(store.workspace)
    with store.lock():
        surface, ours = _surface(store), workspace.at_head(REVIEW_MD)
        if surface.reading.lost and surface.content and ours:
            wrote, there = (content.decode("utf-8", "surrogateescape") for content in (ours, surface.content))
            restored = put_back(wrote, there, surface.reading.lost).encode("utf-8", "surrogateescape")
            replace_if_same(store.workspace / REVIEW_MD, surface.content, restored)


def review_warnings(store: Store) -> tuple[str, ...]:
    """Returns what is odd about REVIEW.md as it lies there: half saved, or emptied by more than somebody may have meant."""
    return _surface(store).reading.warnings


def _surface(store: Store) -> ReviewFile:
    return read_review_file(GitWorkspace(store.workspace), store.ledger, store.tables, rules_of(store.settings))


@dataclass(frozen=True)
class Looked:
    """The tasks that ask about proposals as they stand, by id, and why they could not be looked at."""

    found: Mapping[str, Task] = field(default_factory=dict)
    problem: str = ""


def tasks_of(store: Store) -> TaskList | None:
    """Returns the owner's list of tasks, where the token of one is set; nobody is asked about the sample or a branch."""
    settings = store.settings
    if not os.environ.get(TOKEN) or is_sample(settings) or store.origin is not None:
        return None
    how = {"label": settings.todoist_label, "project": settings.todoist_project, "url": settings.todoist_url}
    return TodoistTasks(settings.clock, **how)


def look_at_tasks(store: Store) -> Looked:
    """Returns the tasks as they stand, with what is forgotten masked; takes as long as the list's server does."""
    tasks = tasks_of(store)
    if tasks is None:
        return Looked()
    try:
        found = fetch_tasks(tasks, store.ledger)
    except TaskListError as error:
        return Looked(problem=str(error))
    stones = tombstones_of(store)
    return Looked({id: replace(task, content=stones.mask_text(task.content)) for id, task in found.items()})


def tasks_say(store: Store, looked: Looked) -> str:
    """Returns the hash of what the tasks decide that no triage has heard; empty where they decide nothing."""
    if not looked.found:
        return ""
    said = unapplied_decisions(looked.found, store.ledger, store.tables, rules_of(store.settings))
    return hash_of(said) if said.approved or said.rejected or said.edited else ""


def keep_tasks_in_step(store: Store, shown: Mapping[str, FrictionItem]) -> tuple[dict[str, int], str]:
    """Lets the tasks ask about what waits, and about nothing else; returns what was done, by kind, and what went wrong.

    Holds a lock of its own, and not the store's: a server far away may take its time.
    """
    tasks = tasks_of(store)
    if tasks is None:
        return {}, ""
    decisions, stones = store.tables.read("decisions"), tombstones_of(store)
    try:
        with filelock.FileLock(store.root / "tasks.lock", timeout=0, mode=0o600):
            done = sync_tasks(
                tasks,
                decisions,
                store.ledger,
                rules_of(store.settings),
                store.key,
                shown,
                is_forgotten=lambda text: stones.mask_text(text) != text,
            )
    except filelock.Timeout:
        return {}, ""
    except TaskListError as error:
        return {}, str(error)
    return dict(done), ""
