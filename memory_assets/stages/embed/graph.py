"""Builds the entity graph from mentions: the tables `entities` and `relations`, and a picture of
its strongest part.

An entity is what mentions agree on. Two entities are related if two memories name both, or one
memory that names few things. Takes tables, returns tables; `mentions` reads the words. The picture
is an SVG; equal tables give equal pictures.
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
"""Names in one memory above which it is a list, and relates nothing."""

FEW_IN_A_MEMORY = 4
"""Names in one memory up to which it alone relates two of them."""

MOST_ALIASES = 12
LONGEST_ALIAS = 60
ORIGINS = ("project", "person")
"""Kinds that come from the memory's origin; a common mention with them means nothing."""

ALIASED = ("service", "tool", "package", "command")
"""Kinds with well-known aliases; a file has none."""

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
    mentions: pl.DataFrame, memories: pl.DataFrame, own: Own | None = None
) -> pl.DataFrame:
    """Returns the table `entities`; `own` are the owner's aliases."""
    dated = memories.select("first_event_at", "event_at", memory_id="id")
    grouped = (
        resolve_entities(mentions, memories)
        .join(dated, on="memory_id")
        .sort("event_at", "memory_id", "kind", "name")
        .group_by("entity_id", "entity_kind", "entity_name", "entity_project", maintain_order=True)
        .agg(
            spellings=pl.concat([pl.col("name"), pl.col("said").explode()])
            .drop_nulls()
            .unique(maintain_order=True),
            projects=pl.col("project").filter(pl.col("project") != "").unique().sort(),
            memory_count=pl.col("memory_id").n_unique().cast(pl.Int64),
            first_event_at=pl.col("first_event_at").min(),
            event_at=pl.col("event_at").max(),
        )
        .rename({"entity_kind": "kind", "entity_name": "name", "entity_project": "project"})
    )
    named = grouped.select("kind", "name", "spellings").iter_rows()
    aliases = [_aliases(kind, name, spellings, own) for kind, name, spellings in named]
    aliased = grouped.with_columns(pl.Series("aliases", aliases, dtype=pl.List(pl.String)))
    return aliased.select(list(schemas.schema_of("entities"))).sort("entity_id")


def _aliases(kind: str, name: str, spellings: list[str], own: Own | None) -> list[str]:
    """Returns the aliases, those in the memories first; spellings that differ only in case are
    one.
    """
    known = names_of(name, own) if kind in ALIASED else ()
    found: dict[str, str] = {}
    for spelling in (*spellings, *known):
        if (
            spelling.lower() != name.lower()
            and len(spelling) <= LONGEST_ALIAS
            and "://" not in spelling
        ):
            found.setdefault(spelling.lower(), spelling)
    return list(found.values())[:MOST_ALIASES]


def build_relations(
    mentions: pl.DataFrame, entities: pl.DataFrame, memories: pl.DataFrame
) -> pl.DataFrame:
    """Returns the table `relations`."""
    kinds = entities.select("entity_id", "kind", "name", "project", "memory_count")
    named = mentions.select("memory_id", "entity_id").unique().join(kinds, on="entity_id")
    evidence = pl.concat(
        [_together(named), _stated(mentions), _contained(named), _superseding(named, memories)]
    )
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
        .join(
            counts.rename({"entity_id": "source_id", "memory_count": "source_count"}),
            on="source_id",
        )
        .join(
            counts.rename({"entity_id": "target_id", "memory_count": "target_count"}),
            on="target_id",
        )
        .with_columns(
            weight=(
                pl.col("memory_count") / (pl.col("source_count") * pl.col("target_count")).sqrt()
            ).clip(0.0, 1.0)
        )
        .select(list(schemas.schema_of("relations")))
        .sort("source_id", "target_id", "kind")
    )


def _together(named: pl.DataFrame) -> pl.DataFrame:
    """Returns pairs named together: in two memories, or in one that names few things."""
    things = named.filter(~pl.col("kind").is_in(ORIGINS)).select("memory_id", "entity_id")
    things = things.with_columns(pl.len().over("memory_id").alias("among")).filter(
        pl.col("among") <= MOST_IN_A_MEMORY
    )
    pairs = things.join(things.drop("among"), on="memory_id").filter(
        pl.col("entity_id") < pl.col("entity_id_right")
    )
    pairs = pairs.rename({"entity_id": "source_id", "entity_id_right": "target_id"})
    is_enough = (pl.len().over("source_id", "target_id") > 1) | (pl.col("among") <= FEW_IN_A_MEMORY)
    return _evidence(pairs.filter(is_enough), TOGETHER)


def _stated(mentions: pl.DataFrame) -> pl.DataFrame:
    """Returns the relations that memories state."""
    keyed = mentions.select(
        "memory_id", pl.format("{}/{}", "kind", "name").alias("other"), target_id="entity_id"
    )
    said = (
        mentions.select("memory_id", pl.col(kind).alias("other"), source_id="entity_id").explode(
            "other"
        )
        for kind in STATED
    )
    joined = (frame.drop_nulls("other").join(keyed, on=["memory_id", "other"]) for frame in said)
    return pl.concat(_evidence(frame, kind) for frame, kind in zip(joined, STATED, strict=True))


