"""The timeline as an asset: each finished week as a chapter whose every sentence cites what it rests on."""

from datetime import date

import dagster as dg
import polars as pl

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check
from memory_assets.assets.condensing import days_of
from memory_assets.assets.glue import DAYS_PER_RUN, WEEKS, materialise_days, table_asset
from memory_assets.assets.reflect import GROUP
from memory_assets.runs.pending import telling_inputs
from memory_assets.stages.reflect import TIMELINE_VERSION
from memory_assets.stages.reflect.gradient import WEEK
from memory_assets.stages.reflect.timeline import commits_in, name_of_chapter, render_chapter, tell_week
from memory_assets.store.store import Store
from memory_assets.text.files import write_where_changed

TABLE = "timeline"


@table_asset(
    TABLE,
    group=GROUP,
    version=TIMELINE_VERSION,
    daily=False,
    deps=["reflections"],
    partitions_def=WEEKS,
    backfill_policy=dg.BackfillPolicy.multi_run(DAYS_PER_RUN),
)
def timeline(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Each finished week as a chapter: what was worked on, laid down and committed, every sentence with its sources."""
    inputs = {part: f"{what} {TIMELINE_VERSION}" for part, what in telling_inputs(store, WEEK).items()}
    result = materialise_days(
        context,
        store,
        TABLE,
        inputs=lambda part: inputs.get(part, "-"),
        build=lambda part: _tell(store, date.fromisoformat(part)),
    )
    with store.lock():
        changed = [path for part in context.partition_keys if (path := _write_chapter(store, date.fromisoformat(part)))]
        if changed:
            workspace = GitWorkspace(store.workspace)
            workspace.prepare()
            workspace.commit(f"Tell {len(changed)} week{'' if len(changed) == 1 else 's'}", changed)
    return result._replace(metadata={**(result.metadata or {}), "chapters_changed": len(changed)})


def _tell(store: Store, first: date) -> pl.DataFrame:
    days = days_of(WEEK, first)
    seen, segments, said = (store.tables.read(table, days) for table in ("observations", "segments", "messages"))
    return tell_week(first, seen, segments, said, store.tables.read("windows"), store.settings.zone)


def _write_chapter(store: Store, first: date) -> str | None:
    """Writes the owner's chapter and returns its path, or None where nothing changed."""
    own = store.tables.read(TABLE, [first.isoformat()]).filter(pl.col("person") == store.settings.owner)
    name, text = name_of_chapter(first), render_chapter(first, own) if own.height else ""
    return name if write_where_changed(store.workspace / name, text) else None


def _unfounded(store: Store, parts: list[str] | None) -> pl.DataFrame:
    """Returns sentences that cite nothing, or what is not there."""
    told = store.tables.read(TABLE, parts)
    days = {day for first in told["day"].unique() for day in days_of(WEEK, first)}
    known = set(store.tables.read("observations", days, columns=["id"])["id"])
    said = store.tables.read("messages", days, columns=["kind", "text"]).filter(pl.col("kind") == "tool_result")["text"]
    made = {hash for text in said.filter(said.str.contains(r"(?m)^\[[^\]]+\] \S")) for hash, _ in commits_in(text)}
    broken = [
        row["sentence_id"]
        for row in told.iter_rows(named=True)
        if not (row["observation_ids"] or row["commits"])
        or not known.issuperset(row["observation_ids"])
        or not made.issuperset(row["commits"])
    ]
    return told.filter(pl.col("sentence_id").is_in(broken)).select("sentence_id", "on", "project")


ASSETS = [timeline]
CHECKS = [
    schema_check(TABLE),
    no_secrets_check(TABLE),
    rows_check(TABLE, "every_sentence_cites", "Every sentence rests on observations or commits that are there.", _unfounded),
]
