"""Builds the entity graph from mentions: the tables `entities` and `relations`, and a picture of
its strongest part.

All mentions with the same kind, name and project are one entity. Two entities are related if a
memory states a relation, if two memories name both, or if one memory names both and few others. The
picture is an SVG; equal tables give equal pictures.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import polars as pl

from memory_assets.english.aliases import Own, names_of
from memory_assets.schema import frames as schemas
from memory_assets.stages.embed.mentions import resolve_entities

STATED = ("uses", "part_of", "replaced_by")
TOGETHER = "mentioned_together"

MOST_IN_A_MEMORY = 12
"""Most names in a memory that relates entities; a memory with more names is a list."""

FEW_IN_A_MEMORY = 4
"""Most names in a memory that relates two entities without a second memory."""

MOST_ALIASES = 12
LONGEST_ALIAS = 60
ORIGINS = ("project", "person")
"""Kinds that state where a memory comes from; they are not related to the names in it."""

ALIASED = ("service", "tool", "package", "command")
"""Kinds with well-known aliases."""

MOST_EDGES = 48
MOST_NODES = 36
WIDTH, HEIGHT, MARGIN = 1200, 800, 90
ROUNDS = 300
LONGEST_LABEL = 34

GREY = "#868e96"
COLOURS = {
    "file": "#4c6ef5", "folder": "#748ffc", "command": "#0ca678", "flag": "#38d9a9",
    "package": "#f76707", "service": "#e8590c",
    "tool": "#ffa94d", "host": "#e64980", "repository": "#9c36b5", "person": "#d6336c",
    "project": "#862e9c", "adr": "#c92a2a",
    "ticket": "#f03e3e", "branch": "#5f3dc4", "variable": "#2b8a3e", "identifier": "#1c7ed6",
}  # fmt: skip


def build_entities(
    mentions: pl.DataFrame, memories: pl.DataFrame, of_owner: Own | None = None
) -> pl.DataFrame:
    """Returns the table `entities`; `of_owner` are the owner's aliases."""
    dated = memories.select("first_event_at", "event_at", memory_id="id")
    resolved = resolve_entities(mentions, memories).join(dated, on="memory_id")
    resolved = resolved.sort("event_at", "memory_id", "kind", "name")
    key = {"entity_kind": "kind", "entity_name": "name", "entity_project": "project"}
    spellings = pl.concat([pl.col("name"), pl.col("said").explode()])
    grouped = resolved.group_by("entity_id", *key, maintain_order=True).agg(
        spellings=spellings.drop_nulls().unique(maintain_order=True),
        projects=pl.col("project").filter(pl.col("project") != "").unique().sort(),
        memory_count=pl.col("memory_id").n_unique().cast(pl.Int64),
        first_event_at=pl.col("first_event_at").min(),
        event_at=pl.col("event_at").max(),
    )
    grouped = grouped.rename(key)
    named = grouped.select("kind", "name", "spellings").iter_rows()
    aliases = [_aliases(kind, name, spellings, of_owner) for kind, name, spellings in named]
    column = pl.Series("aliases", aliases, dtype=pl.List(pl.String))
    aliased = grouped.with_columns(column)
    return aliased.select(list(schemas.schema_of("entities"))).sort("entity_id")


def _aliases(kind: str, name: str, spellings: list[str], of_owner: Own | None) -> list[str]:
    """Returns the aliases, those in the memories first, without spellings that differ in case."""
    known_aliases = names_of(name, of_owner) if kind in ALIASED else ()
    aliases: dict[str, str] = {}
    for spelling in (*spellings, *known_aliases):
        is_short = len(spelling) <= LONGEST_ALIAS and "://" not in spelling
        if is_short and spelling.lower() != name.lower():
            aliases.setdefault(spelling.lower(), spelling)
    return list(aliases.values())[:MOST_ALIASES]


