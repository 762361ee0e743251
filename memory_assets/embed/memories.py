"""Folds observations, merge edges and the ledger into memories: the present state of what is known.

Each observation joins the cluster of the older one that it is most similar to, so clusters follow from the edges alone. The
newest allowed wording is shown and all are kept; the id is the oldest observation's; confidence rises by 0.05 with each
merged repetition. Folding with observations up to another day gives the memories of that day.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import polars as pl

from memory_assets import tables as schemas
from memory_assets.embed.merge import SUPERSEDES
from memory_assets.ledger import Event

FOLD_VERSION = "fold/1"
PER_REPETITION = 0.05
RECALLED = "memory.recalled"
_PRIORITY = {"high": 0, "medium": 1, "low": 2}
_STRENGTH = {"explicit": 0, "implied": 1, "inferred": 2}


def fold_memories(observations: pl.DataFrame, merges: pl.DataFrame, events: Sequence[Event]) -> pl.DataFrame:
    """Returns the table `memories`."""
    rows = {row["id"]: row for row in observations.sort("event_at", "id").iter_rows(named=True)}
    roots = _cluster(list(rows), merges)
    clusters: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for id, row in rows.items():
        clusters[roots[id]].append(row)
    superseded = _superseded(merges, roots, rows)
    recalled = _recalled(events, roots)
    memories = [_memory(root, members, superseded.get(root), recalled.get(root, [])) for root, members in clusters.items()]
    return schemas.frame_of("memories", memories).sort("id")


def _cluster(ids: list[str], merges: pl.DataFrame) -> dict[str, str]:
    """Returns the oldest observation of each one's cluster; `ids` are in order of event time."""
    same = merges.filter(pl.col("reason") != SUPERSEDES).sort(["similarity", "older_id"], descending=[True, False])
    nearest: dict[str, str] = {}
    for newer, older in same.select("newer_id", "older_id").iter_rows():
        nearest.setdefault(newer, older)
    roots: dict[str, str] = {}
    for id in ids:
        older = nearest.get(id)
        roots[id] = roots.get(older, id) if older is not None else id
    return roots


def _superseded(merges: pl.DataFrame, roots: dict[str, str], rows: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Returns the memory that replaced each one, the latest where there are several; what was said again since stands."""
    last_said: dict[str, datetime] = {}
    for id, root in roots.items():
        last_said[root] = max(last_said.get(root, rows[id]["event_at"]), rows[id]["event_at"])
    edges = merges.filter(pl.col("reason") == SUPERSEDES).select("newer_id", "older_id").rows()
    found: dict[str, tuple[datetime, str]] = {}
    for newer, older in edges:
        if newer not in roots or older not in roots or roots[newer] == roots[older]:
            continue
        if rows[newer]["event_at"] >= last_said[roots[older]]:
            candidate = (rows[newer]["event_at"], roots[newer])
            found[roots[older]] = max(found.get(roots[older], candidate), candidate)
    return {older: newer for older, (_, newer) in found.items()}


def _recalled(events: Sequence[Event], roots: dict[str, str]) -> dict[str, list[datetime]]:
    found: dict[str, list[datetime]] = defaultdict(list)
    for event in events:
        if event.kind == RECALLED:
            for id in event.payload.get("memory_ids", [event.target]):
                if id in roots:
                    found[roots[id]].append(event.at)
    return found


def _memory(root: str, members: list[dict[str, Any]], superseded_by: str | None, recalled: list[datetime]) -> dict[str, Any]:
    allowed = [row for row in members if row["gate"] == "allow"]
    newest = (allowed or members)[-1]
    trusted = allowed or members
    owned = any(row["author"] == "owner" for row in trusted)
    confidence = max(row["confidence"] for row in trusted) + PER_REPETITION * (len({r["window_id"] for r in trusted}) - 1)
    return {
        "id": root,
        "state": "superseded" if superseded_by else "active" if allowed else "held",
        "kind": newest["kind"],
        "text": newest["text"],
        "text_hash": newest["text_hash"],
        "wordings": list(dict.fromkeys(row["text"] for row in members)),
        "observation_ids": [row["id"] for row in members],
        "session_ids": list(dict.fromkeys(row["session_id"] for row in members)),
        "merged_count": len(members),
        "priority": min((row["priority"] for row in trusted), key=_PRIORITY.__getitem__),
        "category": newest["category"],
        "confidence": round(min(confidence, 1.0), 4),
        "strength": min((row["strength"] for row in trusted), key=_STRENGTH.__getitem__),
        "sentiment": newest["sentiment"],
        "author": "owner" if owned else newest["author"],
        "scope": newest["scope"],
        "project": newest["project"],
        "person": newest["person"],
        "entities": list(dict.fromkeys(entity for row in members for entity in row["entities"])),
        "first_event_at": members[0]["event_at"],
        "event_at": newest["event_at"],
        "session_id": newest["session_id"],
        "path": newest["path"],
        "lines": newest["lines"],
        "superseded_by": superseded_by,
        "recall_count": len(recalled),
        "last_used_at": max(recalled, default=None),
    }
