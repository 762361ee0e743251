"""Builds lessons.md and the briefings, and updates the stored status."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.runs.results import Report, Run
from memory_assets.runs.scopes import (
    BRIEFING_MD,
    BRIEFINGS,
    OWNER,
    briefing_note,
    briefing_path,
    file_of,
    scopes_of,
)
from memory_assets.schema.records import MEMORY_MD
from memory_assets.services.adrs import ADR
from memory_assets.services.health.status import keep_status
from memory_assets.services.review.open_triage import workspace_of
from memory_assets.services.search.brief_inputs import (
    LESSONS_MD,
    active_projects,
    due_triggers,
    expiring_on,
    lessons_of,
    open_work,
    reflected_memories,
    refused_lines,
)
from memory_assets.services.settings.which_store import is_sample
from memory_assets.stages.brief.briefing import PACK_SHARE, render_briefing, render_session
from memory_assets.stages.brief.lessons import render_lessons
from memory_assets.stages.deliver.told import drop_old
from memory_assets.stages.triage.projects import path_of
from memory_assets.stages.triage.promote import Workspace, read_memory
from memory_assets.store.ready import file_name, full_path
from memory_assets.store.store import Store
from memory_assets.text.files import write_atomically, write_where_changed
from memory_assets.text.masking.records import mask_record
from memory_assets.text.words import count_tokens, text_hash

SESSIONS = "sessions"
"""Folder below it: what long sessions established, added to the briefing when they are resumed."""


def lessons_md(store: Store, _: Run) -> Report:
    """Writes lessons.md and commits it."""
    with store.lock():
        found = lessons_of(store)
        path = store.workspace / LESSONS_MD
        text = render_lessons(found)
        if text or path.is_file():
            workspace = workspace_of(store)
            # What a person wrote stays in the history.
            workspace.commit_by_hand([LESSONS_MD], store.settings.owner)
            write_atomically(path, text.encode())
            workspace.commit(
                f"Learn: {len(found)} lesson{'' if len(found) == 1 else 's'} from corrections",
                [LESSONS_MD],
            )
    return Report({"lessons": len(found), "path": path})


def briefing(store: Store, run: Run) -> Report:
    """Writes the briefings of the run's scopes where they changed: the general one with those of
    long sessions, and those of projects.
    """
    with store.lock():
        # Documents are asked for.
        memories = store.tables.read("memories").filter(~pl.col("session_ids").list.contains(ADR))
        workspace = workspace_of(store)
        zone = store.settings.zone
        render = partial(
            render_briefing,
            _masked_memory(workspace, MEMORY_MD),
            memories,
            pending=store.tables.read("decisions", columns=["state"])
            .filter(state="pending")
            .height,
            expiring=expiring_on(store),
            owner=store.settings.owner,
            due=due_triggers(store, memories),
            lessons=lessons_of(store),
            tasks=[asdict(work) for work in open_work(store)],
            reflected=reflected_memories(store, memories),
            active=active_projects(store),
        )
        budget = int(PACK_SHARE * store.settings.context_tokens)
        refused = refused_lines(store)
        newest = dict(memories.group_by("project").agg(pl.col("event_at").max()).iter_rows())
        names = {path_of(name): name for name in sorted(newest)}
        texts: dict[str, str] = {}
        for scope in run.partitions:
            of_project: dict[str, Any] = {"as_of": None}
            path = briefing_path(store, scope)
            if scope != OWNER:
                file = file_of(scope)
                name = names.get(file, Path(file).stem)
                at = newest.get(name)
                of_project = {
                    "project_md": _masked_memory(workspace, file),
                    "project": name,
                    "refused": refused.get(name, ()),
                }
                of_project["as_of"] = at.astimezone(zone).date() if at else None
            texts[scope] = render(**of_project)
            write_where_changed(path, texts[scope])
            store.note(briefing_note(scope), text_hash(texts[scope]))
            write_where_changed(
                _full(store, path), render(**of_project, budget_tokens=budget, is_full=True)
            )
        if OWNER in run.partitions:
            _remove_others(store)
            keep_sessions(store)
            keep_status(store, is_sample=is_sample(store.settings))
            drop_old(str(store.root))
    tokens = {scope: {"tokens": count_tokens(text)} for scope, text in texts.items()}
    return Report(
        {"briefings": len(texts), "path": store.workspace / BRIEFING_MD}, by_partition=tokens
    )


def _masked_memory(workspace: Workspace, path: str) -> str:
    """Returns a file of entries with the secrets masked that a person typed into it."""
    return mask_record(read_memory(workspace, path))


def _remove_others(store: Store) -> None:
    """Deletes briefings whose project has no sessions, memories, proposals or file left."""
    known = {f"{Path(scope).name}.md" for scope in scopes_of(store)}
    folder = store.workspace / BRIEFINGS
    for path in [path for path in folder.glob("*.md") if path.name not in known]:
        path.unlink()
        _full(store, path).unlink(missing_ok=True)


def keep_sessions(store: Store) -> int:
    """Writes a file for each session with a reflection, removes the others, and returns the number
    of files.
    """
    folder = store.workspace / BRIEFINGS / SESSIONS
    rows = store.tables.read("session_reflections").to_dicts()
    tasks = {work.session_id: asdict(work) for work in open_work(store)}
    for is_full, into in ((False, folder), (True, _full(store, folder))):
        names = set[str]()
        for row in rows:
            names.add(name := f"{file_name(row['session_id'])}.md")
            write_where_changed(
                into / name, render_session(row, tasks.get(row["session_id"]), is_full=is_full)
            )
        for path in into.glob("*.md"):
            if path.name not in names:
                path.unlink()
    return len(rows)


def _full(store: Store, path: Path) -> Path:
    return Path(full_path(str(store.root), str(path)))
