"""Folds observations, merge edges and the ledger into memories: the present state of what is known.

The newest allowed wording is shown and all are kept; the id is the oldest observation's. Confidence begins with the highest
of its observations and follows what other sources said (`evidence`). Of two that cannot both hold, what the owner said later
replaces the other; anything else that speaks against a standing memory is held, both name each other, and somebody has to
settle it. What was told outright (`notes`) is folded with what was observed, and what was forgotten stays so. Folding with
observations up to another day gives the memories of that day.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.stages.embed.clusters import find_roots
from memory_assets.stages.embed.evidence import Conflict, Evidence, allowed_facts, find_conflicts, weigh_evidence
from memory_assets.stages.embed.notes import Told, note_rows, read_told, settle, with_notes, without_corrected
from memory_assets.stages.embed.uses import boosts
from memory_assets.store.ledger import RECALLED, USED, Event

_PRIORITY = {"high": 0, "medium": 1, "low": 2}
_STRENGTH = {"explicit": 0, "implied": 1, "inferred": 2}
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class _Standing:
    """How the memories stand to each other."""

    superseded: Mapping[str, str]
    """Memory → what replaced it."""
    held: frozenset[str] = frozenset()
    """Memories that speak against one that stands."""
    against: Mapping[str, set[str]] = field(default_factory=dict)
    """Memory → those that it conflicts with, unsettled."""
    forgotten: frozenset[str] = frozenset()


def fold_memories(observations: pl.DataFrame, merges: pl.DataFrame, events: Sequence[Event]) -> pl.DataFrame:
    """Returns the table `memories`; the events bring the notes with them."""
    ordered = with_notes(observations, events).sort("event_at", "id")
    merges, told = without_corrected(merges, events), read_told(ordered, events)
    rows = {row["id"]: row for row in ordered.iter_rows(named=True)}
    roots = find_roots(list(rows), merges)
    clusters: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for id, row in rows.items():
        clusters[roots[id]].append(row)
    facts = allowed_facts(ordered)
    conflicts = find_conflicts(facts, merges, roots)
    evidence = weigh_evidence(facts, conflicts, roots, events)
    standing = _stand(conflicts, evidence, clusters, told, roots)
    recalled, used = _moments(events, RECALLED, roots), _moments(events, USED, roots)
    boost = boosts(events, roots)
    memories = [
        {
            **_memory(root, members, evidence, standing),
            **_usage(recalled.get(root, []), used.get(root, [])),
            "boost": boost.get(root, 0.0),
        }
        for root, members in clusters.items()
    ]
    return schemas.frame_of("memories", memories).sort("id")


def memories_of_notes(events: Sequence[Event]) -> dict[str, dict[str, Any]]:
    """Returns the memory that each note makes by itself, by its id."""
    rows = note_rows(events).iter_rows(named=True)
    return {row["id"]: {**_memory(row["id"], [row], Evidence(), _Standing({})), **_usage([], []), "boost": 0.0} for row in rows}


def _stand(
    conflicts: Sequence[Conflict],
    evidence: Evidence,
    clusters: Mapping[str, list[dict[str, Any]]],
    told: Told,
    roots: Mapping[str, str],
) -> _Standing:
    forgotten = frozenset(
        root for root, rows in clusters.items() if told.forgotten and told.is_forgotten([row["id"] for row in rows])
    )
    said = {root: _last_said_by_owner(clusters[root]) for one in conflicts for root in (one.newer_root, one.older_root)}
    superseded = {
        one.older_root: one.newer_root  # in order of time, so the last of several remains
        for one in conflicts
        if one.newer["author"] == "owner" and one.newer["event_at"] >= said[one.older_root]
    }
    superseded |= _corrected(told, roots, clusters)
    held: set[str] = set()
    against: dict[str, set[str]] = defaultdict(set)
    for one in evidence.conflicts:
        pair = (one.newer_root, one.older_root)
        if any(root in superseded or root in forgotten for root in pair):
            continue
        against[pair[0]].add(pair[1])
        against[pair[1]].add(pair[0])
        if said[one.newer_root] == _NEVER and one.older_root not in held:
            held.add(one.newer_root)
    return _Standing(superseded, frozenset(held), against, forgotten)


def _corrected(told: Told, roots: Mapping[str, str], clusters: Mapping[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Returns what the last correction of each memory did: it replaces it, and the corrections before it.

    What the owner said again after it was corrected stands, and the correction does not.
    """
    merged = ((at, roots[note], {roots[id] for id in targets} - {roots[note]}) for (at, _), note, targets in told.corrections)
    replaced: dict[str, str] = {}
    for root, one in settle(merged).items():
        replaced |= dict.fromkeys(one.earlier, one.by)
        is_said_again = _last_said_by_owner(clusters[root]) > one.at
        replaced |= {one.by: root} if is_said_again else {root: one.by}
    return replaced


def _last_said_by_owner(members: Sequence[dict[str, Any]]) -> datetime:
    """Returns when the owner last stated it; what tools and assistants repeat does not bring back what the owner replaced."""
    return max((row["event_at"] for row in members if row["author"] == "owner" and row["gate"] == "allow"), default=_NEVER)


def _moments(events: Sequence[Event], kind: str, roots: Mapping[str, str]) -> dict[str, list[datetime]]:
    """Returns when each memory was recalled, or used; an event may say that it happened before it was written down."""
    found: dict[str, list[datetime]] = defaultdict(list)
    for event in events:
        if event.kind == kind:
            at = event.payload.get("at")
            moment = datetime.fromisoformat(at).astimezone(UTC) if at else event.at
            for root in dict.fromkeys(_present(event, roots)):
                found[root].append(moment)
    return found


def _present(event: Event, roots: Mapping[str, str]) -> Iterator[str]:
    return (roots[id] for id in event.payload.get("memory_ids", [event.target]) if id in roots)


def _usage(recalled: Sequence[datetime], used: Sequence[datetime]) -> dict[str, Any]:
    last = max([*recalled, *used], default=None)
    return {"recall_count": len(recalled), "used_count": len(used), "last_used_at": last}


def _memory(root: str, members: list[dict[str, Any]], evidence: Evidence, standing: _Standing) -> dict[str, Any]:
    allowed = [row for row in members if row["gate"] == "allow"]
    newest = (allowed or members)[-1]
    trusted = allowed or members
    owned = any(row["author"] == "owner" for row in trusted)
    superseded_by = standing.superseded.get(root)
    is_active = bool(allowed) and root not in standing.held
    return {
        "id": root,
        "state": _state(is_forgotten=root in standing.forgotten, is_replaced=bool(superseded_by), is_active=is_active),
        "kind": newest["kind"],
        "text": newest["text"],
        "text_hash": newest["text_hash"],
        "wordings": list(dict.fromkeys(row["text"] for row in members)),
        "observation_ids": [row["id"] for row in members],
        "session_ids": list(dict.fromkeys(row["session_id"] for row in members)),
        "merged_count": len(members),
        "priority": min((row["priority"] for row in trusted), key=_PRIORITY.__getitem__),
        "category": newest["category"],
        "confidence": evidence.confidence(root, max(row["confidence"] for row in trusted)),
        "confirmed_count": evidence.confirmations(root),
        "contradicted_count": len(evidence.contradicted.get(root, ())),
        "conflicts_with": sorted(standing.against.get(root, ())),
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
    }


def _state(*, is_forgotten: bool, is_replaced: bool, is_active: bool) -> str:
    return "forgotten" if is_forgotten else "superseded" if is_replaced else "active" if is_active else "held"
