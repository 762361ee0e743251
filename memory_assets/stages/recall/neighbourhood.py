"""Finds the entities of a name, their relations, and the memories that name them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from memory_assets.stages.embed.entities import mentions_of_name
from memory_assets.text.aliases import Own, names_of

MOST_ENTITIES = 5
MOST_RELATED = 12
MOST_MEMORIES = 5
MOST_SIMILAR = 8
_ORDER = ("replaced_by", "uses", "part_of", "mentioned_together")
_SHOWN = ("active", "stale", "archived", "cold")


@dataclass(frozen=True)
class RelatedEntity:
    """Another entity, and its relation to this one."""

    relation: str
    """mentioned_together, uses, part_of or replaced_by."""
    is_reverse: bool
    """Whether it is the other one that uses, is part, was replaced."""
    entity_id: str
    kind: str
    name: str
    memory_count: int
    weight: float


@dataclass(frozen=True)
class NamingMemory:
    """A memory that names the entity."""

    memory_id: str
    text: str
    event_at: datetime


@dataclass(frozen=True)
class EntityView:
    """One entity with its relations and memories."""

    entity_id: str
    kind: str
    name: str
    aliases: tuple[str, ...]
    projects: tuple[str, ...]
    memory_count: int
    first_event_at: datetime
    event_at: datetime
    related: tuple[RelatedEntity, ...]
    memories: tuple[NamingMemory, ...]
    """The newest that name it."""


@dataclass(frozen=True)
class Neighbourhood:
    """The entities of a name, the most often named first."""

    asked: str
    entities: tuple[EntityView, ...]
    similar: tuple[str, ...] = ()
    """Names that contain it, where no entity has the name."""


def find_neighbourhood(
    asked: str, graph: Mapping[str, pl.DataFrame], memories: pl.DataFrame, own: Own | None = None
) -> Neighbourhood:
    """Returns the entities of that name, of an alias of it, or whose path ends with it.

    `graph` are the tables `entities`, `relations` and `mentions`; `own` are the owner's aliases.
    """
    asked = " ".join(asked.split())
    known_ids = memories.filter(pl.col("state") != "forgotten").select(memory_id="id")
    mentions = graph["mentions"].join(known_ids, on="memory_id", how="semi")
    entities = graph["entities"].join(mentions, on="entity_id", how="semi")
    names = sorted({other for name in _spellings(asked) for other in (name, *names_of(name, own))} - {""})
    low = pl.col("name").str.to_lowercase()
    aliases = pl.col("aliases").list.eval(pl.element().str.to_lowercase())
    is_called = low.is_in(names) | (aliases.list.set_intersection(names).list.len() > 0)
    ends_so = pl.any_horizontal(pl.lit(False), *(low.str.ends_with(f"/{name}") for name in names))
    ordered = entities.sort(["memory_count", "entity_id"], descending=[True, False])
    known = tuple(
        EntityView(
            **{column: row[column] for column in ("entity_id", "kind", "name", "memory_count", "first_event_at", "event_at")},
            aliases=tuple(row["aliases"]),
            projects=tuple(row["projects"]),
            related=tuple(_related(row["entity_id"], entities, graph["relations"])),
            memories=_naming(row["entity_id"], mentions, memories),
        )
        for row in ordered.filter(is_called | ends_so).head(MOST_ENTITIES).iter_rows(named=True)
    )
    if known or len(asked) < 2:
        return Neighbourhood(asked, known)
    similar = entities.filter(low.str.contains(asked.lower(), literal=True))
    similar = similar.sort(["memory_count", "name"], descending=[True, False])["name"].unique(maintain_order=True)
    return Neighbourhood(asked, (), tuple(similar.head(MOST_SIMILAR)))


def _spellings(asked: str) -> Iterator[str]:
    yield asked.lower().rstrip("/")
    yield asked.lower().rstrip("/") + "/"
    for mention in mentions_of_name(asked):
        yield mention.name.lower()


def _related(entity_id: str, entities: pl.DataFrame, relations: pl.DataFrame) -> Iterator[RelatedEntity]:
    sides = []
    for mine, other, is_reverse in (("source_id", "target_id", False), ("target_id", "source_id", True)):
        rows = relations.filter(pl.col(mine) == entity_id).rename({other: "entity_id", "kind": "relation"})
        sides.append(rows.select("entity_id", "relation", "memory_count", "weight", is_reverse=pl.lit(is_reverse)))
    rows = pl.concat(sides).join(entities.select("kind", "name", "entity_id"), on="entity_id").sort(
        [pl.col("relation").cast(pl.Enum(_ORDER)), "memory_count", "weight", "entity_id"],
        descending=[False, True, True, False],
    )  # fmt: skip
    is_together = pl.col("relation") == "mentioned_together"
    stated = rows.filter(~is_together)["entity_id"].implode()
    rows = rows.filter(~is_together | ~pl.col("entity_id").is_in(stated)).head(MOST_RELATED)
    for row in rows.with_columns(pl.col("is_reverse") & ~is_together).iter_rows(named=True):
        yield RelatedEntity(**row | {"weight": round(row["weight"], 3)})


def _naming(entity_id: str, mentions: pl.DataFrame, memories: pl.DataFrame) -> tuple[NamingMemory, ...]:
    ids = mentions.filter(pl.col("entity_id") == entity_id)["memory_id"].implode()
    rows = memories.filter(pl.col("id").is_in(ids) & pl.col("state").is_in(_SHOWN))
    newest = rows.sort(["event_at", "id"], descending=[True, False]).head(MOST_MEMORIES)
    return tuple(NamingMemory(*row) for row in newest.select("id", "text", "event_at").iter_rows())
