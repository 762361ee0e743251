"""The recall stage as assets: the summaries that broad questions are answered from, and how questions were answered."""

from collections.abc import Sequence
from datetime import date

import dagster as dg
import polars as pl

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check
from memory_assets.assets.glue import CATEGORIES, bars, table_asset, write_whole
from memory_assets.schema.frames import hash_of
from memory_assets.stages.recall.log import LOG_VERSION, OUTCOMES, by_day, log_recalls, shares
from memory_assets.stages.recall.summaries import (
    MOST_FACTS,
    MOST_TOKENS,
    PAGES,
    SUMMARISER,
    page_of,
    render_page,
    replaced_page_of,
    summarise,
    superfluous,
)
from memory_assets.store.ledger import RECALLED
from memory_assets.store.store import Store
from memory_assets.text.files import text_of, write_atomically

GROUP = "recall"


@table_asset(
    "category_summaries",
    group=GROUP,
    version=SUMMARISER,
    daily=False,
    deps=["memories"],
    partitions_def=CATEGORIES,
    backfill_policy=dg.BackfillPolicy.single_run(),
)
def category_summaries(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What is known in each category, about each project and of each person, in a few cited lines."""
    with store.lock():
        every = summarise(store.tables.read("memories"))
        found = every.filter(pl.col("category").is_in(context.partition_keys))
        of_category = {name: found.filter(pl.col("category") == name) for name in context.partition_keys}
        written = [name for name, rows in of_category.items() if write_category(store, name, rows)]
        pages = [place for name, rows in of_category.items() for place in write_page(store, name, rows)]
        if pages:
            workspace = GitWorkspace(store.workspace)
            workspace.prepare()
            workspace.commit("Summarise what is known", pages)
    for name, rows in of_category.items():
        counted = {"dagster/partition_row_count": rows.height}
        context.add_asset_metadata(counted, partition_key=name, asset_key="category_summaries")
    return dg.MaterializeResult(
        asset_key="category_summaries",
        metadata={
            "dagster/row_count": every.height,
            "categories_written": len(written),
            "pages_changed": len(pages),
            "tokens": int(found["tokens"].sum()),
            "facts_cited": int(found["memory_ids"].list.len().sum()),
            "facts": bars(_facts_of(found)),
        },
    )


def write_category(store: Store, category: str, rows: pl.DataFrame) -> bool:
    """Writes the summaries of a category where they changed, and returns whether they did."""
    present = store.tables.parts("category_summaries", [category]).get(category)
    if rows.is_empty():
        store.tables.drop("category_summaries", category)
        return present is not None
    inputs = hash_of(SUMMARISER, *rows.rows())
    if present is not None and present.inputs == inputs:
        return False
    store.tables.write("category_summaries", category, rows, inputs=inputs)
    return True


def write_page(store: Store, category: str, rows: pl.DataFrame) -> list[str]:
    """Writes a category's page where it changed, the one it replaces beside it, and returns the places that changed."""
    present, page = store.workspace / page_of(category), render_page(category, rows)
    before = text_of(present)
    if page == before:
        return []
    changed = [page_of(category)]
    if before:
        changed.append(replaced_page_of(category, store.settings.clock()))
        write_atomically(store.workspace / changed[-1], before.encode())
    kept = (f"{PAGES}/{path.name}" for path in present.parent.glob(f"{category}.*.md"))
    gone = superfluous(kept, store.settings.today(), store.settings.zone)
    if page:
        write_atomically(present, page.encode())
    for place in gone if page else [*gone, page_of(category)]:
        (store.workspace / place).unlink()
    return [*changed, *gone]


def _facts_of(found: pl.DataFrame) -> dict[str, int]:
    return dict(found.group_by("category").agg(pl.col("fact_count").sum()).sort("category").iter_rows())


@table_asset("recalls", group=GROUP, version=LOG_VERSION, daily=False, deps=["memories"])
def recalls(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """How questions were answered: the tier that knew, and what it cost."""
    with store.lock():
        frame = log_recalls(store.ledger.events([RECALLED]), store.settings.zone)
        return write_whole(
            store,
            "recalls",
            frame,
            hash_of(LOG_VERSION, *frame["recall_id"]),
            not_in_memory=int((frame["outcome"] == "not in memory").sum()),
            cost_usd=round(float(frame["cost_usd"].sum()), 4),
            answered_from=bars(shares(frame)),
            by_day=_table(by_day(frame)),
        )


def _table(days: Sequence[tuple[date, int, dict[str, float]]]) -> dg.MarkdownMetadataValue:
    head = [f"| day | questions | {' | '.join(OUTCOMES)} |", f"|---|---:|{'---:|' * len(OUTCOMES)}"]
    lines = [
        f"| {day} | {count} | " + " | ".join(f"{share.get(name, 0):.0%}" for name in OUTCOMES) + " |"
        for day, count, share in days
    ]
    return dg.MetadataValue.md("\n".join([*head, *lines]))


def _citing_nothing(store: Store, days: list[str] | None) -> pl.DataFrame:
    cited = store.tables.read("category_summaries", columns=["summary_id", "memory_ids"]).explode("memory_ids").drop_nulls()
    active = store.tables.read("memories", columns=["id", "state"]).filter(pl.col("state") == "active")
    return cited.join(active, left_on="memory_ids", right_on="id", how="anti")


def _too_long(store: Store, days: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("category_summaries", columns=["summary_id", "category", "memory_ids", "tokens"])
    return found.filter((pl.col("tokens") > MOST_TOKENS) | (pl.col("memory_ids").list.len() > MOST_FACTS)).drop("memory_ids")


ASSETS = [category_summaries, recalls]
CHECKS = [
    *(schema_check(table) for table in ("category_summaries", "recalls")),
    rows_check("category_summaries", "citations_resolve", "Every line rests on a memory that is active.", _citing_nothing),
    rows_check(
        "category_summaries",
        "short_enough",
        f"No summary has more than {MOST_FACTS} facts or {MOST_TOKENS} tokens.",
        _too_long,
        blocking=False,
        severity=dg.AssetCheckSeverity.WARN,
    ),
    *(no_secrets_check(table) for table in ("category_summaries", "recalls")),
]
