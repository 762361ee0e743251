"""The reflect stage as assets: a day's observations become reflections, and those become proposals for MEMORY.md."""

from datetime import date

import dagster as dg
import polars as pl

from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check
from memory_assets.assets.condensing import Past, materialise_told
from memory_assets.assets.glue import materialise_days, table_asset
from memory_assets.runs.pending import proposal_inputs
from memory_assets.stages.reflect import REFLECTOR
from memory_assets.stages.reflect.gradient import DAY, SMALL_TOKENS
from memory_assets.stages.reflect.proposals import NUMBERED, PROPOSE_VERSION, propose
from memory_assets.store.store import Store

GROUP = "reflect"


@table_asset("reflections", group=GROUP, version=REFLECTOR, daily=True, deps=["observations", "memories"])
def reflections(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What a day's sessions say together about each project, condensed and cited."""
    result = materialise_told(context, store, DAY)
    found = store.tables.read("reflections", context.partition_keys)
    small = found.group_by("day").agg(pl.col("fact_tokens").sum()).filter(pl.col("fact_tokens") <= SMALL_TOKENS)
    return result._replace(metadata={**(result.metadata or {}), "days_passed_through": small.height})


@table_asset("proposals", group=GROUP, version=PROPOSE_VERSION, daily=True, deps=["reflections", "memories"])
def proposals(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Lines proposed for MEMORY.md, numbered once and for all."""
    inputs, past = proposal_inputs(store.tables), Past(store)
    return materialise_days(
        context, store, "proposals", inputs=lambda day: inputs.get(day, "-"), build=lambda day: propose_day(store, past, day)
    )


def propose_day(store: Store, past: Past, day: str) -> pl.DataFrame:
    """Returns the day's proposals, their numbers written to the ledger first."""
    frame, numbers = propose(
        date.fromisoformat(day),
        store.tables.read("reflections", [day]),
        past.memories(date.fromisoformat(day)),
        store.ledger.events([NUMBERED]),
        owner=store.settings.owner,
        sections=store.settings.sections,
        zone=store.settings.zone,
    )
    for number in numbers:
        store.ledger.append(NUMBERED, number.proposal_id, {"key": number.key, "day": str(number.day)}, actor="reflector")
    return frame


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


ASSETS = [reflections, proposals]
CHECKS = [
    schema_check("reflections"),
    schema_check("proposals"),
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
    no_secrets_check("reflections"),
    no_secrets_check("proposals"),
]