def build_relations(
    mentions: pl.DataFrame, entities: pl.DataFrame, memories: pl.DataFrame
) -> pl.DataFrame:
    """Returns the table `relations`."""
    kinds = entities.select("entity_id", "kind", "name", "project", "memory_count")
    distinct = mentions.select("memory_id", "entity_id").unique()
    named = distinct.join(kinds, on="entity_id")
    rows = [_together(named), _stated(mentions), _contained(named)]
    evidence = pl.concat([*rows, _superseding(named, memories)])
    dated = memories.select("first_event_at", "event_at", memory_id="id")
    key = ["source_id", "target_id", "kind"]
    evidence = evidence.unique().filter(pl.col("source_id") != pl.col("target_id"))
    relations = evidence.join(dated, on="memory_id").group_by(key)
    relations = relations.agg(
        pl.min("first_event_at"),
        pl.max("event_at"),
        memory_ids=pl.col("memory_id").sort(),
        memory_count=pl.len().cast(pl.Int64),
    )
    for end in ("source", "target"):
        columns = {"entity_id": f"{end}_id", "memory_count": f"{end}_count"}
        counts = kinds.select(*columns).rename(columns)
        relations = relations.join(counts, on=f"{end}_id")
    expected = (pl.col("source_count") * pl.col("target_count")).sqrt()
    weight = (pl.col("memory_count") / expected).clip(0.0, 1.0)
    weighed = relations.with_columns(weight=weight)
    return weighed.select(list(schemas.schema_of("relations"))).sort(key)


def _together(named: pl.DataFrame) -> pl.DataFrame:
    """Returns the pairs that two memories name together, or one memory that names few things."""
    is_thing = ~pl.col("kind").is_in(ORIGINS)
    among = pl.len().over("memory_id")
    things = named.filter(is_thing).select("memory_id", "entity_id", among=among)
    things = things.filter(pl.col("among") <= MOST_IN_A_MEMORY)
    pairs = things.join(things.drop("among"), on="memory_id")
    pairs = pairs.filter(pl.col("entity_id") < pl.col("entity_id_right"))
    pairs = pairs.rename({"entity_id": "source_id", "entity_id_right": "target_id"})
    is_among_few = pl.col("among") <= FEW_IN_A_MEMORY
    is_enough = is_among_few | (pl.len().over("source_id", "target_id") > 1)
    return _evidence(pairs.filter(is_enough), TOGETHER)


def _stated(mentions: pl.DataFrame) -> pl.DataFrame:
    """Returns the relations that memories state."""
    name = pl.format("{}/{}", "kind", "name")
    targets = mentions.select("memory_id", other=name, target_id="entity_id")
    relations = []
    for kind in STATED:
        named = mentions.select("memory_id", other=kind, source_id="entity_id")
        named = named.explode("other")
        pairs = named.drop_nulls("other").join(targets, on=["memory_id", "other"])
        relations.append(_evidence(pairs, kind))
    return pl.concat(relations)


def _contained(named: pl.DataFrame) -> pl.DataFrame:
    """Returns files and folders with their parent folders, if the project's memories name both."""
    paths = named.filter(pl.col("kind").is_in(["file", "folder"]))
    folders = paths.filter(kind="folder").select("project", above="name", target_id="entity_id")
    above = pl.col("name").str.strip_chars_end("/").str.replace(r"[^/]+$", "")
    inside = paths.with_columns(above=above).filter(pl.col("above") != "")
    pairs = inside.join(folders.unique(), on=["above", "project"])
    return _evidence(pairs.rename({"entity_id": "source_id"}), "part_of")


def _superseding(named: pl.DataFrame, memories: pl.DataFrame) -> pl.DataFrame:
    """Returns the pairs of a thing in a superseded memory and the one that replaces it.

    Each must be the only thing of its kind that one of the two memories names and the other not.
    """
    pairs = memories.drop_nulls("superseded_by").select(old="id", new="superseded_by")
    things = named.filter(~pl.col("kind").is_in(ORIGINS)).select("memory_id", "kind", "entity_id")
    key = ["old", "new", "kind"]

    def only_in(memory: str, other: str) -> pl.DataFrame:
        mine = pairs.join(things, left_on=memory, right_on="memory_id")
        others = things.drop("kind").rename({"memory_id": other})
        lone = mine.join(others, on=[other, "entity_id"], how="anti")
        return lone.filter(pl.len().over(key) == 1)

    both = only_in("old", "new").join(only_in("new", "old"), on=key)
    columns = {"entity_id": "source_id", "entity_id_right": "target_id", "new": "memory_id"}
    return _evidence(both.rename(columns), "replaced_by")


