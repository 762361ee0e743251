"""Checks of reflections, distillates, the timeline and proposals."""

from collections.abc import Iterator
from datetime import date
from functools import partial

import dagster as dg
import polars as pl

from memory_assets.assets.checks.common import rows_check
from memory_assets.runs.staleness import input_versions, unpaid, written_versions
from memory_assets.runs.steps.condensing import days_of
from memory_assets.runs.steps.reflect import DROPPED
from memory_assets.schema.tables import TABLES
from memory_assets.stages.reflect.gradient import DAY, MONTH, SMALL_TOKENS, SPANS, TABLE_OF, WEEK, Span
from memory_assets.stages.reflect.reflector import find_unaccounted
from memory_assets.stages.reflect.session import MOST_TOKENS
from memory_assets.stages.reflect.timeline import commits_in
from memory_assets.store.store import Store


def citations_check(table: str) -> dg.AssetChecksDefinition:
    """Returns the blocking check that reflections, or distillates, cite observations that exist."""

    def find_dangling(store: Store, parts: list[str] | None) -> pl.DataFrame:
        found = store.tables.read(table, parts).select("reflection_id", pl.col("observation_ids").alias("id"))
        cited = found.explode("id").drop_nulls()
        return cited.join(store.tables.read("observations", columns=["id"]), on="id", how="anti")

    return rows_check(table, "citations_resolve", "Every cited observation exists.", find_dangling)


def _grown(store: Store, days: list[str] | None) -> pl.DataFrame:
    totals = pl.col("input_tokens", "fact_tokens", "output_tokens").sum()
    found = store.tables.read("reflections", days).group_by("day").agg(totals).sort("day")
    return found.filter((pl.col("fact_tokens") > SMALL_TOKENS) & (pl.col("output_tokens") >= pl.col("fact_tokens")))


def _proposals_without_evidence(store: Store, days: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("proposals", days).select("proposal_id", pl.col("observation_ids").alias("id")).explode("id")
    return found.join(store.tables.read("observations", columns=["id"]), on="id", how="anti")


def _citing_others(store: Store, parts: list[str] | None) -> pl.DataFrame:
    cited = store.tables.read("session_reflections", columns=["session_id", "observation_ids"]).explode("observation_ids")
    known = store.tables.read("observations", columns=["id", "session_id"])
    return cited.join(known, left_on=["observation_ids", "session_id"], right_on=["id", "session_id"], how="anti")


def _too_long(store: Store, parts: list[str] | None) -> pl.DataFrame:
    return store.tables.read("session_reflections", columns=["session_id", "tokens"]).filter(pl.col("tokens") > MOST_TOKENS)


def _vanished(store: Store, parts: list[str] | None) -> pl.DataFrame:
    return pl.concat(_vanished_in(store, span, parts) for span in SPANS)


def _vanished_in(store: Store, span: Span, parts: list[str] | None) -> pl.DataFrame:
    """Returns the facts that the span's parts read and neither tell nor list; parts that are due to be made anew can wait."""
    table = TABLE_OF[span.name]
    wanted, written = input_versions(store, TABLES[table]), written_versions(store, TABLES[table])
    named = written if parts is None else written.keys() & set(parts)
    present = sorted(part for part in named if unpaid(written[part]) == unpaid(wanted.get(part, "")))
    told = store.tables.read(table, present)
    dropped = store.tables.read(DROPPED, [f"{span.name}-{part}" for part in present])
    return find_unaccounted(span.name, _read_by(store, span, present), told, dropped)


def _read_by(store: Store, span: Span, parts: list[str]) -> Iterator[str]:
    """Yields what the parts were made from: all allowed facts of a day, and what its days tell of a week or month."""
    days = {day for part in parts for day in days_of(span, date.fromisoformat(part))}
    if span == DAY:
        seen = store.tables.read("observations", days)
        yield from seen.filter((pl.col("kind") == "fact") & (pl.col("gate") == "allow"))["id"]
    else:
        yield from store.tables.read("reflections", days)["observation_ids"].explode().drop_nulls()


def _longer_than_days(span: Span, store: Store, parts: list[str] | None) -> pl.DataFrame:
    """Returns the weeks or months that take more tokens than the reflections they are made from."""
    told = store.tables.read(TABLE_OF[span.name], parts, columns=["day", "output_tokens"])
    days = {day for first in told["day"].unique() for day in days_of(span, first)}
    reflected = store.tables.read("reflections", days, columns=["day", "output_tokens"])
    first = pl.col("day").map_elements(span.first_day, pl.Date)
    of_days = reflected.group_by(first).agg(pl.col("output_tokens").sum().alias("tokens_of_days"))
    found = told.group_by("day").agg(pl.col("output_tokens").sum()).join(of_days, on="day").sort("day")
    return found.filter(pl.col("output_tokens") > pl.col("tokens_of_days"))


def _unfounded(store: Store, parts: list[str] | None) -> pl.DataFrame:
    """Returns sentences that cite nothing, or what is not there."""
    told = store.tables.read("timeline", parts)
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


CHECKS = [
    citations_check("reflections"),
    rows_check(
        "reflections",
        "smaller_than_its_input",
        f"The reflections of a day with more than {SMALL_TOKENS} tokens of facts to tell are smaller than these.",
        _grown,
        blocking=False,
        severity=dg.AssetCheckSeverity.WARN,
    ),
    rows_check("proposals", "provenance", "Every proposal rests on observations that exist.", _proposals_without_evidence),
    rows_check(
        "session_reflections", "of_its_own_session", "Every line rests on observations of the session itself.", _citing_others
    ),
    rows_check("session_reflections", "short_enough", f"No block has more than {MOST_TOKENS} tokens.", _too_long),
    citations_check("weekly_distillates"),
    citations_check("monthly_distillates"),
    *(
        rows_check(
            TABLE_OF[span.name],
            "shorter_than_its_days",
            f"No {span.name} takes more tokens than the reflections of its days.",
            partial(_longer_than_days, span),
            blocking=False,
            severity=dg.AssetCheckSeverity.WARN,
        )
        for span in (WEEK, MONTH)
    ),
    rows_check(
        DROPPED, "nothing_vanished", "Every fact that was read is told, or has a row that says where it went.", _vanished
    ),
    rows_check(
        "timeline", "every_sentence_cites", "Every sentence rests on observations or commits that are there.", _unfounded
    ),
]
