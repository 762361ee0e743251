"""Folds observations, merge edges and the ledger into memories: the present state of what is known.

A memory shows the newest allowed wording and keeps all; its id is that of the oldest observation. Its confidence starts with
the highest of its observations and follows the evidence of its sources (`evidence`). If two memories contradict each other,
what the owner said later replaces the other; any other contradiction is held, both name each other, and somebody has to decide.
Notes (`notes`) are folded with the observations, and what was forgotten stays forgotten. Folding the observations up to an
earlier day gives the memories of that day.

Later notes are applied to the memories of the last fold, so that every process recalls them at once. No watermark is kept: the
observations of the memories show which notes they contain. So events of the same moment, and events that arrive late from
elsewhere, are applied exactly once, and applying them again changes nothing. A note with the meaning of an older memory stays
beside it until the next fold merges them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Row
from memory_assets.stages.embed.evidence import Conflict, Evidence, allowed_facts, find_conflicts, weigh_evidence
from memory_assets.stages.embed.merge import find_roots
from memory_assets.stages.embed.notes import (
    Moment,
    NoteEffects,
    apply_corrections,
    note_id,
    note_rows,
    with_notes,
    without_corrected,
)
from memory_assets.stages.embed.uses import boosts
from memory_assets.store.ledger import CORRECTED, FORGOTTEN, NOTES, RECALLED, USED, Event, Ledger
from memory_assets.store.parquet_tables import ParquetTables

_PRIORITY = {"high": 0, "medium": 1, "low": 2}
_STRENGTH = {"explicit": 0, "implied": 1, "inferred": 2}
_OF_THE_NEWEST = "kind text text_hash category sentiment scope project person event_at session_id path lines trigger".split()
_NEVER = (datetime.min.replace(tzinfo=UTC), "")

Clusters = dict[str, list[dict[str, Any]]]
"""Memory → its observations, in order of time."""


@dataclass(frozen=True)
class _Relations:
    """Relations between memories."""

    superseded: Mapping[str, str]
    """Memory → what replaced it."""
    held: frozenset[str] = frozenset()
    """Memories that contradict an active one."""
    against: Mapping[str, set[str]] = field(default_factory=dict)
    """Memory → its unresolved conflicts."""
    forgotten: frozenset[str] = frozenset()


def fold_memories(observations: pl.DataFrame, merges: pl.DataFrame, events: Sequence[Event]) -> pl.DataFrame:
    """Returns the table `memories`; notes come with the events."""
    ordered = with_notes(observations, events).sort("event_at", "id")
    merges, effects = without_corrected(merges, events), NoteEffects(ordered, events)
    rows = {row["id"]: row for row in ordered.iter_rows(named=True)}
    roots = find_roots(list(rows), merges)
    clusters: Clusters = defaultdict(list)
    for id, row in rows.items():
        clusters[roots[id]].append(row)
    facts = allowed_facts(ordered)
    conflicts = find_conflicts(facts, merges, roots)
    evidence = weigh_evidence(facts, conflicts, roots, events)
    relations = _relate(conflicts, evidence, clusters, effects, roots)
    recalled, used = _moments(events, RECALLED, roots), _moments(events, USED, roots)
    boost = boosts(events, roots)
    memories = (
        _memory(root, members, evidence, relations) | _usage(recalled[root], used[root], boost.get(root, 0.0))
        for root, members in clusters.items()
    )
    return schemas.frame_of("memories", memories).sort("id")


def memories_of_notes(events: Sequence[Event]) -> dict[str, dict[str, Any]]:
    """Returns the memory of each note alone, by its id."""
    rows = note_rows(events).iter_rows(named=True)
    return {row["id"]: _memory(row["id"], [row], Evidence(), _Relations({})) | _usage([], [], 0.0) for row in rows}


def _relate(
    conflicts: Sequence[Conflict], evidence: Evidence, clusters: Clusters, effects: NoteEffects, roots: Mapping[str, str]
) -> _Relations:
    forgotten = frozenset(root for root, rows in clusters.items() if effects.is_forgotten([row["id"] for row in rows]))
    said = {root: _last_said_by_owner(clusters[root]) for one in conflicts for root in (one.newer_root, one.older_root)}
    superseded: dict[str, str] = {}
    for one in conflicts:
        if one.newer["author"] == "owner" and _moment(one.newer) > said[one.older_root]:
            _supersede(superseded, one.older_root, one.newer_root)
    for older, newer in _corrected(effects, roots, clusters).items():
        _supersede(superseded, older, newer)
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
    return _Relations(superseded, frozenset(held), against, forgotten)


def _supersede(superseded: dict[str, str], older: str, newer: str) -> None:
    """Notes that the newer one replaces the older; what said the reverse before no longer does, so there are no cycles."""
    last = newer
    while (following := superseded.get(last)) not in (None, older):
        last = following
    superseded.pop(last, None)
    superseded[older] = newer


def _corrected(effects: NoteEffects, roots: Mapping[str, str], clusters: Clusters) -> dict[str, str]:
    """Returns what the last correction of each memory replaces: the memory and the earlier corrections.

    What the owner said again after its correction replaces the correction.
    """
    replaced: dict[str, str] = {}
    for root, one in apply_corrections(effects.corrections, roots).items():
        replaced |= dict.fromkeys(one.earlier, one.by)
        is_said_again = _last_said_by_owner(clusters[root])[0] > one.at
        replaced |= {one.by: root} if is_said_again else {root: one.by}
    return replaced


def _last_said_by_owner(members: Sequence[dict[str, Any]]) -> Moment:
    """Returns when the owner last stated it; repetition by tools and assistants does not restore what the owner replaced."""
    return max((_moment(row) for row in members if row["author"] == "owner" and row["gate"] == "allow"), default=_NEVER)


def _moment(row: Row) -> Moment:
    """Returns the place of a statement in the order of all, which decides between statements of one time."""
    return row["event_at"], row["id"]


def _moments(events: Sequence[Event], kind: str, roots: Mapping[str, str]) -> dict[str, list[datetime]]:
    """Returns when each memory was recalled, or used; an event may be dated before it was recorded."""
    found: dict[str, list[datetime]] = defaultdict(list)
    for event in events:
        if event.kind == kind:
            at = event.payload.get("at")
            moment = datetime.fromisoformat(at).astimezone(UTC) if at else event.at
            ids = event.payload.get("memory_ids", [event.target])
            for root in dict.fromkeys(roots[id] for id in ids if id in roots):
                found[root].append(moment)
    return found


def _usage(recalled: Sequence[datetime], used: Sequence[datetime], boost: float) -> dict[str, Any]:
    last = max([*recalled, *used], default=None)
    return {"recall_count": len(recalled), "used_count": len(used), "last_used_at": last, "boost": boost}


def _memory(root: str, members: list[dict[str, Any]], evidence: Evidence, relations: _Relations) -> dict[str, Any]:
    allowed = [row for row in members if row["gate"] == "allow"]
    trusted = allowed or members
    newest, superseded_by = trusted[-1], relations.superseded.get(root)
    state = "active" if allowed and root not in relations.held else "held"
    return {
        **{name: newest[name] for name in _OF_THE_NEWEST},
        "id": root,
        "state": "forgotten" if root in relations.forgotten else "superseded" if superseded_by else state,
        "wordings": list(dict.fromkeys(row["text"] for row in members)),
        "observation_ids": [row["id"] for row in members],
        "session_ids": list(dict.fromkeys(row["session_id"] for row in members)),
        "merged_count": len(members),
        "priority": min((row["priority"] for row in trusted), key=_PRIORITY.__getitem__),
        "confidence": evidence.confidence(root, max(row["confidence"] for row in trusted), trusted),
        "confirmed_count": max(len(evidence.confirmed.get(root, ())) - 1, 0),
        "contradicted_count": len(evidence.contradicted.get(root, ())),
        "conflicts_with": sorted(relations.against.get(root, ())),
        "strength": min((row["strength"] for row in trusted), key=_STRENGTH.__getitem__),
        "author": "owner" if any(row["author"] == "owner" for row in trusted) else newest["author"],
        "tags": list(dict.fromkeys(tag for row in trusted for tag in row["tags"] or ())),
        "entities": list(dict.fromkeys(entity for row in members for entity in row["entities"])),
        "first_event_at": members[0]["event_at"],
        "superseded_by": superseded_by,
    }


def read_present(tables: ParquetTables, ledger: Ledger) -> pl.DataFrame:
    """Returns the present memories."""
    return overlay(tables.read("memories"), ledger.events(NOTES))


def overlay(memories: pl.DataFrame, events: Iterable[Event]) -> pl.DataFrame:
    """Returns the memories with every note, correction and forgetting of the ledger."""
    notes = sorted((event for event in events if event.kind in NOTES), key=lambda event: event.moment)
    if not notes:
        return memories
    made = memories_of_notes(notes)
    homes = _homes(memories, {*made, *(id for event in notes for id in event.payload.get("observation_ids", ()))})
    fresh = {id: row for id, row in made.items() if id not in homes}
    homes |= {id: id for id in fresh}
    rows = pl.concat([memories, schemas.frame_of("memories", fresh.values()).select(memories.columns)]) if fresh else memories
    corrections = [(one.at, note_id(one), one.payload["observation_ids"]) for one in notes if one.kind == CORRECTED]
    replaced = {
        id: one.by
        for target, one in apply_corrections(corrections, homes).items()
        for id in (target, *sorted(one.earlier))
        if not fresh.keys().isdisjoint((target, one.by, id))  # else the memories were folded with this correction
    }
    forgotten = _forgotten_since(rows, notes, homes)
    states = dict.fromkeys(replaced, "superseded") | dict.fromkeys(forgotten, "forgotten")
    state = pl.col("id").replace_strict(states, default=pl.col("state"), return_dtype=pl.String)
    newer = pl.col("id").replace_strict(replaced, default=pl.col("superseded_by"), return_dtype=pl.String)
    return rows.with_columns(state=state, superseded_by=newer)


def _homes(memories: pl.DataFrame, wanted: Iterable[str]) -> dict[str, str]:
    """Returns the memory of each observation."""
    found = memories.select("observation_ids", "id").explode("observation_ids")
    return dict(found.filter(pl.col("observation_ids").is_in(sorted(wanted))).iter_rows())


def _forgotten_since(rows: pl.DataFrame, notes: Sequence[Event], homes: Mapping[str, str]) -> set[str]:
    """Returns the memories that were forgotten and not noted again since."""
    noted = {homes[note_id(event)]: event.moment for event in notes if event.kind != FORGOTTEN}
    found: set[str] = set()
    for event in notes:
        if event.kind == FORGOTTEN:
            named = {homes[id] for id in event.payload["observation_ids"] if id in homes}
            worded = rows.filter(pl.col("text_hash").is_in(event.payload["text_hashes"]))["id"]
            found |= {id for id in {*named, *worded} if id not in noted or noted[id] < event.moment}
    return found
