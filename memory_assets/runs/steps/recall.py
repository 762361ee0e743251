"""Builds the summaries of categories and the log of recalls."""

from collections.abc import Sequence
from datetime import date
from typing import get_args

import polars as pl

from memory_assets.runs.inputs import summaries_version
from memory_assets.runs.results import Markdown, Report, Rows, Run, per_partition
from memory_assets.schema.frames import hash_of
from memory_assets.schema.tables import version_of
from memory_assets.schema.vocabulary import Category
from memory_assets.services.review.open_triage import workspace_of
from memory_assets.stages.recall.log import OUTCOMES, by_day, log_recalls, shares
from memory_assets.stages.recall.summaries import (
    PAGES,
    page_of,
    pages_to_delete,
    render_page,
    replaced_page_of,
    summarise,
)
from memory_assets.store.ledger import RECALLED
from memory_assets.store.store import Store
from memory_assets.text.files import text_of, write_atomically


def category_summaries(store: Store, run: Run) -> Report:
    """Writes the summaries and the pages of the categories that changed, and commits the pages."""
    with store.lock():
        version = summaries_version(store)
        is_in_run = pl.col("category").is_in(list(run.partitions))
        summaries = summarise(store.tables.read("memories")).filter(is_in_run)
        written = 0
        pages = list[str]()
        for category in run.partitions:
            rows = summaries.filter(category=category)
            written += write_category(store, category, rows)
            pages += write_page(store, category, rows)
        if pages:
            workspace_of(store).commit("Summarise what is known", pages)
        if set(run.partitions) == set(get_args(Category)):
            store.note("category_summaries", version)
    facts = summaries.group_by("category").agg(pl.col("fact_count").sum()).sort("category")
    figures = {
        "categories_written": written,
        "pages_changed": len(pages),
        "tokens": int(summaries["tokens"].sum()),
        "facts_cited": int(summaries["memory_ids"].list.len().sum()),
        "facts": dict(facts.iter_rows()),
    }
    return Report(figures)


def write_category(store: Store, category: str, rows: pl.DataFrame) -> bool:
    """Writes the summaries of a category if they changed, and returns whether they did."""
    present = store.tables.parts("category_summaries", [category]).get(category)
    if rows.is_empty():
        store.tables.drop("category_summaries", category)
        return present is not None
    inputs = hash_of(version_of("category_summaries"), *rows.rows())
    if present is not None and present.inputs == inputs:
        return False
    store.tables.write("category_summaries", category, rows, inputs=inputs)
    return True


def write_page(store: Store, category: str, rows: pl.DataFrame) -> list[str]:
    """Writes a category's page if it changed, and returns the paths that changed.

    The replaced page stays beside it under a name with a date; old ones of these are deleted.
    """
    path = page_of(category)
    page = render_page(category, rows)
    written = text_of(store.workspace / path)
    if page == written:
        return []
    changed = [path]
    folder = (store.workspace / path).parent
    if written:
        names = [f"{PAGES}/{file.name}" for file in folder.glob(f"{category}.*.md")]
        replaced = replaced_page_of(category, store.settings.clock(), names)
        write_atomically(store.workspace / replaced, written.encode())
        changed.append(replaced)
    names = [f"{PAGES}/{file.name}" for file in folder.glob(f"{category}.*.md")]
    deleted = pages_to_delete(names, store.settings.today(), store.settings.zone)
    for name in deleted:
        (store.workspace / name).unlink()
    if page:
        write_atomically(store.workspace / path, page.encode())
    else:
        (store.workspace / path).unlink()
    return [*changed, *deleted]


@per_partition
def recalls(store: Store, _: str) -> Rows:
    """Lists the questions that were asked, from the ledger."""
    frame = log_recalls(store.ledger.events([RECALLED]), store.settings.zone)
    figures = {
        "not_in_memory": int((frame["outcome"] == "not in memory").sum()),
        "cost_usd": round(float(frame["cost_usd"].sum()), 4),
        "answered_from": shares(frame),
        "by_day": _table(by_day(frame)),
    }
    return Rows(frame, figures)


def _table(days: Sequence[tuple[date, int, dict[str, float]]]) -> Markdown:
    """Returns a table of the days: the number of questions, and the share of each outcome."""
    rows = [["day", "questions", *OUTCOMES], ["---", *["---:"] * (len(OUTCOMES) + 1)]]
    rows += [
        [str(day), str(count), *(f"{share.get(name, 0):.0%}" for name in OUTCOMES)]
        for day, count, share in days
    ]
    return Markdown("\n".join(f"| {' | '.join(row)} |" for row in rows))


BUILDERS = (category_summaries, recalls)
"""The functions that build the tables of their names (`runs.builders`)."""
