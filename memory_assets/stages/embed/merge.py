"""Finds pairs of observations that say the same, or that contradict each other, and those in doubt.

An edge is a fact about two texts, so it does not depend on the order of arrival: the newer of a
pair is the later by event time. Only pairs with an observation that was not compared before are
examined, within one project, or within what one person says of their own. A conflict also needs the
same scope, and the same category unless the newer one states the change: that one is also compared
with every older fact that has the name which is gone, or back, however far apart the two are in
meaning. Narratives merge only with the same text. A pair of one scope that is neither is in doubt
if it is near, or if the newer one states a change of the same subject: a model may decide it
(`pair_questions`), without one nothing follows. `memories` and `evidence` decide what an edge does
to a memory.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, combinations

import numpy as np
import polars as pl

from memory_assets.english.aliases import names_of
from memory_assets.english.changes import CUES, read_state_changes
from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Row
from memory_assets.schema.vocabulary import CONFLICT, DOUBTFUL, SAME
from memory_assets.stages.embed.claims import NEAR, same_claim
from memory_assets.stages.embed.conflicts import CONSIDERED_FROM, STATED, find_conflict
from memory_assets.stages.embed.corrections import may_correct
from memory_assets.stages.embed.encode import matrix_of

BLOCK_ROWS = 2_000
NORMS = frozenset({"preferences", "rules-conventions"})
"""Categories of wishes and rules; the same wish can have either."""

_NEEDED = "id kind text text_hash category author scope project person event_at".split()


def find_edges(
    observations: pl.DataFrame,
    embeddings: pl.DataFrame,
    previous: pl.DataFrame,
    compared: Collection[str],
) -> pl.DataFrame:
    """Returns all edges: those of `previous` whose observations still exist, and those of
    observations not in `compared`.
    """
    facts = observations.select(_NEEDED).sort("event_at", "id")
    present = facts["id"].implode()
    remaining = previous.filter(
        pl.col("newer_id").is_in(present) & pl.col("older_id").is_in(present)
    )
    is_new = (~facts["id"].is_in(list(compared))).to_numpy()
    if not is_new.any():
        return remaining
    rows = facts.to_dicts()
    vectors = matrix_of(facts["text_hash"], embeddings)
    judged = (
        (i, j, cosine, _judge(rows[j], rows[i], cosine))
        for i, j, cosine in _near_pairs(vectors, is_new)
    )
    stated = (
        (i, j, float(vectors[i] @ vectors[j]), _stated(rows[j], rows[i]))
        for i, j in _stated_pairs(facts, is_new)
    )
    new_edges = [
        {
            **edge,
            "newer_id": rows[j]["id"],
            "older_id": rows[i]["id"],
            "similarity": round(cosine, 6),
        }
        for i, j, cosine, edge in chain(judged, stated)
        if edge
    ]
    edges = pl.concat([remaining, schemas.frame_of("merges", new_edges)])
    return edges.unique(["newer_id", "older_id"]).sort("newer_id", "older_id")


def _near_pairs(vectors: np.ndarray, is_new: np.ndarray) -> Iterator[tuple[int, int, float]]:
    """Yields (older row, newer row, cosine) of the pairs to compare, at least one of them new."""
    fresh = np.flatnonzero(is_new)
    for start in range(0, len(fresh), BLOCK_ROWS):
        block = fresh[start : start + BLOCK_ROWS]
        near = vectors[block] @ vectors.T
        for row, column in zip(*np.nonzero(near >= CONSIDERED_FROM), strict=True):
            i = int(block[row])
            j = int(column)
            if i != j and (i < j or not is_new[j]):
                yield min(i, j), max(i, j), float(near[row, column])


def _stated_pairs(facts: pl.DataFrame, is_new: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yields (older row, newer row), at least one of them new, if the newer one changes a name that
    the older one has.
    """
    texts = facts["text"].to_list()
    changing = _rows_by_changed_name(facts)
    has_new_change = any(is_new[row] for rows in changing.values() for row in rows)
    for older in range(len(texts)) if has_new_change else np.flatnonzero(is_new).tolist():
        words = changing.keys() & _words(texts[older])
        for row in sorted(set[int]().union(*(changing[word] for word in words))):
            if row > older and (is_new[older] or is_new[row]):
                yield older, row


