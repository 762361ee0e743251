"""Checks of vectors, memories, the entity graph and the indexes."""

from datetime import date

import dagster as dg
import polars as pl

from memory_assets.assets.checks.common import rows_check, verdict
from memory_assets.runs.steps.embed import notes_of
from memory_assets.services.corpus import open_texts, open_vectors
from memory_assets.stages.embed.evidence import EVIDENCE, allowed_facts
from memory_assets.stages.embed.locator import find_orphans
from memory_assets.stages.embed.mentions import READ_STATES
from memory_assets.stages.embed.project import RETRIEVABLE
from memory_assets.stages.embed.repeats import MOST_SHARE, find_repeats
from memory_assets.store.ledger import FORGOTTEN
from memory_assets.store.store import Store

WARN = dg.AssetCheckSeverity.WARN


def _notes_of(store: Store, days: list[str] | None) -> pl.DataFrame:
    notes = notes_of(store)
    return notes if days is None else notes.filter(pl.col("day").cast(pl.String).is_in(days))


def _without_vector(store: Store, days: list[str] | None) -> pl.DataFrame:
    columns = ["id", "text_hash"]
    embedded = {date.fromisoformat(day) for day in store.tables.parts("embeddings", days)}
    noted = _notes_of(store, days).filter(pl.col("day").is_in(embedded)).select(columns)
    found = pl.concat([store.tables.read("observations", days, columns=columns), noted])
    return found.join(store.tables.read("embeddings", days, columns=["text_hash"]).unique(), on="text_hash", how="anti")


def _observations_in_no_memory(store: Store, days: list[str] | None) -> pl.DataFrame:
    held = store.tables.read("memories", columns=["observation_ids"]).explode("observation_ids")
    found = pl.concat([store.tables.read("observations", columns=["id"]), _notes_of(store, None).select("id")])
    return found.join(held, left_on="id", right_on="observation_ids", how="anti")


