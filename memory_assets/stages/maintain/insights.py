"""Groups archived memories by meaning and writes one cited sentence about each group.

Takes archived and cold facts with their vectors; returns the table `insights`. A memory joins the
nearest group of its project or person by mean vector, or begins a new group if none is near enough.
Memories join in the order in which they were archived, so a group only grows and keeps its id. The
sentence is the unchanged text of the fact nearest to the group's mean, with the ids of all facts of
the group.
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
"""Least cosine of a memory to the mean of its group. In invented examples with the built-in model,
two facts about one thing (a database, its port, its backups) have 0.30 to 0.64, and facts about
different things at most 0.39."""

_PLACE = pl.coalesce(pl.when(scope=scope).then(scope) for scope in ("project", "person")).fill_null(
    ""
)
"""Name of the project or person that an insight is about; empty if it is about everyone."""


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
        """Returns the memory nearest to the mean; if several are equally near, the first."""
        cosines = np.round(np.stack(self.vectors) @ self.mean, 6)
        return self.rows[int(np.argmax(cosines))]


def find_insights(
    memories: pl.DataFrame, embeddings: pl.DataFrame, archived_at: Mapping[str, datetime]
) -> pl.DataFrame:
    """Returns the table `insights`: one row for each group of archived or cold facts.

    `archived_at` has the time at which each was archived. A memory without it joins by the time at
    which it was last said.
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
    """Returns the groups of the memories, in order.

    `vectors` has one row for each memory. A memory without a vector, whose row is zero, is a group
    by itself.
    """
    clusters: list[Cluster] = []
    by_scope: dict[tuple[str, str], list[Cluster]] = {}
    for row, vector in zip(rows, vectors, strict=True):
        scope_clusters = by_scope.setdefault(_scope_of(row), [])
        cosines = [float(cluster.mean @ vector) for cluster in scope_clusters]
        if cosines and max(cosines) >= NEAR:
            scope_clusters[int(np.argmax(cosines))].add(row, vector)
        else:
            new_cluster = Cluster([row], [vector])
            scope_clusters.append(new_cluster)
            clusters.append(new_cluster)
    return clusters


def render_page(insights: pl.DataFrame) -> str:
    """Returns the insights as a page, by project or person; empty if there are none."""
    if insights.is_empty():
        return ""
    count = insights["memory_count"].sum()
    parts = [f"# Archived memories\n\n_{count:,} facts, out of recall unless asked for._"]
    ordered = insights.sort(["event_at", "insight_id"], descending=[True, False])
    by_place = ordered.with_columns(place=_PLACE).sort("place", maintain_order=True)
    for (place,), group in by_place.group_by("place", maintain_order=True):
        lines = (f"- {text}" for text in group["text"])
        parts += [f"## {place or 'Everywhere'}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _scope_of(row: Row) -> tuple[str, str]:
    names = {"project": row["project"], "person": row["person"]}
    return row["scope"], names.get(row["scope"], "")


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
    """Returns the text of the fact in the middle, with the number, months and ids of all facts."""
    text = " ".join(cluster.middle()["text"].split())
    count = len(cluster.rows)
    is_one_month = (first.year, first.month) == (last.year, last.month)
    months = f"{first:%Y-%m}" if is_one_month else f"{first:%Y-%m} to {last:%Y-%m}"
    summary = f"one of {count:,} related facts, {months}" if count > 1 else months
    return f"{text} ({summary}) [{', '.join(short_id(row['id']) for row in cluster.rows)}]"
