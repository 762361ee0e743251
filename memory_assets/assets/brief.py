"""The brief stage as an asset: the briefing of the next session, kept ready as a file, and the status beside it."""

from functools import partial

import dagster as dg
import polars as pl

from memory_assets.services.active_lessons import lessons_of
from memory_assets.services.due_triggers import coming_up
from memory_assets.services.health.status import keep_status
from memory_assets.services.review import workspace_of
from memory_assets.services.which_store import is_sample
from memory_assets.stages.brief.briefing import BUDGET_TOKENS, render_briefing, render_session
from memory_assets.stages.triage.projects import FOLDER, memory_files, path_of
from memory_assets.stages.triage.run import read_memory
from memory_assets.store.ready import file_name
from memory_assets.store.store import Store
from memory_assets.text.files import write_where_changed
from memory_assets.text.tokens import count_tokens

GROUP = "brief"
BRIEFING_MD, BRIEFINGS = "briefing.md", "briefings"
"""The owner's briefing, and the folder of those of projects that have a file of entries."""

SESSIONS = "sessions"
"""Folder below it: what long sessions are told of themselves, below the briefing, when they go on."""


@dg.asset(
    group_name=GROUP,
    owners=["team:memory"],
    kinds={"markdown"},
    code_version="brief/4",
    deps=["memories", "memory_md", "decisions", "triggers", "lessons", "session_reflections"],
)
def briefing(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What the next session should know at once: MEMORY.md, recent facts, what comes up, what waits for a decision."""
    with store.lock():
        memories = store.tables.read("memories")
        newest = max(memories["event_at"], default=None)
        workspace = workspace_of(store)
        render = partial(
            render_briefing,
            read_memory(workspace),
            memories,
            pending=store.tables.read("decisions", columns=["state"]).filter(pl.col("state") == "pending").height,
            owner=store.settings.owner,
            due=coming_up(store, memories),
            lessons=lessons_of(store),
            as_of=newest.astimezone(store.settings.zone).date() if newest else None,
        )
        text, path = render(), store.workspace / BRIEFING_MD
        write_where_changed(path, text)
        names = {path_of(name): name for name in sorted(memories["project"].unique())}
        _, *own = memory_files(store.workspace)
        for file in own:
            joined = render(project_md=read_memory(workspace, file), project=names.get(file, file))
            write_where_changed(store.workspace / BRIEFINGS / file.removeprefix(f"{FOLDER}/"), joined)
        sessions = keep_sessions(store)
        keep_status(store, is_sample=is_sample(store.settings))
    told = {"tokens": count_tokens(text), "projects": len(own), "sessions": sessions}
    return dg.MaterializeResult(metadata={**told, "path": dg.MetadataValue.path(str(path))})


def keep_sessions(store: Store) -> int:
    """Writes a file for each session that has something to be told of itself, removes the others, and returns their number."""
    folder = store.workspace / BRIEFINGS / SESSIONS
    rows = store.tables.read("session_reflections").iter_rows(named=True)
    blocks = {f"{file_name(row['session_id'])}.md": render_session(row) for row in rows}
    for name, text in blocks.items():
        write_where_changed(folder / name, text)
    for path in folder.glob("*.md"):
        if path.name not in blocks:
            path.unlink()
    return len(blocks)


@dg.asset_check(asset="briefing", name="within_budget", description=f"The briefing has at most {BUDGET_TOKENS} tokens.")
def within_budget(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Measures the files."""
    files = [store.workspace / BRIEFING_MD, *(store.workspace / BRIEFINGS).glob("*.md")]
    tokens = max(count_tokens(path.read_text("utf-8")) for path in files)
    return dg.AssetCheckResult(passed=tokens <= BUDGET_TOKENS, metadata={"tokens": tokens})


ASSETS = [briefing]
CHECKS = [within_budget]
