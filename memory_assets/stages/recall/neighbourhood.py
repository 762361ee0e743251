"""What stands around a name: the entities it means, what they are used with or part of, and the memories that say so."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl

from memory_assets.stages.embed.entities import mentions_of_name
from memory_assets.text.aliases import Own, names_of

MOST_ENTITIES = 5
MOST_RELATED = 12
MOST_MEMORIES = 5
MOST_SIMILAR = 8
_ORDER = {"replaced_by": 0, "uses": 1, "part_of": 2, "mentioned_together": 3}
_SHOWN = ("active", "stale", "archived", "cold")


@dataclass(frozen=True)
class Related:
    """Another entity, and how this one stands to it."""

    relation: str
    """mentioned_together, uses, part_of or replaced_by."""
    is_reverse: bool
    """It is the other one that uses, is part, was replaced."""
    entity_id: str
    kind: str
    name: str
    memory_count: int
    weight: float


@dataclass(frozen=True)
class Naming:
    """A memory that names the entity."""

    memory_id: str
    text: str
    event_at: datetime


@dataclass(frozen=True)
class Known:
    """One entity with what surrounds it."""

    entity_id: str
    kind: str
    name: str
    aliases: tuple[str, ...]
    projects: tuple[str, ...]
    memory_count: int
    first_event_at: datetime
    event_at: datetime
    related: tuple[Related, ...]
    memories: tuple[Naming, ...]
    """The newest that name it."""


@dataclass(frozen=True)
class Neighbourhood:
    """The entities that a name means, the most often named first."""

    asked: str
    entities: tuple[Known, ...]
    similar: tuple[str, ...] = field(default=())
    """Where no entity has the name: names that hold it."""


def find_neighbourhood(
    asked: str,
    *,
    entities: pl.DataFrame,
    relations: pl.DataFrame,
    mentions: pl.DataFrame,
    memories: pl.DataFrame,
    own: Own | None = None,
) -> Neighbourhood:
    """Returns the entities of that name, of an alias of it, or whose path ends with it; `own` are the owner's aliases."""
    asked = " ".join(asked.split())
    known_ids = memories.filter(pl.col("state") != "forgotten").select(memory_id="id")
    mentions = mentions.join(known_ids, on="memory_id", how="semi")
    entities = entities.join(mentions, on="entity_id", how="semi")
    names = {other for name in _ways_to_say(asked) for other in (name, *names_of(name, own))} - {""}
    spelt = entities.with_columns(_lower("name"), aliases_low=pl.col("aliases").list.eval(pl.element().str.to_lowercase()))
    is_called = pl.col("name_low").is_in(list(names)) | pl.col("aliases_low").list.set_intersection(list(names)).list.len().gt(
        0
    )
    ends_so = pl.any_horizontal(pl.col("name_low").str.ends_with(f"/{name}") for name in names) if names else pl.lit(False)
    found = spelt.filter(is_called | ends_so).sort(["memory_count", "entity_id"], descending=[True, False]).head(MOST_ENTITIES)
    known = tuple(
        Known(
            **{column: row[column] for column in ("entity_id", "kind", "name", "memory_count", "first_event_at", "event_at")},
            aliases=tuple(row["aliases"]),
            projects=tuple(row["projects"]),
            related=tuple(_related(row["entity_id"], entities, relations)),
            memories=_naming(row["entity_id"], mentions, memories),
        )
        for row in found.iter_rows(named=True)
    )
    return Neighbourhood(asked, known, () if known else _similar(asked, spelt))


def _ways_to_say(asked: str) -> Iterator[str]:
    yield asked.lower().rstrip("/")
    yield asked.lower().rstrip("/") + "/"
    for mention in mentions_of_name(asked):
        yield mention.name.lower()


def _lower(column: str) -> pl.Expr:
    return pl.col(column).str.to_lowercase().alias(f"{column}_low")


def _related(entity_id: str, entities: pl.DataFrame, relations: pl.DataFrame) -> list[Related]:
    sides = []
    for mine, other, is_reverse in (("source_id", "target_id", False), ("target_id", "source_id", True)):
        rows = relations.filter(pl.col(mine) == entity_id).rename({other: "other", "kind": "relation"})
        sides.append(rows.select("other", "relation", "memory_count", "weight", is_reverse=pl.lit(is_reverse)))
    named = entities.select("kind", "name", other="entity_id")
    rows = pl.concat(sides).join(named, on="other").sort(
        [pl.col("relation").replace_strict(_ORDER, return_dtype=pl.Int8), "memory_count", "weight", "other"],
        descending=[False, True, True, False],
    )  # fmt: skip
    is_together = pl.col("relation") == "mentioned_together"
    stated = rows.filter(~is_together)["other"].implode()
    rows = rows.filter(~is_together | ~pl.col("other").is_in(stated)).head(MOST_RELATED)
    return [
        Related(
            relation=row["relation"],
            is_reverse=row["is_reverse"] and row["relation"] != "mentioned_together",
            entity_id=row["other"],
            kind=row["kind"],
            name=row["name"],
            memory_count=row["memory_count"],
            weight=round(row["weight"], 3),
        )
        for row in rows.iter_rows(named=True)
    ]


def _naming(entity_id: str, mentions: pl.DataFrame, memories: pl.DataFrame) -> tuple[Naming, ...]:
    ids = mentions.filter(pl.col("entity_id") == entity_id)["memory_id"].implode()
    rows = memories.filter(pl.col("id").is_in(ids) & pl.col("state").is_in(_SHOWN))
    newest = rows.sort(["event_at", "id"], descending=[True, False]).head(MOST_MEMORIES)
    return tuple(Naming(*row) for row in newest.select("id", "text", "event_at").iter_rows())


def _similar(asked: str, spelt: pl.DataFrame) -> tuple[str, ...]:
    low = asked.lower()
    if len(low) < 2:
        return ()
    holding = spelt.filter(pl.col("name_low").str.contains(low, literal=True))
    return tuple(
        holding.sort(["memory_count", "name"], descending=[True, False])["name"].unique(maintain_order=True).head(MOST_SIMILAR)
    )
