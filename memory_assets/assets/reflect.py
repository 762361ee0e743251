"""The reflect stage as assets: a day's observations become reflections, and those become proposals for MEMORY.md."""

from datetime import date

import dagster as dg
import polars as pl

from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check
from memory_assets.assets.glue import materialise_days, table_asset
from memory_assets.embed.evidence import EVIDENCE
from memory_assets.embed.memories import fold_memories
from memory_assets.ledger import FORGOTTEN
from memory_assets.pending import proposal_inputs
from memory_assets.reflect.proposals import NUMBERED, PROPOSE_VERSION, propose
from memory_assets.reflect.reflector import REFLECTOR, SMALL_TOKENS, reflect_day
from memory_assets.store import Store

GROUP = "reflect"


@table_asset("reflections", group=GROUP, version=REFLECTOR, daily=True, deps=["observations", "memories"])
def reflections(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What a day's sessions say together about each project, condensed and cited."""
    inputs, past = proposal_inputs(store.tables), Past(store)
    return materialise_days(
        context,
        store,
        "reflections",
        inputs=lambda day: inputs.get(day, "-"),
        build=lambda day: reflect_day(date.fromisoformat(day), store.tables.read("observations", [day]), past.memory_of(day)),
    )


@table_asset("proposals", group=GROUP, version=PROPOSE_VERSION, daily=True, deps=["reflections", "memories"])
def proposals(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Lines proposed for MEMORY.md, numbered once and for all."""
    inputs, past = proposal_inputs(store.tables), Past(store)
    return materialise_days(
        context, store, "proposals", inputs=lambda day: inputs.get(day, "-"), build=lambda day: propose_day(store, past, day)
    )


class Past:
    """Memories as they stood at the end of a day, without what is forgotten since; nobody had recalled any. Read once a run."""

    def __init__(self, store: Store) -> None:
        self._observations = store.tables.read("observations")
        self._merges = store.tables.read("merges")
        self._said = store.ledger.events([*EVIDENCE, FORGOTTEN])

    def memories(self, day: str) -> pl.DataFrame:
        """Returns the memories of that day."""
        known = self._observations.filter(pl.col("day") <= date.fromisoformat(day))
        return fold_memories(known, self._merges, self._said)

    def memory_of(self, day: str) -> dict[str, str]:
        """Returns the memory that each observation was part of on that day."""
        found = self.memories(day).select("id", "observation_ids").explode("observation_ids")
        return dict(found.select("observation_ids", "id").iter_rows())


def propose_day(store: Store, past: Past, day: str) -> pl.DataFrame:
    """Returns the day's proposals, their numbers written to the ledger first."""
    frame, numbers = propose(
        date.fromisoformat(day),
        store.tables.read("reflections", [day]),
        past.memories(day),
        store.ledger.events([NUMBERED]),
        owner=store.settings.owner,
        sections=store.settings.sections,
        zone=store.settings.zone,
    )
    for number in numbers:
        store.ledger.append(NUMBERED, number.proposal_id, {"key": number.key, "day": str(number.day)}, actor="reflector")
    return frame


def _citing_nothing(store: Store, days: list[str] | None) -> pl.DataFrame:
    cited = (
        store.tables.read("reflections", days)
        .select("reflection_id", pl.col("observation_ids").alias("id"))
        .explode("id")
        .drop_nulls()
    )
    return cited.join(store.tables.read("observations", columns=["id"]), on="id", how="anti")


def _facts_dropped_unseen(store: Store, days: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("reflections", days)
    accounted = found.select(pl.col("observation_ids").list.concat("dropped_ids").alias("id")).explode("id")
    facts = store.tables.read("observations", days).filter((pl.col("kind") == "fact") & (pl.col("gate") == "allow"))
    return facts.select("id", "day").join(accounted, on="id", how="anti")


def _grown(store: Store, days: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("reflections", days).filter(pl.col("input_tokens") > SMALL_TOKENS)
    return found.filter(pl.col("output_tokens") >= pl.col("input_tokens")).select(
        "reflection_id", "day", "input_tokens", "output_tokens"
    )


def _proposals_without_evidence(store: Store, days: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("proposals", days).select("proposal_id", pl.col("observation_ids").alias("id")).explode("id")
    return found.join(store.tables.read("observations", columns=["id"]), on="id", how="anti")


ASSETS = [reflections, proposals]
CHECKS = [
    schema_check("reflections"),
    schema_check("proposals"),
    rows_check("reflections", "citations_resolve", "Every cited observation exists.", _citing_nothing),
    rows_check(
        "reflections", "nothing_dropped_unseen", "Every allowed fact is cited or listed as left out.", _facts_dropped_unseen
    ),
    rows_check(
        "reflections",
        "smaller_than_its_input",
        f"Reflections of more than {SMALL_TOKENS} tokens are smaller than what they were made from.",
        _grown,
        blocking=False,
        severity=dg.AssetCheckSeverity.WARN,
    ),
    rows_check("proposals", "provenance", "Every proposal rests on observations that exist.", _proposals_without_evidence),
    no_secrets_check("reflections"),
    no_secrets_check("proposals"),
]
