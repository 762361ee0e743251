"""Builds the memories from observations, merge edges and the ledger.

A memory has the newest allowed wording as its text and all wordings beside it. Its id is that of
its oldest observation. Its confidence is the highest of its observations, changed by the evidence
of other sources (`evidence`). If two memories contradict each other, the later words of the owner
supersede the other memory. If the owner returns to a superseded statement, it is active again. In
any other contradiction the newer memory is held, both name each other, and a person has to decide.
Notes (`notes`) are added to the observations, and forgotten memories stay forgotten. From the
observations up to an earlier day, the memories of that day result.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Row
from memory_assets.stages.embed import notes
from memory_assets.stages.embed.conflicts import REVERSED
from memory_assets.stages.embed.evidence import (
    Conflict,
    Evidence,
    allowed_facts,
    find_conflicts,
    weigh_evidence,
)
from memory_assets.stages.embed.merge import find_roots
from memory_assets.stages.embed.notes import Moment, NoteEffects
from memory_assets.stages.embed.uses import boosts
from memory_assets.store.ledger import RECALLED, USED, Event

_PRIORITY = {"high": 0, "medium": 1, "low": 2}
_STRENGTH = {"explicit": 0, "implied": 1, "inferred": 2}
_OF_THE_NEWEST = (
    "kind text text_hash category sentiment scope project person event_at session_id path lines "
    "trigger".split()
)
_NEVER = (datetime.min.replace(tzinfo=UTC), "")

Clusters = dict[str, list[dict[str, Any]]]
"""Memory → its observations, in order of time."""


@dataclass(frozen=True)
class _Relations:
    """Relations between memories."""

    superseded: Mapping[str, str]
    """Memory → the memory that replaced it."""
    held: frozenset[str] = frozenset()
    """Memories that contradict an active memory."""
    conflicts: Mapping[str, set[str]] = field(default_factory=dict)
    """Memory → the memories that it is in an unresolved conflict with."""
    forgotten: frozenset[str] = frozenset()


def fold_memories(
    observations: pl.DataFrame, merges: pl.DataFrame, events: Sequence[Event]
) -> pl.DataFrame:
    """Returns the table `memories`; the events include the notes."""
    ordered = notes.with_notes(observations, events).sort("event_at", "id")
    merges = notes.without_corrected(merges, events)
    effects = NoteEffects(ordered, events)
    rows = {row["id"]: row for row in ordered.iter_rows(named=True)}
    roots = find_roots(list(rows), merges)
    clusters: Clusters = defaultdict(list)
    for id, row in rows.items():
        clusters[roots[id]].append(row)
    facts = allowed_facts(ordered)
    conflicts = find_conflicts(facts, merges, roots)
    evidence = weigh_evidence(facts, conflicts, roots, events)
    relations = _relate(conflicts, evidence, clusters, effects, roots)
    recalled = _moments(events, RECALLED, roots)
    used = _moments(events, USED, roots)
    boost = boosts(events, roots)
    memories = (
        _memory(root, members, evidence, relations)
        | _usage(recalled[root], used[root], boost.get(root, 0.0))
        for root, members in clusters.items()
    )
    return schemas.frame_of("memories", memories).sort("id")


def memories_of_notes(events: Sequence[Event]) -> dict[str, dict[str, Any]]:
    """Returns a memory for each note, not merged with anything, by its id."""
    unused = _usage([], [], 0.0)
    memories = {}
    for row in notes.note_rows(events).iter_rows(named=True):
        memory = _memory(row["id"], [row], Evidence(), _Relations({}))
        memories[row["id"]] = memory | unused
    return memories


def _relate(
    conflicts: Sequence[Conflict],
    evidence: Evidence,
    clusters: Clusters,
    effects: NoteEffects,
    roots: Mapping[str, str],
) -> _Relations:
    ids_of = {root: [row["id"] for row in rows] for root, rows in clusters.items()}
    forgotten = frozenset(root for root, ids in ids_of.items() if effects.is_forgotten(ids))
    superseded = _replaced_by_owner(conflicts, clusters)
    for older, newer in _corrected(effects, roots, clusters).items():
        _supersede(superseded, older, newer)
    held: set[str] = set()
    unresolved: dict[str, set[str]] = defaultdict(set)
    for conflict in evidence.conflicts:
        newer = conflict.newer_root
        older = conflict.older_root
        if any(root in superseded or root in forgotten for root in (newer, older)):
            continue
        unresolved[newer].add(older)
        unresolved[older].add(newer)
        if _last_said_by_owner(clusters[newer]) == _NEVER and older not in held:
            held.add(newer)
    return _Relations(superseded, frozenset(held), unresolved, forgotten)


def _replaced_by_owner(conflicts: Sequence[Conflict], clusters: Clusters) -> dict[str, str]:
    """Returns the memories that later words of the owner replace, each with its replacement."""
    superseded: dict[str, str] = {}
    for conflict in conflicts:
        if conflict.newer["author"] != "owner":
            continue
        older = conflict.older_root
        if _moment(conflict.newer) > _last_said_by_owner(clusters[older]):
            if conflict.reason == REVERSED:
                # Memories that `older` replaced are active again.
                superseded = {id: by for id, by in superseded.items() if by != older}
            _supersede(superseded, older, conflict.newer_root)
    return superseded


def _supersede(superseded: dict[str, str], older: str, newer: str) -> None:
    """Notes that `newer` replaces `older`; if `older` replaced it so far, that no longer counts."""
    last = newer
    while superseded.get(last) not in (None, older):
        last = superseded[last]
    superseded.pop(last, None)
    superseded[older] = newer


def _corrected(
    effects: NoteEffects, roots: Mapping[str, str], clusters: Clusters
) -> dict[str, str]:
    """Returns the memories and earlier corrections that the last correction of a memory replaces.

    A memory that the owner said again after its correction replaces the correction.
    """
    replaced: dict[str, str] = {}
    for root, correction in notes.apply_corrections(effects.corrections, roots).items():
        note = correction.by
        replaced |= dict.fromkeys(correction.earlier, note)
        is_said_again = _last_said_by_owner(clusters[root])[0] > correction.at
        replaced |= {note: root} if is_said_again else {root: note}
    return replaced


def _last_said_by_owner(members: Sequence[dict[str, Any]]) -> Moment:
    """Returns when the owner last stated the memory.

    Tools and assistants that repeat it do not restore what the owner replaced.
    """
    owners = (row for row in members if row["author"] == "owner" and row["gate"] == "allow")
    return max(map(_moment, owners), default=_NEVER)


def _moment(row: Row) -> Moment:
    """Returns the position of a statement; the id decides between statements of the same time."""
    return row["event_at"], row["id"]


def _moments(
    events: Sequence[Event], kind: str, roots: Mapping[str, str]
) -> dict[str, list[datetime]]:
    """Returns the times of the events of the kind (recalled or used) for each memory.

    The payload's `at`, if there is one, is the time of an event that was recorded later.
    """
    moments: dict[str, list[datetime]] = defaultdict(list)
    for event in events:
        if event.kind == kind:
            at = event.payload.get("at")
            moment = datetime.fromisoformat(at).astimezone(UTC) if at else event.at
            ids = event.payload.get("memory_ids", [event.target])
            for root in dict.fromkeys(roots[id] for id in ids if id in roots):
                moments[root].append(moment)
    return moments


def _usage(recalled: Sequence[datetime], used: Sequence[datetime], boost: float) -> dict[str, Any]:
    last = max([*recalled, *used], default=None)
    counts = {"recall_count": len(recalled), "used_count": len(used)}
    return {**counts, "last_used_at": last, "boost": boost}


def _memory(
    root: str, members: list[dict[str, Any]], evidence: Evidence, relations: _Relations
) -> dict[str, Any]:
    allowed = [row for row in members if row["gate"] == "allow"]
    trusted = allowed or members
    newest = trusted[-1]
    authors = {row["author"] for row in trusted}
    priorities = {row["priority"] for row in trusted}
    strengths = {row["strength"] for row in trusted}
    confidence = max(row["confidence"] for row in trusted)
    return {
        **{name: newest[name] for name in _OF_THE_NEWEST},
        **_collected(members),
        "id": root,
        "state": _state(root, relations, is_allowed=bool(allowed)),
        "priority": min(priorities, key=_PRIORITY.__getitem__),
        "confidence": evidence.confidence(root, confidence, trusted),
        "confirmed_count": max(len(evidence.confirmed.get(root, ())) - 1, 0),
        "contradicted_count": len(evidence.contradicted.get(root, ())),
        "conflicts_with": sorted(relations.conflicts.get(root, ())),
        "strength": min(strengths, key=_STRENGTH.__getitem__),
        "author": "owner" if "owner" in authors else newest["author"],
        "tags": _distinct(trusted, "tags"),
        "superseded_by": relations.superseded.get(root),
    }


def _collected(members: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the columns that collect values of all observations of a memory."""
    return {
        "wordings": list(dict.fromkeys(row["text"] for row in members)),
        "observation_ids": [row["id"] for row in members],
        "session_ids": list(dict.fromkeys(row["session_id"] for row in members)),
        "merged_count": len(members),
        "entities": _distinct(members, "entities"),
        "first_event_at": members[0]["event_at"],
    }


def _distinct(members: list[dict[str, Any]], column: str) -> list[str]:
    """Returns each item of the lists in the column once, in order."""
    items = chain.from_iterable(row[column] or () for row in members)
    return list(dict.fromkeys(items))


def _state(root: str, relations: _Relations, *, is_allowed: bool) -> str:
    if root in relations.forgotten:
        return "forgotten"
    if root in relations.superseded:
        return "superseded"
    return "active" if is_allowed and root not in relations.held else "held"