def _contained(named: pl.DataFrame) -> pl.DataFrame:
    """Returns files and folders with their parent folder, if a memory of the project names that,
    too.
    """
    paths = named.filter(pl.col("kind").is_in(["file", "folder"]))
    folders = (
        paths.filter(pl.col("kind") == "folder")
        .select("name", "project", target_id="entity_id")
        .unique()
    )
    above = pl.col("name").str.strip_chars_end("/").str.replace(r"[^/]+$", "")
    inside = paths.with_columns(above.alias("above")).filter(pl.col("above") != "")
    found = inside.join(folders, left_on=["above", "project"], right_on=["name", "project"])
    return _evidence(found.rename({"entity_id": "source_id"}), "part_of")


def _superseding(named: pl.DataFrame, memories: pl.DataFrame) -> pl.DataFrame:
    """Returns the only thing of its kind in a superseded memory with its counterpart in the newer
    memory.
    """
    pairs = memories.drop_nulls("superseded_by").select(old="id", new="superseded_by")
    things = named.filter(~pl.col("kind").is_in(ORIGINS)).select("memory_id", "kind", "entity_id")
    gone, came = (
        pairs.join(things, left_on=mine, right_on="memory_id")
        .join(
            things.drop("kind"),
            left_on=[other, "entity_id"],
            right_on=["memory_id", "entity_id"],
            how="anti",
        )
        .filter(pl.len().over("old", "new", "kind") == 1)
        for mine, other in (("old", "new"), ("new", "old"))
    )
    found = gone.join(came, on=["old", "new", "kind"]).rename(
        {"entity_id": "source_id", "entity_id_right": "target_id"}
    )
    return _evidence(found.rename({"new": "memory_id"}), "replaced_by")


def _evidence(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    return frame.select("source_id", "target_id", pl.lit(kind).alias("kind"), "memory_id")


def render_picture(entities: pl.DataFrame, relations: pl.DataFrame) -> str:
    """Returns the picture."""
    edges = strongest(relations)
    ids = list(dict.fromkeys(id for edge in edges for id in (edge["source_id"], edge["target_id"])))
    known = {
        row["entity_id"]: row
        for row in entities.filter(pl.col("entity_id").is_in(ids)).iter_rows(named=True)
    }
    places = dict(zip(ids, _layout(ids, edges), strict=True))
    shown = [
        *(_line(edge, places) for edge in edges),
        *(_node(known[id], places[id]) for id in ids),
    ]
    legend = [
        _legend(row, kind) for row, kind in enumerate(sorted({known[id]["kind"] for id in ids}))
    ]
    empty = (
        f'<text x="{WIDTH // 2}" y="{HEIGHT // 2}" text-anchor="middle">Nothing is named '
        "together yet.</text>"
    )
    note = [] if ids else [empty]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">'
    )
    paper = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    return "\n".join([head, paper, *shown, *legend, *note, "</svg>\n"])


def strongest(relations: pl.DataFrame) -> list[dict[str, Any]]:
    """Returns the relations with most memories, of at most `MOST_NODES` entities; one per pair of
    entities.
    """
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
    """Returns a position for each: relations attract, everything else repels (Fruchterman and
    Reingold).
    """
    if not ids:
        return []
    places = np.random.default_rng(0).uniform(-1, 1, (len(ids), 2))
    number = {id: row for row, id in enumerate(ids)}
    pull = np.zeros((len(ids), len(ids)))
    for edge in edges:
        a, b = number[edge["source_id"]], number[edge["target_id"]]
        pull[a, b] = pull[b, a] = 1.0
    ideal = 1.2 / np.sqrt(len(ids))
    for step in range(ROUNDS):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        force = ideal**2 / distance - pull * distance**2 / ideal - 0.02 * distance
        move = (apart / distance[..., None] * force[..., None]).sum(axis=1)
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        places += move / length * np.minimum(length, 0.1 * (1 - step / ROUNDS))
    low, high = places.min(axis=0), places.max(axis=0)
    scaled = (places - low) / np.maximum(high - low, 1e-9)
    area = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    return [(round(float(x), 1), round(float(y), 1)) for x, y in scaled * area + MARGIN]


def _line(edge: dict[str, Any], places: dict[str, tuple[float, float]]) -> str:
    (x, y), (to_x, to_y) = places[edge["source_id"]], places[edge["target_id"]]
    style = (
        f'stroke="{GREY}" stroke-opacity="0.5" '
        f'stroke-width="{min(1 + edge["memory_count"] / 2, 6):.1f}"'
    )
    title = f"{edge['kind']}: {edge['memory_count']} memories"
    return f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" {style}><title>{title}</title></line>'


def _node(entity: dict[str, Any], place: tuple[float, float]) -> str:
    x, y = place
    radius = min(4 + entity["memory_count"] ** 0.5, 16)
    name = (
        entity["name"]
        if len(entity["name"]) <= LONGEST_LABEL
        else f"…{entity['name'][1 - LONGEST_LABEL :]}"
    )
    circle = (
        f'<circle cx="{x}" cy="{y}" r="{radius:.1f}" fill="{COLOURS.get(entity["kind"], GREY)}"/>'
    )
    return (
        f'{circle}<text x="{x}" y="{y - radius - 4:.1f}" text-anchor="middle">{escape(name)}</text>'
    )


def _legend(row: int, kind: str) -> str:
    y = HEIGHT - 16 - 18 * row
    return (
        f'<circle cx="20" cy="{y - 4}" r="6" fill="{COLOURS.get(kind, GREY)}"/><text x="32" '
        f'y="{y}">{kind}</text>'
    )