def _superseded_by_nothing(store: Store, days: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("memories", columns=["id", "superseded_by"])
    return found.drop_nulls("superseded_by").join(found.select("id"), left_on="superseded_by", right_on="id", how="anti")


def _in_conflict(store: Store, days: list[str] | None) -> pl.DataFrame:
    """Returns each pair once, the surer side first."""
    found = store.tables.read("memories", columns=["id", "conflicts_with", "confidence", "state", "project"])
    pairs = found.explode("conflicts_with").drop_nulls("conflicts_with").rename({"conflicts_with": "against"})
    others = found.select(pl.col("id").alias("against"), pl.col("confidence").alias("its_confidence"))
    both = pairs.join(others, on="against").filter(
        (pl.col("confidence") > pl.col("its_confidence"))
        | ((pl.col("confidence") == pl.col("its_confidence")) & (pl.col("id") < pl.col("against")))
    )
    return both.select("id", "against", "confidence", "its_confidence", "state", "project").sort("id", "against")


def _without_home(store: Store, days: list[str] | None) -> pl.DataFrame:
    observations = store.tables.read("observations", columns=["id", "kind", "gate", "event_at", "text_hash", "message_ids"])
    notes = _notes_of(store, None).select(observations.columns)
    forgotten = {id for event in store.ledger.events([FORGOTTEN]) for id in event.payload["observation_ids"]}
    events = [event for event in store.ledger.events(EVIDENCE) if forgotten.isdisjoint(event.payload["observation_ids"])]
    return find_orphans(allowed_facts(pl.concat([observations, notes])), events)


conflicts_are_settled = rows_check(
    "memories",
    "conflicts_are_settled",
    "No two memories that stand contradict each other; say which one holds, and it replaces the other.",
    _in_conflict,
    blocking=False,
    severity=WARN,
)


events_have_a_home = rows_check(
    "memories",
    "events_have_a_home",
    "Every confirmation and contradiction in the ledger is about an observation that is still there.",
    _without_home,
    blocking=False,
    severity=WARN,
)


@dg.asset_check(
    asset="memories",
    name="few_repeats",
    description="Hardly any allowed memories of one scope say the same in the same words: merging does its work.",
)
def few_repeats(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Counts repeats by a measure that shares nothing with merging."""
    columns = ["id", "kind", "state", "text", "scope", "project", "person"]
    found = find_repeats(store.tables.read("memories", columns=columns))
    passed = found.share < MOST_SHARE or found.pairs.is_empty()
    counts = {"share": found.share, "pairs": found.pairs.height, "allowed": found.allowed}
    return verdict(passed, found.pairs, WARN, most=MOST_SHARE, **counts)


@dg.asset_check(
    asset="vector_index", name="equals_parquet", description="Chroma holds exactly the retrievable memories that have a vector."
)
def vectors_equal_parquet(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Compares the ids in Chroma with those that Parquet says should be there."""
    found = store.tables.read("memories").filter(pl.col("state").is_in(RETRIEVABLE))
    wanted = set(found.join(store.tables.read("embeddings", columns=["text_hash"]).unique(), on="text_hash")["id"])
    return _compare(wanted, open_vectors(store).ids())


@dg.asset_check(asset="text_index", name="equals_parquet", description="The text index holds exactly the retrievable memories.")
def texts_equal_parquet(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Compares the ids in the text index with those that Parquet says should be there."""
    wanted = set(store.tables.read("memories").filter(pl.col("state").is_in(RETRIEVABLE))["id"])
    return _compare(wanted, open_texts(store).ids("memories"))


def _compare(wanted: set[str], there: set[str]) -> dg.AssetCheckResult:
    wrong = [*((id, "missing") for id in sorted(wanted - there)), *((id, "too many") for id in sorted(there - wanted))]
    broken = pl.DataFrame(wrong, schema={"id": pl.String, "problem": pl.String}, orient="row")
    return verdict(broken.is_empty(), broken, rows=len(there))


def _mentioned_by_no_memory(store: Store, parts: list[str] | None) -> pl.DataFrame:
    readable = store.tables.read("memories", columns=["id", "state"]).filter(pl.col("state").is_in(READ_STATES))
    said = store.tables.read("mentions", columns=["memory_id", "kind", "entity_id"])
    return said.join(readable, left_on="memory_id", right_on="id", how="anti")


def _mentioned_but_missing(store: Store, parts: list[str] | None) -> pl.DataFrame:
    said = store.tables.read("mentions", columns=["memory_id", "kind", "entity_id"])
    known = store.tables.read("entities", columns=["entity_id"])
    return pl.concat(
        [said.join(known, on="entity_id", how="anti").select("entity_id"), known.join(said, on="entity_id", how="anti")]
    )


def _loose_ends(store: Store, parts: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("relations", columns=["source_id", "target_id", "kind"])
    known = store.tables.read("entities", columns=["entity_id"])
    ends = ("source_id", "target_id")
    return pl.concat([found.join(known, left_on=end, right_on="entity_id", how="anti") for end in ends]).unique()


def _resting_on_nothing(store: Store, parts: list[str] | None) -> pl.DataFrame:
    """Returns relations that cite a memory which is not there or does not name both."""
    found = store.tables.read("relations", columns=["source_id", "target_id", "kind", "memory_ids"])
    cited = found.explode("memory_ids").rename({"memory_ids": "memory_id"})
    said = store.tables.read("mentions", columns=["memory_id", "entity_id"]).unique()
    both = [["source_id", "target_id"], ["target_id"], ["source_id"]]
    needed = {"mentioned_together": both[0], "uses": both[0], "part_of": both[2], "replaced_by": both[1]}
    broken = [
        cited.filter(pl.col("kind") == kind).join(
            said, left_on=["memory_id", end], right_on=["memory_id", "entity_id"], how="anti"
        )
        for kind, ends in needed.items()
        for end in ends
    ]
    return pl.concat(broken).unique()


CHECKS = [
    rows_check(
        "embeddings", "every_text_has_a_vector", "The text of every observation and note has a vector.", _without_vector
    ),
    rows_check(
        "memories",
        "nothing_lost",
        "Every observation and every note is part of exactly one memory.",
        _observations_in_no_memory,
    ),
    rows_check("memories", "supersession_resolves", "What replaced a memory exists.", _superseded_by_nothing),
    conflicts_are_settled,
    events_have_a_home,
    few_repeats,
    vectors_equal_parquet,
    texts_equal_parquet,
    rows_check(
        "mentions", "memories_exist", "Every mention is of a memory that is there and not held.", _mentioned_by_no_memory
    ),
    rows_check("entities", "named_by_mentions", "Mentions and entities are of the same things.", _mentioned_but_missing),
    rows_check("relations", "ends_exist", "Both ends of every relation exist.", _loose_ends),
    rows_check(
        "relations",
        "memories_say_so",
        "Every relation rests on memories that are there and name what it is about.",
        _resting_on_nothing,
    ),
]
