"""Builds lessons.md and the briefings, and updates the stored status."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from memory_assets.runs.materialise import Report, Run
from memory_assets.runs.scopes import OWNER, file_of
from memory_assets.services.brief_inputs import LESSONS_MD, due_triggers, lessons_of, open_work
from memory_assets.services.health.status import keep_status
from memory_assets.services.review import workspace_of
from memory_assets.services.which_store import is_sample
from memory_assets.stages.brief.briefing import PACK_SHARE, render_briefing, render_session
from memory_assets.stages.brief.lessons import render_lessons
from memory_assets.stages.triage.projects import FOLDER, path_of
from memory_assets.stages.triage.promote import read_memory
from memory_assets.store.ready import file_name, full_path
from memory_assets.store.store import Store
from memory_assets.text.files import write_atomically, write_where_changed
from memory_assets.text.words import count_tokens

BRIEFING_MD, BRIEFINGS = "briefing.md", "briefings"
"""The owner's briefing, and the folder of those of projects that have a file of entries."""

SESSIONS = "sessions"
"""Folder below it: what long sessions established, added to the briefing when they are resumed."""


def lessons_md(store: Store, _: Run) -> Report:
    """Writes lessons.md and commits it."""
    with store.lock():
        found = lessons_of(store)
        path, text = store.workspace / LESSONS_MD, render_lessons(found)
        if text or path.is_file():
            workspace = workspace_of(store)
            write_atomically(path, text.encode())
            workspace.commit(f"Learn: {len(found)} lesson{'' if len(found) == 1 else 's'} from corrections", [LESSONS_MD])
    return Report({"lessons": len(found), "path": path})


def briefing(store: Store, run: Run) -> Report:
    """Writes the briefings of the run's scopes where they changed: the owner's with those of long sessions, and those of
    projects with a file of entries.
    """
    with store.lock():
        memories = store.tables.read("memories")
        newest = max(memories["event_at"], default=None)
        workspace = workspace_of(store)
        render = partial(
            render_briefing,
            read_memory(workspace),
            memories,
            pending=store.tables.read("decisions", columns=["state"]).filter(state="pending").height,
            owner=store.settings.owner,
            due=due_triggers(store, memories),
            lessons=lessons_of(store),
            tasks=[asdict(work) for work in open_work(store)],
            as_of=newest.astimezone(store.settings.zone).date() if newest else None,
        )
        budget = int(PACK_SHARE * store.settings.context_tokens)

        def both(**of_project: Any) -> tuple[str, str]:
            return render(**of_project), render(**of_project, budget_tokens=budget, is_full=True)

        names = {path_of(name): name for name in sorted(memories["project"].unique())}
        texts: dict[str, str] = {}
        for scope in run.partitions:
            file = file_of(scope)
            if scope == OWNER:
                (texts[scope], full), path = both(), store.workspace / BRIEFING_MD
            elif (store.workspace / file).is_file():
                texts[scope], full = both(project_md=read_memory(workspace, file), project=names.get(file, file))
                path = store.workspace / BRIEFINGS / file.removeprefix(f"{FOLDER}/")
            else:
                continue
            write_where_changed(path, texts[scope])
            write_where_changed(_full(store, path), full)
        if OWNER in run.partitions:
            keep_sessions(store)
            keep_status(store, is_sample=is_sample(store.settings))
    tokens = {scope: {"tokens": count_tokens(text)} for scope, text in texts.items()}
    return Report({"briefings": len(texts), "path": store.workspace / BRIEFING_MD}, by_partition=tokens)


def keep_sessions(store: Store) -> int:
    """Writes a file for each session with a reflection, removes the others, and returns the number of files."""
    folder = store.workspace / BRIEFINGS / SESSIONS
    rows = store.tables.read("session_reflections").to_dicts()
    tasks = {work.session_id: asdict(work) for work in open_work(store)}
    for is_full, into in ((False, folder), (True, _full(store, folder))):
        names = set[str]()
        for row in rows:
            names.add(name := f"{file_name(row['session_id'])}.md")
            write_where_changed(into / name, render_session(row, tasks.get(row["session_id"]), is_full=is_full))
        for path in into.glob("*.md"):
            if path.name not in names:
                path.unlink()
    return len(rows)


def _full(store: Store, path: Path) -> Path:
    return Path(full_path(str(store.root), str(path)))
