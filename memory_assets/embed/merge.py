"""Finds pairs of observations that say the same, or of which the newer replaces the older.

Edges are facts about pairs, so they do not depend on the order of arrival: the newer of a pair is the later by event time.
Only pairs with at least one observation that was not compared before are looked at; within one project, or within what one
person says of their own or repeats as owner of several projects. Narratives merge only with the very same text.
"""

from collections.abc import Collection, Iterator

import numpy as np
import polars as pl

from memory_assets import tables as schemas
from memory_assets.embed.claims import replaces, same_claim
from memory_assets.embed.encode import matrix_of

MERGE_VERSION = "merge/2"
CANDIDATE = 0.75
"""Cosine from which a pair may merge; measured paraphrases lie at 0.85 and 0.90, the lowest that read the same at 0.75."""

REPLACED = 0.5
"""Cosine from which a newer fact may replace an older one that it names."""

SUPERSEDES = "supersedes"
BLOCK_ROWS = 2_000
_NEEDED = ["id", "kind", "text", "text_hash", "gate", "author", "scope", "project", "person", "event_at"]


def find_edges(
    observations: pl.DataFrame, embeddings: pl.DataFrame, previous: pl.DataFrame, compared: Collection[str]
) -> pl.DataFrame:
    """Returns all edges: those of `previous` whose ends are still there, and those of observations not in `compared`."""
    facts = observations.select(_NEEDED).sort("event_at", "id")
    present = facts["id"].implode()
    kept = previous.filter(pl.col("newer_id").is_in(present) & pl.col("older_id").is_in(present))
    known = set(compared)
    is_new = np.array([id not in known for id in facts["id"]], dtype=bool)
    if not is_new.any():
        return kept
    rows = facts.to_dicts()
    found = [edge for i, j, cosine in _near_pairs(facts, embeddings, is_new) if (edge := _judge(rows[j], rows[i], cosine))]
    return pl.concat([kept, schemas.frame_of("merges", found)]).unique(["newer_id", "older_id"]).sort("newer_id", "older_id")


def _near_pairs(facts: pl.DataFrame, embeddings: pl.DataFrame, is_new: np.ndarray) -> Iterator[tuple[int, int, float]]:
    """Yields (older row, newer row, cosine) of pairs near enough to be judged, at least one of them new."""
    vectors = matrix_of(facts["text_hash"], embeddings)
    fresh = np.flatnonzero(is_new)
    for start in range(0, len(fresh), BLOCK_ROWS):
        block = fresh[start : start + BLOCK_ROWS]
        near = vectors[block] @ vectors.T
        for row, column in zip(*np.nonzero(near >= REPLACED), strict=True):
            i, j = int(block[row]), int(column)
            if i == j or (is_new[j] and j < i):
                continue
            yield min(i, j), max(i, j), float(near[row, column])


def _judge(newer: dict, older: dict, cosine: float) -> dict | None:
    if newer["kind"] != older["kind"] or not _share_scope(newer, older):
        return None
    if newer["kind"] == "narrative":
        reason = "same words" if newer["text_hash"] == older["text_hash"] else None
    else:
        reason = same_claim(newer["text"], older["text"], cosine) if cosine >= CANDIDATE else None
        if (
            reason is None
            and newer["author"] == "owner"
            and newer["gate"] == "allow"
            and replaces(newer["text"], older["text"])
        ):
            reason = SUPERSEDES
    if reason is None:
        return None
    return {"newer_id": newer["id"], "older_id": older["id"], "similarity": round(cosine, 6), "reason": reason}


def _share_scope(a: dict, b: dict) -> bool:
    """Returns whether the two concern the same: one project, or one person who says it in several."""
    if a["project"] == b["project"] and "person" not in (a["scope"], b["scope"]):
        return True
    return a["person"] == b["person"] and (a["scope"] == b["scope"] == "person" or a["author"] == b["author"] == "owner")
