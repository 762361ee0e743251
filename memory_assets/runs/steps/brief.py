"""Builds lessons.md and the briefings, and updates the stored status."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.runs import scopes
from memory_assets.runs.results import Report, Run
from memory_assets.schema.records import MEMORY_MD
from memory_assets.services.health.status import keep_status
from memory_assets.services.models.model_questions import waiting_windows
from memory_assets.services.review.open_triage import workspace_of
from memory_assets.services.review.written_lines import WrittenLine, count_outdated, read_lines
from memory_assets.services.search import brief_inputs
from memory_assets.services.search.named import names_only_gone
from memory_assets.services.settings.which_store import is_sample
from memory_assets.stages.brief.briefing import PACK_SHARE, render_briefing, render_session
from memory_assets.stages.brief.lessons import render_lessons
from memory_assets.stages.deliver.shown_context import drop_old
from memory_assets.stages.embed.harness_memories import IS_SAID
from memory_assets.stages.triage.projects import path_of
from memory_assets.store.ready import file_name, full_path
from memory_assets.store.settings import NOT_ASKED
from memory_assets.store.store import Store
from memory_assets.text.files import text_of, write_atomically, write_where_changed
from memory_assets.text.masking.records import mask_record
from memory_assets.text.words import count_tokens, counted, text_hash

SESSIONS = "sessions"
"""Folder below `BRIEFINGS`: for each long session a text that is added when it is resumed."""


def lessons_md(store: Store, _: Run) -> Report:
    """Writes lessons.md and commits it."""
    path = store.workspace / brief_inputs.LESSONS_MD
    with store.lock():
        lessons = brief_inputs.lessons_of(store)
        text = render_lessons(lessons)
        if text or path.is_file():
            workspace = workspace_of(store)
            # First commits what a person wrote, so that the history keeps it.
            workspace.commit_by_hand([brief_inputs.LESSONS_MD], store.settings.owner)
            write_atomically(path, text.encode())
            count = counted(len(lessons), "lesson")
            workspace.commit(f"Learn: {count} from corrections", [brief_inputs.LESSONS_MD])
    return Report({"lessons": len(lessons), "path": path})


def briefing(store: Store, run: Run) -> Report:
    """Writes the briefings of the run's scopes if they changed.

    Each has a short text and a full one. With the owner's scope, also updates the texts of long
    sessions and the prepared status.
    """
    with store.lock():
        # Documents are recalled on demand, and what names only what is gone, but not shown here.
        is_gone = pl.col("id").is_in(names_only_gone(store.tables))
        memories = store.tables.read("memories").filter(IS_SAID, ~is_gone)
        asked = pl.col("expires_at").is_not_null()
        decisions = store.tables.read("decisions", columns=["state", "expires_at"])
        lines = [*read_lines(store)]
        render = partial(
            render_briefing,
            _masked_memory(store, MEMORY_MD, lines),
            memories,
            pending=decisions.filter(asked, state="pending").height,
            undistilled=_undistilled(store),
            expiring=brief_inputs.expiring_on(store),
            owner=store.settings.owner,
            due=brief_inputs.due_triggers(store, memories),
            lessons=brief_inputs.lessons_of(store),
            tasks=[asdict(work) for work in brief_inputs.open_work(store)],
            reflected=brief_inputs.reflected_memories(store, memories),
            active=brief_inputs.active_projects(store),
        )
        budget = int(PACK_SHARE * store.settings.context_tokens)
        parameters = _parameters_of(store, run.partitions, memories, lines)
        texts: dict[str, str] = {}
        for scope, of_scope in parameters.items():
            texts[scope] = render(**of_scope)
            path = scopes.briefing_path(store, scope)
            write_where_changed(path, texts[scope])
            store.note(scopes.briefing_note(scope), text_hash(texts[scope]))
            full = render(**of_scope, budget_tokens=budget, is_full=True)
            write_where_changed(_full(store, path), full)
        if scopes.OWNER in run.partitions:
            _remove_others(store)
            keep_sessions(store)
            keep_status(store, is_sample=is_sample(store.settings))
            drop_old(str(store.root))
    tokens = {scope: {"tokens": count_tokens(text)} for scope, text in texts.items()}
    figures = {"briefings": len(texts), "path": store.workspace / scopes.BRIEFING_MD}
    return Report(figures, by_partition=tokens)


def _undistilled(store: Store) -> int:
    """Returns the number of sessions that wait for an agent; none where runs ask a model."""
    if store.settings.model_of("observer") not in NOT_ASKED:
        return 0
    return waiting_windows(store)["session_id"].n_unique()


def _parameters_of(
    store: Store, keys: Iterable[str], memories: pl.DataFrame, lines: Sequence[WrittenLine]
) -> dict[str, dict[str, Any]]:
    """Returns by scope the arguments of `render_briefing` that differ between scopes."""
    zone = store.settings.zone
    refused = brief_inputs.refused_lines(store)
    latest = memories.group_by("project").agg(pl.col("event_at").max())
    latest_at = dict(latest.iter_rows())
    names = {path_of(name): name for name in sorted(latest_at)}
    parameters: dict[str, dict[str, Any]] = {}
    for scope in keys:
        if scope == scopes.OWNER:
            parameters[scope] = {"as_of": None, "outdated": _outdated(lines, MEMORY_MD)}
            continue
        file = scopes.file_of(scope)
        name = names.get(file, Path(file).stem)
        event_at = latest_at.get(name)
        parameters[scope] = {
            "project_md": _masked_memory(store, file, lines),
            "project": name,
            "refused": refused.get(name, ()),
            "outdated": _outdated(lines, MEMORY_MD, file),
            "as_of": event_at.astimezone(zone).date() if event_at else None,
        }
    return parameters


def _outdated(lines: Iterable[WrittenLine], *paths: str) -> str:
    return count_outdated([line for line in lines if line.path in paths])


def _masked_memory(store: Store, path: str, lines: Iterable[WrittenLine]) -> str:
    """Returns the text of a file of entries, with secrets masked that a person typed into it, and
    marks on those of its lines that name what is gone.
    """
    written = text_of(store.workspace / path).split("\n")
    for line in lines:
        if line.gone_names and line.path == path:
            place = line.entry.number - 1
            written[place] = f"{written[place].rstrip()} [{line.gone_names.mark}]"
    return mask_record("\n".join(written))


def _remove_others(store: Store) -> None:
    """Deletes the briefings of projects that are no scope any more."""
    names = {f"{Path(scope).name}.md" for scope in scopes.scopes_of(store)}
    for path in [*(store.workspace / scopes.BRIEFINGS).glob("*.md")]:
        if path.name not in names:
            path.unlink()
            _full(store, path).unlink(missing_ok=True)


def keep_sessions(store: Store) -> int:
    """Writes a short and a full text for each session with a reflection; deletes all others.

    Returns the number of sessions.
    """
    short_folder = store.workspace / scopes.BRIEFINGS / SESSIONS
    rows = store.tables.read("session_reflections").to_dicts()
    tasks = {work.session_id: asdict(work) for work in brief_inputs.open_work(store)}
    for folder in (short_folder, _full(store, short_folder)):
        names = set[str]()
        for row in rows:
            name = f"{file_name(row['session_id'])}.md"
            names.add(name)
            is_full = folder != short_folder
            text = render_session(row, tasks.get(row["session_id"]), is_full=is_full)
            write_where_changed(folder / name, text)
        for path in folder.glob("*.md"):
            if path.name not in names:
                path.unlink()
    return len(rows)


def _full(store: Store, path: Path) -> Path:
    """Returns the path of the full text that belongs to a short one."""
    return Path(full_path(str(store.root), str(path)))


BUILDERS = (lessons_md, briefing)
"""The functions that build the tables of their names (`runs.builders`)."""