def _evidence(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    return frame.select("source_id", "target_id", pl.lit(kind).alias("kind"), "memory_id")


def render_picture(entities: pl.DataFrame, relations: pl.DataFrame) -> str:
    """Returns the strongest part of the graph as an SVG."""
    edges = strongest(relations)
    ends = (edge[end] for edge in edges for end in ("source_id", "target_id"))
    ids = list(dict.fromkeys(ends))
    chosen = entities.filter(pl.col("entity_id").is_in(ids)).iter_rows(named=True)
    entity_of = {row["entity_id"]: row for row in chosen}
    places = dict(zip(ids, _layout(ids, edges), strict=True))
    kinds = sorted({entity_of[id]["kind"] for id in ids})
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">'
    )
    parts = [head, f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    parts += [_line(edge, places) for edge in edges]
    parts += [_node(entity_of[id], places[id]) for id in ids]
    parts += [_legend(row, kind) for row, kind in enumerate(kinds)]
    if not ids:
        middle = f'x="{WIDTH // 2}" y="{HEIGHT // 2}" text-anchor="middle"'
        parts.append(f"<text {middle}>Nothing is named together yet.</text>")
    return "\n".join([*parts, "</svg>\n"])


def strongest(relations: pl.DataFrame) -> list[dict[str, Any]]:
    """Returns the relations with most memories, one for each pair of at most `MOST_NODES` nodes."""
    columns = ["memory_count", "weight", "source_id", "target_id", "kind"]
    ordered = relations.sort(columns, descending=[True, True, False, False, False])
    chosen: dict[tuple[str, str], dict[str, Any]] = {}
    nodes: set[str] = set()
    for row in ordered.head(MOST_EDGES * 4).iter_rows(named=True):
        ends = {row["source_id"], row["target_id"]}
        if len(nodes | ends) <= MOST_NODES and len(chosen) < MOST_EDGES:
            chosen.setdefault((min(ends), max(ends)), row)
            nodes |= ends
    return list(chosen.values())


def _layout(ids: Sequence[str], edges: Sequence[dict[str, Any]]) -> list[tuple[float, float]]:
    """Returns a position for each entity by force-directed placement (Fruchterman and Reingold)."""
    if not ids:
        return []
    places = np.random.default_rng(0).uniform(-1, 1, (len(ids), 2))
    number = {id: row for row, id in enumerate(ids)}
    pull = np.zeros((len(ids), len(ids)))
    for edge in edges:
        ends = (number[edge["source_id"]], number[edge["target_id"]])
        pull[ends] = pull[ends[::-1]] = 1.0
    ideal = 1.2 / np.sqrt(len(ids))
    for step in range(ROUNDS):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        force = ideal**2 / distance - pull * distance**2 / ideal - 0.02 * distance
        move = (apart / distance[..., None] * force[..., None]).sum(axis=1)
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        places += move / length * np.minimum(length, 0.1 * (1 - step / ROUNDS))
    low = places.min(axis=0)
    scaled = (places - low) / np.maximum(places.max(axis=0) - low, 1e-9)
    area = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    return [(round(float(x), 1), round(float(y), 1)) for x, y in scaled * area + MARGIN]


def _line(edge: dict[str, Any], places: dict[str, tuple[float, float]]) -> str:
    x, y = places[edge["source_id"]]
    to_x, to_y = places[edge["target_id"]]
    width = min(1 + edge["memory_count"] / 2, 6)
    style = f'stroke="{GREY}" stroke-opacity="0.5" stroke-width="{width:.1f}"'
    title = f"{edge['kind']}: {edge['memory_count']} memories"
    return f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" {style}><title>{title}</title></line>'


def _node(entity: dict[str, Any], place: tuple[float, float]) -> str:
    x, y = place
    radius = min(4 + entity["memory_count"] ** 0.5, 16)
    name = entity["name"]
    if len(name) > LONGEST_LABEL:
        name = f"…{name[1 - LONGEST_LABEL :]}"
    colour = COLOURS.get(entity["kind"], GREY)
    circle = f'<circle cx="{x}" cy="{y}" r="{radius:.1f}" fill="{colour}"/>'
    label = f'<text x="{x}" y="{y - radius - 4:.1f}" text-anchor="middle">'
    return f"{circle}{label}{escape(name)}</text>"


def _legend(row: int, kind: str) -> str:
    y = HEIGHT - 16 - 18 * row
    circle = f'<circle cx="20" cy="{y - 4}" r="6" fill="{COLOURS.get(kind, GREY)}"/>'
    return f'{circle}<text x="32" y="{y}">{kind}</text>'
