"""The embed stage as assets: vectors by day, merges and memories over all, and the two indexes projected from them."""

import json
from datetime import date
from pathlib import Path

import dagster as dg
import polars as pl

from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check, verdict
from memory_assets.assets.glue import INDEX_POOL, bars, counts_of, materialise_days, table_asset, write_whole
from memory_assets.runs.pending import embed_inputs, fold_inputs, merge_inputs, notes_by_day, passage_inputs
from memory_assets.schema import frames as schemas
from memory_assets.services.corpus import open_embedder, open_texts, open_vectors, passages_to_index
from memory_assets.stages.embed.echoes import SHOWING, find_echoes, suspects
from memory_assets.stages.embed.encode import EMBED_VERSION, encode_day
from memory_assets.stages.embed.evidence import EVIDENCE, allowed_facts, families_of, plan_evidence
from memory_assets.stages.embed.harness_memories import with_harness_memories
from memory_assets.stages.embed.homes import find_orphans
from memory_assets.stages.embed.memories import FOLD_VERSION, fold_memories
from memory_assets.stages.embed.merge import MERGE_VERSION, find_edges
from memory_assets.stages.embed.notes import note_rows, with_notes, without_corrected
from memory_assets.stages.embed.overlay import read_present
from memory_assets.stages.embed.passages import PASSAGES_VERSION, make_passages
from memory_assets.stages.embed.project import RETRIEVABLE, Plan, hashes_of, plan_texts, plan_vectors, text_rows
from memory_assets.stages.embed.repeats import MOST_SHARE, find_repeats
from memory_assets.stages.embed.uses import OWN_WORDS, plan_uses, sessions_shown
from memory_assets.store.ledger import FORGOTTEN, IGNORED, NOTES, RECALLED, USED, Event
from memory_assets.store.store import Store
from memory_assets.text.files import write_json
from memory_assets.text.terms import TERMS_VERSION

HEARD = (*EVIDENCE, USED, IGNORED)
"""Kinds of events that a fold writes before it reads them all."""

GROUP = "embed"
"""Group of the assets of this stage."""

VECTORS_VERSION = "vectors/2"
TEXTS_VERSION = f"texts/2/{TERMS_VERSION}"
"""Of the indexes: what another version built is built anew."""

WARN = dg.AssetCheckSeverity.WARN


