"""Checks of reflections, distillates, the timeline and proposals."""

from collections.abc import Iterator
from datetime import date
from functools import partial

import polars as pl

from memory_assets.assets.checks.common import REGISTERED, Days, TableCheck, check, unknown
from memory_assets.runs.inputs import input_versions, unpaid
from memory_assets.runs.staleness import written_versions
from memory_assets.runs.steps.condensing import days_of
from memory_assets.runs.steps.reflect import DROPPED
from memory_assets.schema.tables import TABLES
from memory_assets.stages.reflect.reflector import MOST_TOKENS, find_unaccounted, session_target
from memory_assets.stages.reflect.subjects import (
    DAY,
    MONTH,
    SPANS,
    TABLE_OF,
    WEEK,
    Span,
)
from memory_assets.stages.reflect.timeline import commits_in
from memory_assets.store.store import Store
from memory_assets.text.words import count_tokens


def _unknown_citations(table: str, store: Store, days: Days) -> pl.DataFrame:
    """Returns the citations of observations that do not exist."""
    rows = store.tables.read(table, days).select("reflection_id", id="observation_ids")
    return unknown(rows.explode("id").drop_nulls(), store, "observations")


for _table in TABLE_OF.values():
    _every = "Every cited observation exists."
    _judge = partial(_unknown_citations, _table)
    REGISTERED.append(TableCheck(_table, "citations_resolve", _every, _judge))


@check("reflections", level="warn")
def smaller_than_its_input(store: Store, days: Days) -> pl.DataFrame:
    """Every reflection of a day that has a text is smaller than the facts that it was made from."""
    columns = ["day", "project", "text", "fact_tokens"]
    written = store.tables.read("reflections", days, columns).filter(pl.col("text") != "")
    text_tokens = pl.col("text").map_elements(count_tokens, pl.Int64)
    return written.filter(text_tokens >= pl.col("fact_tokens")).drop("text")


@check("proposals")
def provenance(store: Store, days: Days) -> pl.DataFrame:
    """Every proposal rests on observations that exist."""
    rows = store.tables.read("proposals", days).select("proposal_id", id="observation_ids")
    return unknown(rows.explode("id"), store, "observations")


@check("session_reflections")
def of_its_own_session(store: Store, days: Days) -> pl.DataFrame:
    """Every line rests on observations of the session itself."""
    rows = store.tables.read("session_reflections", columns=["session_id", "observation_ids"])
    observations = store.tables.read("observations", columns=["id", "session_id"])
    cited = rows.explode("observation_ids")
    return cited.join(
        observations.rename({"id": "observation_ids"}),
        on=["observation_ids", "session_id"],
        how="anti",
    )


@check("session_reflections")
def short_enough(store: Store, days: Days) -> pl.DataFrame:
    """No block has more than {MOST_TOKENS} tokens, and no full one more than half of what makes a
    session long.

    Returns the sessions with a longer block.
    """
    columns = ["session_id", "tokens", "full_tokens"]
    blocks = store.tables.read("session_reflections", columns=columns)
    target = session_target(store.settings.context_tokens)
    return blocks.filter((pl.col("tokens") > MOST_TOKENS) | (pl.col("full_tokens") > target))


@check(DROPPED)
def nothing_vanished(store: Store, days: Days) -> pl.DataFrame:
    """Every fact that was read is in the reflection, or has a row with the reason why not."""
    return pl.concat(_vanished_in(store, span, days) for span in SPANS)


def _vanished_in(store: Store, span: Span, days: Days) -> pl.DataFrame:
    """Returns the facts that days, weeks or months were built from and neither cite nor list.

    Leaves out stale partitions: they were built from other facts than the present ones.
    """
    table = TABLES[TABLE_OF[span.name]]
    wanted = input_versions(store, table)
    written = written_versions(store, table)
    parts = written if days is None else written.keys() & set(days)
    current = sorted(
        part for part in parts if unpaid(written[part]) == unpaid(wanted.get(part, ""))
    )
    dropped = store.tables.read(DROPPED, [f"{span.name}-{part}" for part in current])
    reflections = store.tables.read(table.name, current)
    fact_ids = _source_facts(store, span, current)
    return find_unaccounted(span.name, fact_ids, reflections, dropped)


def _source_facts(store: Store, span: Span, parts: list[str]) -> Iterator[str]:
    """Yields the ids of the facts that the partitions were built from.

    These are the allowed facts of a day, or the facts that the days of a week or month cite.
    """
    days = {day for part in parts for day in days_of(span, date.fromisoformat(part))}
    if span == DAY:
        yield from store.tables.read("observations", days).filter(kind="fact", gate="allow")["id"]
    else:
        yield from store.tables.read("reflections", days)["observation_ids"].explode().drop_nulls()


def _longer_than_days(span: Span, store: Store, days: Days) -> pl.DataFrame:
    """Returns the weeks or months that have more tokens than the reflections of their days."""
    columns = ["day", "output_tokens"]
    reflections = store.tables.read(TABLE_OF[span.name], days, columns=columns)
    covered = {day for first in reflections["day"].unique() for day in days_of(span, first)}
    reflected = store.tables.read("reflections", covered, columns=columns)
    first = pl.col("day").map_elements(span.first_day, pl.Date)
    of_days = reflected.group_by(first).agg(tokens_of_days=pl.col("output_tokens").sum())
    of_spans = reflections.group_by("day").agg(pl.col("output_tokens").sum())
    sizes = of_spans.join(of_days, on="day").sort("day")
    return sizes.filter(pl.col("output_tokens") > pl.col("tokens_of_days"))


for _span in (WEEK, MONTH):
    _description = f"No {_span.name} has more tokens than the reflections of its days."
    _judge = partial(_longer_than_days, _span)
    REGISTERED.append(
        TableCheck(TABLE_OF[_span.name], "shorter_than_its_days", _description, _judge, "warn")
    )


@check("timeline")
def every_sentence_cites(store: Store, days: Days) -> pl.DataFrame:
    """Every sentence cites observations, messages or commits that exist."""
    sentences = store.tables.read("timeline", days)
    covered = {day for first in sentences["day"].unique() for day in days_of(WEEK, first)}
    messages = store.tables.read("messages", covered, columns=["message_id", "kind", "text"])
    observations = store.tables.read("observations", covered, columns=["id"])
    ids = {*observations["id"], *messages["message_id"]}
    results = messages.filter(kind="tool_result")["text"]
    # Only texts with a line such as "[main 1a2b3c4] Subject", as git prints it, name a commit.
    texts = results.filter(results.str.contains(r"(?m)^\[[^\]]+\] \S"))
    commits = {hash for text in texts for hash, _ in commits_in(text)}
    broken = list[str]()
    for row in sentences.iter_rows(named=True):
        cited = {*row["observation_ids"], *row["message_ids"]}
        has_citation = cited or row["commits"]
        has_sources = cited <= ids and commits.issuperset(row["commits"])
        if not has_citation or not has_sources:
            broken.append(row["sentence_id"])
    is_broken = pl.col("sentence_id").is_in(broken)
    return sentences.filter(is_broken).select("sentence_id", "on", "project")
