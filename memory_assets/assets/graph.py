"""The entity graph as assets: what memories name, the entities, and how they stand to each other; part of the embed stage."""

import dagster as dg
import polars as pl

from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check
from memory_assets.assets.glue import bars, counts_of, table_asset, write_whole
from memory_assets.runs.pending import graph_inputs
from memory_assets.stages.embed.entities import ENTITIES_VERSION
from memory_assets.stages.embed.graph import GRAPH_VERSION, build_entities, build_relations
from memory_assets.stages.embed.mentions import READ_STATES, read_mentions
from memory_assets.stages.embed.picture import render_picture
from memory_assets.store.store import Store
from memory_assets.text.files import write_atomically

GROUP = "embed"
PICTURE_SVG = "graph.svg"


@table_asset("mentions", group=GROUP, version=ENTITIES_VERSION, daily=False, deps=["memories"])
def mentions(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What each memory names, recognised by shape or from a list of names; only memories whose words changed are read again."""
    with store.lock():
        known = store.tables.read("mentions")
        frame = read_mentions(store.tables.read("memories"), known)
        read = frame.join(known.select("memory_id", "read_from").unique(), on=["memory_id", "read_from"], how="anti")
        again = read["memory_id"].n_unique()
        return write_whole(
            store, "mentions", frame, graph_inputs(store), memories_read=again, kind=bars(counts_of(frame, "kind"))
        )


@table_asset("entities", group=GROUP, version=GRAPH_VERSION, daily=False, deps=["mentions", "memories"])
def entities(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Files, commands, packages, services, people and ids that memories name, with their other names."""
    with store.lock():
        found = build_entities(store.tables.read("mentions"), store.tables.read("memories"), store.settings.aliases)
        return write_whole(store, "entities", found, graph_inputs(store), kind=bars(counts_of(found, "kind")))


@table_asset("relations", group=GROUP, version=GRAPH_VERSION, daily=False, deps=["mentions", "entities", "memories"])
def relations(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """How entities stand to each other and the memories that say so; the strongest part is drawn in the workspace."""
    with store.lock():
        named = store.tables.read("entities")
        found = build_relations(store.tables.read("mentions"), named, store.tables.read("memories"))
        path = store.workspace / PICTURE_SVG
        write_atomically(path, render_picture(named, found).encode())
        drawn = dg.MetadataValue.path(str(path))
        return write_whole(store, "relations", found, graph_inputs(store), kind=bars(counts_of(found, "kind")), picture=drawn)


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


ASSETS = [mentions, entities, relations]
CHECKS = [
    *(schema_check(table) for table in ("mentions", "entities", "relations")),
    *(no_secrets_check(table) for table in ("mentions", "entities", "relations")),
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
