"""Finds pairs of observations that say the same, or that cannot both hold.

Edges are facts about pairs of texts, so they do not depend on the order of arrival: the newer of a pair is the later by event
time. Only pairs with at least one observation that was not compared before are looked at; within one project, or within
what one person says of their own. A conflict needs the same scope besides, and the same category unless the newer one states
the change. Narratives merge only with the very same text. What an edge does to a memory is decided in `memories` and
`evidence`.
"""

from collections.abc import Collection, Iterator

import numpy as np
import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.tables import version_of
from memory_assets.stages.embed.claims import same_claim
from memory_assets.stages.embed.conflicts import CONSIDERED_FROM, REPLACED, find_conflict
from memory_assets.stages.embed.encode import matrix_of

MERGE_VERSION = version_of("merges")
SAME, CONFLICT = "same", "conflict"
CANDIDATE = 0.75
"""Cosine from which a pair may merge; measured paraphrases lie at 0.85 and 0.90, the lowest that read the same at 0.75."""

BLOCK_ROWS = 2_000
NORMS = frozenset({"preferences", "rules-conventions"})
"""Categories of what ought to be; the same wish is filed under either."""

_NEEDED = ["id", "kind", "text", "text_hash", "category", "author", "scope", "project", "person", "event_at"]


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
        for row, column in zip(*np.nonzero(near >= CONSIDERED_FROM), strict=True):
            i, j = int(block[row]), int(column)
            if i == j or (is_new[j] and j < i):
                continue
            yield min(i, j), max(i, j), float(near[row, column])


def _judge(newer: dict, older: dict, cosine: float) -> dict | None:
    if newer["kind"] != older["kind"] or not _share_scope(newer, older):
        return None
    if newer["kind"] == "narrative":
        is_same = newer["text_hash"] == older["text_hash"]
        return _edge(newer, older, cosine, SAME, "same words") if is_same else None
    how = find_conflict(newer["text"], older["text"]) if newer["scope"] == older["scope"] else None
    if how and (how == REPLACED or _are_filed_alike(newer, older)):
        return _edge(newer, older, cosine, CONFLICT, how)
    if cosine >= CANDIDATE and (why := same_claim(newer["text"], older["text"], cosine)):
        return _edge(newer, older, cosine, SAME, why)
    return None


def _edge(newer: dict, older: dict, cosine: float, relation: str, reason: str) -> dict:
    ends = {"newer_id": newer["id"], "older_id": older["id"]}
    return {**ends, "similarity": round(cosine, 6), "relation": relation, "reason": reason}


def _share_scope(a: dict, b: dict) -> bool:
    """Returns whether the two concern the same: one project, one person of their own, or everyone.

    What the owner says of a project and of their own in that project is one statement; said in two projects it is two.
    """
    if a["scope"] == b["scope"] and a["scope"] != "project":
        return a["scope"] == "everyone" or a["person"] == b["person"]
    if a["project"] != b["project"]:
        return False
    is_owners = a["person"] == b["person"] and a["author"] == b["author"] == "owner"
    return "person" not in (a["scope"], b["scope"]) or is_owners


def _are_filed_alike(a: dict, b: dict) -> bool:
    """Returns whether the two have one category; a change that is stated names its subject and needs no such help."""
    return a["category"] == b["category"] or {a["category"], b["category"]} <= NORMS
