"""Lessons as assets: by the day on which they were taught, and the file that every session is briefed from."""

import dagster as dg
import polars as pl

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check
from memory_assets.assets.glue import OWNERS, materialise_days, table_asset
from memory_assets.runs.pending import lesson_inputs
from memory_assets.services.active_lessons import LESSONS_MD, lessons_of
from memory_assets.stages.brief.lessons import render_lessons
from memory_assets.stages.distill import LESSONS_VERSION
from memory_assets.stages.distill.lessons import find_lessons
from memory_assets.store.store import Store
from memory_assets.text.files import write_atomically

GROUP = "distill"


@table_asset("lessons", group=GROUP, version=LESSONS_VERSION, daily=True, deps=["messages", "windows"])
def lessons(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What corrections and rules of the owner ask of every later session, from short sessions, too."""
    inputs = lesson_inputs(store, context.partition_keys)
    return materialise_days(context, store, "lessons", inputs=inputs.__getitem__, build=lambda day: _find(store, day))


def _find(store: Store, day: str) -> pl.DataFrame:
    windows = store.tables.read("windows").filter(pl.col("day").cast(pl.String) == day)
    return find_lessons(store.tables.read("messages", [day]), windows)


@dg.asset(
    group_name="brief", owners=OWNERS, kinds={"markdown", "git"}, code_version=LESSONS_VERSION, deps=["lessons", "memories"]
)
def lessons_md(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """lessons.md: what the owner taught and did not take back, under git."""
    with store.lock():
        found = lessons_of(store)
        path, text = store.workspace / LESSONS_MD, render_lessons(found)
        if text or path.is_file():
            workspace = GitWorkspace(store.workspace)
            workspace.prepare()
            write_atomically(path, text.encode())
            workspace.commit(f"Learn: {len(found)} lesson{'' if len(found) == 1 else 's'} from corrections", [LESSONS_MD])
    return dg.MaterializeResult(metadata={"lessons": len(found), "path": dg.MetadataValue.path(str(path))})


def _without_message(store: Store, parts: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("lessons", parts, columns=["lesson_id", "message_id"])
    return found.join(store.tables.read("messages", parts, columns=["message_id"]), on="message_id", how="anti")


ASSETS = [lessons, lessons_md]
CHECKS = [
    schema_check("lessons"),
    no_secrets_check("lessons"),
    rows_check("lessons", "messages_exist", "The message of every lesson is there.", _without_message),
]