@table_asset("embeddings", group=GROUP, version=EMBED_VERSION, daily=True, deps=["observations", "harness_memories"])
def embeddings(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """One vector for each distinct text observed or told on the day, made on this machine and kept by the text's hash."""
    embedder, noted = open_embedder(store.settings.embedding_model), notes_by_day(store)
    notes = _notes_of(store, None)
    return materialise_days(
        context,
        store,
        "embeddings",
        inputs=lambda day: embed_inputs(store, day, noted),
        build=lambda day: encode_day(
            date.fromisoformat(day),
            pl.concat([store.tables.read("observations", [day]), notes.filter(pl.col("day") == date.fromisoformat(day))]),
            embedder,
            store.tables.read("embeddings", [day]),
        ),
    )


@table_asset("passages", group=GROUP, version=PASSAGES_VERSION, daily=True, deps=["messages"])
def passages(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What people and assistants said, cut into passages of a few sentences, each with its vector."""
    embedder = open_embedder(store.settings.embedding_model)
    return materialise_days(
        context,
        store,
        "passages",
        inputs=lambda day: passage_inputs(store, day),
        build=lambda day: make_passages(
            date.fromisoformat(day),
            store.tables.read("messages", [day]),
            embedder,
            store.tables.read("passages", [day]),
        ),
    )


@table_asset("merges", group=GROUP, version=MERGE_VERSION, daily=False, deps=["observations", "embeddings"])
def merges(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Pairs of observations that say the same, or that cannot both hold."""
    with store.lock():
        present, inputs = store.tables.parts("merges").get("all"), merge_inputs(store)
        is_current = present is not None and present.inputs == inputs
        compared = store.tables.read("memories", columns=["observation_ids"])["observation_ids"].explode().drop_nulls()
        frame = find_edges(
            with_notes(store.tables.read("observations"), store.ledger.events(NOTES)),
            store.tables.read("embeddings"),
            store.tables.read("merges") if is_current else schemas.empty("merges"),
            compared.to_list() if is_current else (),
        )
        return write_whole(store, "merges", frame, inputs, reasons=bars(counts_of(frame, "reason")))


@table_asset(
    "memories",
    group=GROUP,
    version=FOLD_VERSION,
    daily=False,
    deps=["observations", "harness_memories", "merges", "windows", "messages"],
)
def memories(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """The present state of what is known: observations folded with merges, the ledger and what harnesses remember."""
    with store.lock():
        observations, edges = store.tables.read("observations"), store.tables.read("merges")
        heard = [*note_evidence(store, observations, edges), *note_uses(store)]
        events = store.ledger.events()
        frame = fold_memories(with_harness_memories(observations, store.tables.read("harness_memories")), edges, events)
        merged = int(frame["merged_count"].sum()) - frame.height
        plots = {column: bars(counts_of(frame, column)) for column in ("state", "category", "priority")}
        plots |= {column: bars(_spread(frame, column)) for column in ("confirmed_count", "contradicted_count")}
        counts = {kind.removeprefix("memory."): sum(event.kind == kind for event in heard) for kind in HEARD}
        return write_whole(store, "memories", frame, fold_inputs(store.tables, events), merged_away=merged, **counts, **plots)


def note_evidence(store: Store, observations: pl.DataFrame, edges: pl.DataFrame) -> list[Event]:
    """Writes to the ledger what sources confirm and contradict, each once, and returns the events that it did not hold."""
    events, families = store.ledger.events(EVIDENCE), families_of(store.tables.read("windows"))
    told = store.ledger.events(NOTES)
    observations, edges = with_notes(observations, told), without_corrected(edges, told)
    planned = plan_evidence(observations, edges, events, families)
    doubted = suspects(planned, observations)
    if not doubted.is_empty():
        sessions = doubted["session_id"].unique().sort().to_list()
        shown = store.tables.scan("messages").select("session_id", "author", "event_at", "text")
        shown = shown.filter(pl.col("session_id").is_in(sessions) & pl.col("author").is_in(SHOWING)).collect()
        planned = plan_evidence(observations, edges, events, families, find_echoes(doubted, observations, shown))
    return store.ledger.append_once(planned, actor="rules")


def note_uses(store: Store) -> list[Event]:
    """Writes to the ledger which memories sessions took up after they had been shown them, and returns what is new."""
    recalls = store.ledger.events([RECALLED])
    shown = sessions_shown(recalls)
    if not shown:
        return []
    said = store.tables.scan("messages").filter(pl.col("session_id").is_in(sorted(shown)) & (pl.col("kind") == "text"))
    own = said.filter(pl.col("author").is_in(OWN_WORDS)).select("session_id", "author", "event_at", "text").collect()
    known = read_present(store.tables, store.ledger)
    wordings = dict(known.select("id", "wordings").iter_rows())
    return store.ledger.append_once(plan_uses(recalls, wordings, own), actor="rules")


def _spread(frame: pl.DataFrame, column: str) -> dict[str, int]:
    """Returns how many memories have each count above none."""
    return counts_of(frame.filter(pl.col(column) > 0).with_columns(pl.col(column).cast(pl.String)), column)


@dg.asset(
    group_name=GROUP,
    owners=["team:memory"],
    kinds={"chroma"},
    code_version=VECTORS_VERSION,
    deps=["memories", "embeddings"],
    pool=INDEX_POOL,
)
def vector_index(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Chroma's generation of the memories' vectors, projected from Parquet."""
    with store.lock():
        index, kept = open_vectors(store), _Kept(store.root / "index" / "vectors.json", VECTORS_VERSION)
        found = store.tables.read("memories")
        published = kept.read(index.generation())
        plan = plan_vectors(found, store.tables.read("embeddings"), published)
        wanted = found.filter(pl.col("state").is_in(RETRIEVABLE)).select("id", "text_hash")
        return _publish(index, kept, plan, dict(wanted.iter_rows()), rebuild=not published)


@dg.asset(
    group_name=GROUP,
    owners=["team:memory"],
    kinds={"numpy"},
    code_version=TEXTS_VERSION,
    deps=["memories", "passages", "messages_open"],
    pool=INDEX_POOL,
)
def text_index(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """The terms of memories, and the terms and vectors of passages, in arrays projected from Parquet."""
    with store.lock():
        index, kept = open_texts(store), _Kept(store.root / "index" / "texts.json", TEXTS_VERSION)
        rows = text_rows(store.tables.read("memories"), passages_to_index(store.tables))
        published = kept.read(index.generation())
        return _publish(index, kept, plan_texts(rows, published), hashes_of(rows), rebuild=not published)


class _Kept:
    """What a published generation was made from, beside it; of another generation, or one of other code, it says nothing."""

    def __init__(self, path: Path, version: str) -> None:
        self._path, self._version = path, version

    def read(self, generation: str | None) -> dict[str, str]:
        if generation is None or not self._path.is_file():
            return {}
        known = json.loads(self._path.read_text())
        return known["rows"] if (known["generation"], known.get("version")) == (generation, self._version) else {}

    def write(self, generation: str, rows: dict[str, str]) -> None:
        write_json(self._path, {"generation": generation, "version": self._version, "rows": rows})


def _publish(index, kept: _Kept, plan: Plan, rows: dict[str, str], *, rebuild: bool) -> dg.MaterializeResult:
    if not plan.is_empty or rebuild:
        kept.write(index.update(plan.upserts, plan.deletes, rebuild=rebuild), rows)
    return dg.MaterializeResult(
        metadata={
            "rows": len(rows),
            "upserted": plan.upserts.height,
            "deleted": len(plan.deletes),
            "generation": index.generation() or "-",
        }
    )


def _notes_of(store: Store, days: list[str] | None) -> pl.DataFrame:
    """Returns what no session said: notes, and what harnesses remember."""
    noted = note_rows(store.ledger.events(NOTES), store.settings.zone)
    notes = with_harness_memories(noted, store.tables.read("harness_memories"))
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


ASSETS = [embeddings, passages, merges, memories, vector_index, text_index]
CHECKS = [
    *(schema_check(table) for table in ("embeddings", "passages", "merges", "memories")),
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
    *(no_secrets_check(table) for table in ("embeddings", "passages", "merges", "memories")),
    vectors_equal_parquet,
    texts_equal_parquet,
]