def _rows_by_changed_name(facts: pl.DataFrame) -> dict[str, set[int]]:
    """Returns the rows that change each name, by the first word of the name."""
    is_cued = facts["text"].str.contains(CUES) & (facts["kind"] == "fact")
    changing: dict[str, set[int]] = defaultdict(set)
    for row in np.flatnonzero(is_cued.to_numpy()).tolist():
        for change in read_state_changes(facts["text"][row]):
            names = (*names_of(change.gone), *names_of(change.came))
            for word in chain.from_iterable(_words(name)[:1] for name in names):
                changing[word].add(row)
    return changing


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _stated(newer: Row, older: Row) -> dict[str, str] | None:
    """Returns the conflict of the two, if the newer one states that what the older one says has
    changed.
    """
    if newer["kind"] != older["kind"] or not _share_scope(newer, older):
        return None
    how = _conflict_of(newer, older)
    return {"relation": CONFLICT, "reason": how} if how in STATED else None


def _judge(newer: Row, older: Row, cosine: float) -> dict[str, str] | None:
    """Returns the relation of the two and its reason, if they have one."""
    if newer["kind"] != older["kind"] or not _share_scope(newer, older):
        return None
    if newer["kind"] == "narrative":
        is_same = newer["text_hash"] == older["text_hash"]
        return {"relation": SAME, "reason": "same words"} if is_same else None
    how = _conflict_of(newer, older)
    if how:
        return {"relation": CONFLICT, "reason": how}
    why = same_claim(newer["text"], older["text"], cosine)
    if why:
        return {"relation": SAME, "reason": why}
    is_doubtful = cosine >= NEAR or may_correct(newer["text"], older["text"])
    is_doubtful = is_doubtful and newer["scope"] == older["scope"]
    return {"relation": DOUBTFUL, "reason": "near"} if is_doubtful else None


def _conflict_of(newer: Row, older: Row) -> str | None:
    """Returns how the newer one of two facts that share a scope conflicts with the older one."""
    if newer["scope"] != older["scope"]:
        return None
    how = find_conflict(newer["text"], older["text"], newer["project"])
    return how if how in STATED or _are_filed_alike(newer, older) else None


def find_conflicts_of(new: Collection[str], memories: Sequence[Row]) -> dict[str, list[str]]:
    """Returns the ids of the memories that each memory conflicts with, for pairs with at least one
    of the `new` ids.

    Pairs of other memories were compared by an earlier merge.
    """
    facts = [row for row in memories if row["kind"] == "fact" and row["state"] != "superseded"]
    facts.sort(key=lambda row: (row["event_at"], row["id"]))
    conflicts: dict[str, list[str]] = {}
    for older, newer in combinations(facts, 2):
        is_new = newer["id"] in new or older["id"] in new
        if is_new and _share_scope(newer, older) and _conflict_of(newer, older):
            conflicts.setdefault(newer["id"], []).append(older["id"])
            conflicts.setdefault(older["id"], []).append(newer["id"])
    return conflicts


def _share_scope(a: Row, b: Row) -> bool:
    """Returns whether the two have a common scope: one project, one person, or everyone.

    In one project, the owner's statements about it and about themselves can be the same; in two
    projects they cannot.
    """
    if a["scope"] == b["scope"] and a["scope"] != "project":
        return a["scope"] == "everyone" or a["person"] == b["person"]
    if a["project"] != b["project"]:
        return False
    is_owners = a["person"] == b["person"] and a["author"] == b["author"] == "owner"
    return "person" not in (a["scope"], b["scope"]) or is_owners


def _are_filed_alike(a: Row, b: Row) -> bool:
    """Returns whether the two have one category; a stated change names its subject and does not
    need this.
    """
    return a["category"] == b["category"] or {a["category"], b["category"]} <= NORMS


def find_roots(ids: Sequence[str], merges: pl.DataFrame) -> dict[str, str]:
    """Returns the oldest observation of each one's cluster; `ids` are ordered by event time."""
    same = merges.filter(pl.col("relation") == SAME).sort(
        ["similarity", "older_id"], descending=[True, False]
    )
    nearest: dict[str, str] = {}
    for newer, older in same.select("newer_id", "older_id").iter_rows():
        nearest.setdefault(newer, older)
    roots: dict[str, str] = {}
    for id in ids:
        roots[id] = roots.get(nearest.get(id, id), id)
    return roots
