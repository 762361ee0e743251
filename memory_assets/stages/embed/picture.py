"""Draws the strongest part of the entity graph as an SVG: what memories most often name together.

Takes the tables `entities` and `relations`, returns text; equal tables give equal pictures.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import polars as pl

MOST_EDGES = 48
MOST_NODES = 36
WIDTH, HEIGHT, MARGIN = 1200, 800, 90
ROUNDS = 300
LONGEST_LABEL = 34

GREY = "#868e96"
COLOURS = {
    "file": "#4c6ef5", "folder": "#748ffc", "command": "#0ca678", "flag": "#38d9a9", "package": "#f76707", "service": "#e8590c",
    "tool": "#ffa94d", "host": "#e64980", "repository": "#9c36b5", "person": "#d6336c", "project": "#862e9c", "adr": "#c92a2a",
    "ticket": "#f03e3e", "branch": "#5f3dc4", "variable": "#2b8a3e", "identifier": "#1c7ed6",
}  # fmt: skip


def render_picture(entities: pl.DataFrame, relations: pl.DataFrame) -> str:
    """Returns the picture."""
    edges = strongest(relations)
    ids = list(dict.fromkeys(id for edge in edges for id in (edge["source_id"], edge["target_id"])))
    known = {row["entity_id"]: row for row in entities.filter(pl.col("entity_id").is_in(ids)).iter_rows(named=True)}
    places = dict(zip(ids, _layout(ids, edges), strict=True))
    shown = [*(_line(edge, places) for edge in edges), *(_node(known[id], places[id]) for id in ids)]
    kinds = sorted({known[id]["kind"] for id in ids})
    legend = [_legend(row, kind) for row, kind in enumerate(kinds)]
    empty = f'<text x="{WIDTH // 2}" y="{HEIGHT // 2}" text-anchor="middle">Nothing is named together yet.</text>'
    note = [] if ids else [empty]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">'
    paper = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    return "\n".join([head, paper, *shown, *legend, *note, "</svg>\n"])


def strongest(relations: pl.DataFrame) -> list[dict[str, Any]]:
    """Returns the relations with most memories, of at most `MOST_NODES` entities; one per pair of entities."""
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
    """Returns a position for each: relations attract, everything else repels (Fruchterman and Reingold)."""
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
    style = f'stroke="{GREY}" stroke-opacity="0.5" stroke-width="{min(1 + edge["memory_count"] / 2, 6):.1f}"'
    title = f"{edge['kind']}: {edge['memory_count']} memories"
    return f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" {style}><title>{title}</title></line>'


def _node(entity: dict[str, Any], place: tuple[float, float]) -> str:
    x, y = place
    radius = min(4 + entity["memory_count"] ** 0.5, 16)
    name = entity["name"] if len(entity["name"]) <= LONGEST_LABEL else f"…{entity['name'][1 - LONGEST_LABEL :]}"
    circle = f'<circle cx="{x}" cy="{y}" r="{radius:.1f}" fill="{COLOURS.get(entity["kind"], GREY)}"/>'
    return f'{circle}<text x="{x}" y="{y - radius - 4:.1f}" text-anchor="middle">{escape(name)}</text>'


def _legend(row: int, kind: str) -> str:
    y = HEIGHT - 16 - 18 * row
    return f'<circle cx="20" cy="{y - 4}" r="6" fill="{COLOURS.get(kind, GREY)}"/><text x="32" y="{y}">{kind}</text>'
