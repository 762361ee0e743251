"""Groups archived memories by meaning and says one cited sentence about each group.

Takes archived and cold facts with their vectors; returns the table `insights`. A memory joins the
group of its project or person whose mean vector is nearest, if it is near enough, else it begins a
group. Memories join in the order in which they were archived, so an earlier group only grows, and
keeps its id. The sentence is the fact nearest to the middle of its group, in its own words, with
the ids of all facts of the group: nothing is reworded, so an insight is as true as its facts.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl

from memory_assets.schema.frames import frame_of
from memory_assets.schema.protocols import Row
from memory_assets.schema.tables import version_of
from memory_assets.stages.embed.encode import matrix_of
from memory_assets.text.short_ids import short_id

NAMESPACE = uuid.UUID("8f0f6f0e-5b0d-4f0a-9b6f-1c0a6f6b7a52")
RETIRED = ("archived", "cold")
PAGE = "summaries/insights.md"
"""Place of the page in the workspace."""

NEAR = 0.45
"""Cosine to the mean of a group from which a memory belongs to it. In written examples, two facts
about one thing (a database, its port, its backups) have 0.30 to 0.64 with the built-in model, facts
about different things at most 0.39."""

_PLACE = pl.coalesce(pl.when(scope=scope).then(scope) for scope in ("project", "person")).fill_null(
    ""
)
"""Name of the project or person that an insight is about; empty where it holds everywhere."""


@dataclass
class Cluster:
    """Memories about one thing, in the order in which they joined."""

    rows: list[Row] = field(default_factory=list)
    vectors: list[np.ndarray] = field(default_factory=list)

    @property
    def mean(self) -> np.ndarray:
        """The mean of its vectors, of unit length."""
        mean = np.mean(self.vectors, axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-12)

    def add(self, row: Row, vector: np.ndarray) -> None:
        """Adds a memory."""
        self.rows.append(row)
        self.vectors.append(vector)

    def middle(self) -> Row:
        """Returns the memory nearest to the mean; of equally near ones the first."""
        return self.rows[int(np.argmax(np.round(np.stack(self.vectors) @ self.mean, 6)))]


def find_insights(
    memories: pl.DataFrame, embeddings: pl.DataFrame, archived_at: Mapping[str, datetime]
) -> pl.DataFrame:
    """Returns the table `insights`: one row for each group of archived or cold facts.

    `archived_at` is when each of them was archived; without it, a memory joins by the time when it
    was last said.
    """
    retired = memories.filter(pl.col("state").is_in(RETIRED), kind="fact")
    rows = sorted(
        retired.to_dicts(),
        key=lambda row: (archived_at.get(row["id"], row["event_at"]), row["event_at"], row["id"]),
    )
    hashes = pl.Series("text_hash", [row["text_hash"] for row in rows], dtype=pl.String)
    vectors = matrix_of(hashes, embeddings.join(retired, on="text_hash", how="semi"))
    return frame_of("insights", map(_insight, group(rows, vectors)))


def group(rows: Sequence[Row], vectors: np.ndarray) -> list[Cluster]:
    """Returns the groups of the memories, in order; `vectors` has one row for each, zeros where
    there is none.

    A memory without a vector is a group of its own.
    """
    clusters: list[Cluster] = []
    by_scope: dict[tuple[str, str], list[Cluster]] = {}
    for row, vector in zip(rows, vectors, strict=True):
        scope_clusters = by_scope.setdefault(_scope_of(row), [])
        near = [float(cluster.mean @ vector) for cluster in scope_clusters]
        if near and max(near) >= NEAR:
            scope_clusters[int(np.argmax(near))].add(row, vector)
        else:
            new_cluster = Cluster([row], [vector])
            scope_clusters.append(new_cluster)
            clusters.append(new_cluster)
    return clusters


def render_page(insights: pl.DataFrame) -> str:
    """Returns the insights as a page, by project or person; empty where there are none."""
    if insights.is_empty():
        return ""
    parts = [
        f"# Archived memories\n\n_{insights['memory_count'].sum():,} facts, out of recall "
        "unless asked for._"
    ]
    ordered = insights.sort(["event_at", "insight_id"], descending=[True, False])
    placed = ordered.with_columns(place=_PLACE).sort("place", maintain_order=True)
    for (place,), group in placed.group_by("place", maintain_order=True):
        lines = (f"- {text}" for text in group["text"])
        parts += [f"## {place or 'Everywhere'}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _scope_of(row: Row) -> tuple[str, str]:
    return row["scope"], {"project": row["project"], "person": row["person"]}.get(row["scope"], "")


def _insight(cluster: Cluster) -> dict[str, Any]:
    rows = cluster.rows
    categories = [row["category"] for row in rows]
    scope, place = _scope_of(rows[0])
    first = min(row["first_event_at"] for row in rows)
    last = max(row["event_at"] for row in rows)
    return {
        "insight_id": str(uuid.uuid5(NAMESPACE, rows[0]["id"])),
        "text": _sentence(cluster, first, last),
        "memory_ids": [row["id"] for row in rows],
        "memory_count": len(rows),
        "category": max(dict.fromkeys(categories), key=categories.count),
        "scope": scope,
        "project": place if scope == "project" else "",
        "person": place if scope == "person" else "",
        "first_event_at": first,
        "event_at": last,
        "insighter": version_of("insights"),
    }


def _sentence(cluster: Cluster, first: datetime, last: datetime) -> str:
    """Returns the fact in the middle, how many it stands for, and the ids of all."""
    text = " ".join(cluster.middle()["text"].split())
    count = len(cluster.rows)
    is_one_month = (first.year, first.month) == (last.year, last.month)
    months = f"{first:%Y-%m}" if is_one_month else f"{first:%Y-%m} to {last:%Y-%m}"
    summary = f"one of {count:,} related facts, {months}" if count > 1 else months
    return f"{text} ({summary}) [{', '.join(short_id(row['id']) for row in cluster.rows)}]"
