"""Finds pairs of observations that say the same, or that contradict each other, and those in doubt.

An edge is a fact about two texts, so it does not depend on the order of arrival: the newer of a pair is the later by event
time. Only pairs with an observation that was not compared before are examined, within one project, or within what one person
says of their own. A conflict also needs the same scope, and the same category unless the newer one states the change.
Narratives merge only with the same text. A near pair of one scope that is neither is in doubt: a model may decide it
(`pair_questions`), without one nothing follows. `memories` and `evidence` decide what an edge does to a memory.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Row
from memory_assets.schema.vocabulary import CONFLICT, DOUBTFUL, SAME
from memory_assets.stages.embed.claims import NEAR, same_claim
from memory_assets.stages.embed.conflicts import CONSIDERED_FROM, REPLACED, find_conflict
from memory_assets.stages.embed.encode import matrix_of

BLOCK_ROWS = 2_000
NORMS = frozenset({"preferences", "rules-conventions"})
"""Categories of wishes and rules; the same wish can have either."""

_NEEDED = ["id", "kind", "text", "text_hash", "category", "author", "scope", "project", "person", "event_at"]


def find_edges(
    observations: pl.DataFrame, embeddings: pl.DataFrame, previous: pl.DataFrame, compared: Collection[str]
) -> pl.DataFrame:
    """Returns all edges: those of `previous` whose observations still exist, and those of observations not in `compared`."""
    facts = observations.select(_NEEDED).sort("event_at", "id")
    present = facts["id"].implode()
    kept = previous.filter(pl.col("newer_id").is_in(present) & pl.col("older_id").is_in(present))
    is_new = (~facts["id"].is_in(list(compared))).to_numpy()
    if not is_new.any():
        return kept
    rows = facts.to_dicts()
    found = [
        {"newer_id": rows[j]["id"], "older_id": rows[i]["id"], "similarity": round(cosine, 6), **edge}
        for i, j, cosine in _near_pairs(facts, embeddings, is_new)
        if (edge := _judge(rows[j], rows[i], cosine))
    ]
    return pl.concat([kept, schemas.frame_of("merges", found)]).unique(["newer_id", "older_id"]).sort("newer_id", "older_id")


def _near_pairs(facts: pl.DataFrame, embeddings: pl.DataFrame, is_new: np.ndarray) -> Iterator[tuple[int, int, float]]:
    """Yields (older row, newer row, cosine) of the pairs to compare, at least one of them new."""
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


def _judge(newer: Row, older: Row, cosine: float) -> dict[str, str] | None:
    """Returns the relation of the two and its reason, if they have one."""
    if newer["kind"] != older["kind"] or not _share_scope(newer, older):
        return None
    if newer["kind"] == "narrative":
        return {"relation": SAME, "reason": "same words"} if newer["text_hash"] == older["text_hash"] else None
    if how := _conflict_of(newer, older):
        return {"relation": CONFLICT, "reason": how}
    if why := same_claim(newer["text"], older["text"], cosine):
        return {"relation": SAME, "reason": why}
    return {"relation": DOUBTFUL, "reason": "near"} if cosine >= NEAR and newer["scope"] == older["scope"] else None


def _conflict_of(newer: Row, older: Row) -> str | None:
    """Returns how the newer one of two facts that share a scope conflicts with the older one."""
    how = find_conflict(newer["text"], older["text"]) if newer["scope"] == older["scope"] else None
    return how if how == REPLACED or _are_filed_alike(newer, older) else None


def find_conflicts_of(new: Collection[str], memories: Sequence[Row]) -> dict[str, list[str]]:
    """Returns the ids of the memories that each memory conflicts with, for pairs with at least one of the `new` ids.

    Pairs of other memories were compared by an earlier merge.
    """
    facts = [row for row in memories if row["kind"] == "fact" and row["state"] != "superseded"]
    facts.sort(key=lambda row: (row["event_at"], row["id"]))
    found: dict[str, list[str]] = {}
    for older, newer in combinations(facts, 2):
        is_new = newer["id"] in new or older["id"] in new
        if is_new and _share_scope(newer, older) and _conflict_of(newer, older):
            found.setdefault(newer["id"], []).append(older["id"])
            found.setdefault(older["id"], []).append(newer["id"])
    return found


def _share_scope(a: Row, b: Row) -> bool:
    """Returns whether the two have a common scope: one project, one person, or everyone.

    In one project, the owner's statements about it and about themselves can be the same; in two projects they cannot.
    """
    if a["scope"] == b["scope"] and a["scope"] != "project":
        return a["scope"] == "everyone" or a["person"] == b["person"]
    if a["project"] != b["project"]:
        return False
    is_owners = a["person"] == b["person"] and a["author"] == b["author"] == "owner"
    return "person" not in (a["scope"], b["scope"]) or is_owners


def _are_filed_alike(a: Row, b: Row) -> bool:
    """Returns whether the two have one category; a stated change names its subject and does not need this."""
    return a["category"] == b["category"] or {a["category"], b["category"]} <= NORMS


def find_roots(ids: Sequence[str], merges: pl.DataFrame) -> dict[str, str]:
    """Returns the oldest observation of each one's cluster; `ids` are ordered by event time."""
    same = merges.filter(pl.col("relation") == SAME).sort(["similarity", "older_id"], descending=[True, False])
    nearest: dict[str, str] = {}
    for newer, older in same.select("newer_id", "older_id").iter_rows():
        nearest.setdefault(newer, older)
    roots: dict[str, str] = {}
    for id in ids:
        roots[id] = roots.get(nearest.get(id, id), id)
    return roots
