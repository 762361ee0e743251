"""Makes the entity graph from mentions: the tables `entities` and `relations`, in polars.

An entity is what mentions agree on. Two entities stand together where two memories name both, or one that names few things.
Takes tables, gives tables; the words themselves are read in `mentions`.
"""

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.stages.embed.mentions import settle
from memory_assets.text.aliases import Own, names_of

STATED = ("uses", "part_of", "replaced_by")
TOGETHER = "mentioned_together"

MOST_IN_A_MEMORY = 12
"""Names in one memory beyond which it is a list, and says nothing of how they stand to each other."""

FEW_IN_A_MEMORY = 4
"""Names in one memory up to which it alone is enough to say that two of them belong together."""

MOST_ALIASES = 12
LONGEST_ALIAS = 60
ORIGINS = ("project", "person")
"""Kinds that a memory has by where it comes from; standing beside them says nothing more."""

ALIASED = ("service", "tool", "package", "command")
"""Kinds whose other names developers know; a file is called as it is called."""


def build_entities(mentions: pl.DataFrame, memories: pl.DataFrame, own: Own | None = None) -> pl.DataFrame:
    """Returns the table `entities`; `own` are the owner's aliases."""
    dated = memories.select("first_event_at", "event_at", memory_id="id")
    grouped = (
        settle(mentions, memories)
        .join(dated, on="memory_id")
        .sort("event_at", "memory_id", "kind", "name")
        .group_by("entity_id", "entity_kind", "entity_name", "entity_project", maintain_order=True)
        .agg(
            spellings=pl.concat([pl.col("name"), pl.col("said").explode()]).drop_nulls().unique(maintain_order=True),
            projects=pl.col("project").filter(pl.col("project") != "").unique().sort(),
            memory_count=pl.col("memory_id").n_unique().cast(pl.Int64),
            first_event_at=pl.col("first_event_at").min(),
            event_at=pl.col("event_at").max(),
        )
        .rename({"entity_kind": "kind", "entity_name": "name", "entity_project": "project"})
    )
    aliases = [
        _aliases(kind, name, spellings, own)
        for kind, name, spellings in grouped.select("kind", "name", "spellings").iter_rows()
    ]
    named = grouped.with_columns(pl.Series("aliases", aliases, dtype=pl.List(pl.String)))
    return named.select(list(schemas.schema_of("entities"))).sort("entity_id")


def _aliases(kind: str, name: str, spellings: list[str], own: Own | None) -> list[str]:
    """Returns the other names, those in the memories first; spellings that differ in case alone are one."""
    known = names_of(name, own) if kind in ALIASED else ()
    found: dict[str, str] = {}
    for spelling in (*spellings, *known):
        if spelling.lower() != name.lower() and len(spelling) <= LONGEST_ALIAS and "://" not in spelling:
            found.setdefault(spelling.lower(), spelling)
    return list(found.values())[:MOST_ALIASES]


def build_relations(mentions: pl.DataFrame, entities: pl.DataFrame, memories: pl.DataFrame) -> pl.DataFrame:
    """Returns the table `relations`."""
    kinds = entities.select("entity_id", "kind", "name", "project", "memory_count")
    named = mentions.select("memory_id", "entity_id").unique().join(kinds, on="entity_id")
    evidence = pl.concat([_together(named), _stated(mentions), _contained(named), _superseding(named, memories)])
    counts = kinds.select("entity_id", "memory_count")
    dated = memories.select("first_event_at", "event_at", memory_id="id")
    return (
        evidence.unique()
        .filter(pl.col("source_id") != pl.col("target_id"))
        .join(dated, on="memory_id")
        .group_by("source_id", "target_id", "kind")
        .agg(
            pl.col("memory_id").sort().alias("memory_ids"),
            pl.len().cast(pl.Int64).alias("memory_count"),
            pl.col("first_event_at").min(),
            pl.col("event_at").max(),
        )
        .join(counts.rename({"entity_id": "source_id", "memory_count": "source_count"}), on="source_id")
        .join(counts.rename({"entity_id": "target_id", "memory_count": "target_count"}), on="target_id")
        .with_columns(_weight().alias("weight"))
        .select(list(schemas.schema_of("relations")))
        .sort("source_id", "target_id", "kind")
    )


def _weight() -> pl.Expr:
    mean = (pl.col("source_count") * pl.col("target_count")).cast(pl.Float64).sqrt()
    return (pl.col("memory_count") / mean).clip(0.0, 1.0)


def _together(named: pl.DataFrame) -> pl.DataFrame:
    """Returns pairs named in one memory: in two memories, or in one that names few things."""
    things = named.filter(~pl.col("kind").is_in(ORIGINS)).select("memory_id", "entity_id")
    things = things.with_columns(pl.len().over("memory_id").alias("among")).filter(pl.col("among") <= MOST_IN_A_MEMORY)
    pairs = things.join(things.drop("among"), on="memory_id").filter(pl.col("entity_id") < pl.col("entity_id_right"))
    pairs = pairs.rename({"entity_id": "source_id", "entity_id_right": "target_id"})
    is_enough = (pl.len().over("source_id", "target_id") > 1) | (pl.col("among") <= FEW_IN_A_MEMORY)
    return _evidence(pairs.filter(is_enough), TOGETHER)


def _stated(mentions: pl.DataFrame) -> pl.DataFrame:
    """Returns what memories say outright."""
    keyed = mentions.select("memory_id", pl.format("{}/{}", "kind", "name").alias("other"), target_id="entity_id")
    found = []
    for relation in STATED:
        said = mentions.select("memory_id", pl.col(relation).alias("other"), source_id="entity_id")
        found.append(_evidence(said.explode("other").drop_nulls("other").join(keyed, on=["memory_id", "other"]), relation))
    return pl.concat(found)


def _contained(named: pl.DataFrame) -> pl.DataFrame:
    """Returns files and folders with the folder that their path names, where a memory of the project names that, too."""
    paths = named.filter(pl.col("kind").is_in(["file", "folder"]))
    folders = paths.filter(pl.col("kind") == "folder").select("name", "project", target_id="entity_id").unique()
    above = pl.col("name").str.strip_chars_end("/").str.replace(r"[^/]+$", "")
    inside = paths.with_columns(above.alias("above")).filter(pl.col("above") != "")
    found = inside.join(folders, left_on=["above", "project"], right_on=["name", "project"])
    return _evidence(found.rename({"entity_id": "source_id"}), "part_of")


def _superseding(named: pl.DataFrame, memories: pl.DataFrame) -> pl.DataFrame:
    """Returns the one thing of its kind in a superseded memory with the one that the newer memory names instead."""
    pairs = memories.drop_nulls("superseded_by").select(old="id", new="superseded_by")
    things = named.filter(~pl.col("kind").is_in(ORIGINS)).select("memory_id", "kind", "entity_id")
    gone, came = (
        pairs.join(things, left_on=mine, right_on="memory_id")
        .join(things.drop("kind"), left_on=[other, "entity_id"], right_on=["memory_id", "entity_id"], how="anti")
        .filter(pl.len().over("old", "new", "kind") == 1)
        for mine, other in (("old", "new"), ("new", "old"))
    )
    found = gone.join(came, on=["old", "new", "kind"]).rename({"entity_id": "source_id", "entity_id_right": "target_id"})
    return _evidence(found.rename({"new": "memory_id"}), "replaced_by")


def _evidence(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    return frame.select("source_id", "target_id", pl.lit(kind).alias("kind"), "memory_id")
