"""Finds which sources confirmed or contradicted a memory, and computes its confidence.

Takes edges between observations. `plan_evidence` returns the events that the ledger lacks;
`weigh_evidence` computes the evidence from the events of the ledger. An event names both
observations with their messages, text hashes and sources. Its id is made from the two observations,
so it is written once. A source counts once for each memory, even if a later distillation words its
observation differently. An event counts only while an edge between the observations still exists,
so that a better rule removes the effect of a wrong one.

A source is a session with all its forks and sub-agents, because they repeat one another. Held
observations and echoes (`uses`) neither confirm nor contradict.
"""

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import polars as pl

from memory_assets.schema.frames import hash_of
from memory_assets.schema.protocols import Row
from memory_assets.schema.vocabulary import CONFLICT, SAME
from memory_assets.stages.embed.locator import MemoryLocator, references
from memory_assets.stages.embed.merge import NORMS, find_roots
from memory_assets.store.ledger import CONFIRMED, CONTRADICTED, Event, Planned

RAISED, LOWERED = 0.1, 0.2
"""Change of confidence by one more confirming source, and by a contradicting one (A77)."""

REPEATED = 0.05
"""Change of confidence if the same source says it once more, in other messages (A77, dedup)."""

EVIDENCE = (CONFIRMED, CONTRADICTED)
_COLUMNS = "id session_id category author event_at text_hash message_ids".split()


@dataclass(frozen=True)
class Conflict:
    """Two contradicting memories, with their contradicting observations."""

    newer: Row
    older: Row
    newer_root: str
    older_root: str
    reason: str
    similarity: float


@dataclass
class Evidence:
    """The ledger's evidence about memories; times are texts in ISO 8601."""

    confirmed: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """Memory → the sources that say it, with the first source, and the time of each."""
    contradicted: dict[str, dict[str, tuple[str, bool]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    """Memory → the sources that contradict it, the time, and whether it lowers the confidence."""
    conflicts: list[Conflict] = field(default_factory=list)
    """The conflicts that the ledger has, in order of their newer observations."""

    def confidence(self, root: str, start: float, members: Sequence[Row] = ()) -> float:
        """Returns the confidence, between 0 and 1, after all evidence in order of time.

        `start` is the confidence without evidence. `members` are the memory's observations in
        order.
        """
        moments = sorted(self.confirmed.get(root, {}).values())
        changes = [(at, RAISED) for at in moments[1:]]
        changes += [(at, REPEATED) for at in self._repeats(root, members)]
        contradictions = self.contradicted.get(root, {}).values()
        changes += [(at, -LOWERED) for at, lowers in contradictions if lowers]
        confidence = start
        for _, change in sorted(changes):
            confidence = min(max(confidence + change, 0.0), 1.0)
        return round(confidence, 4)

    def _repeats(self, root: str, members: Sequence[Row]) -> Iterator[str]:
        """Yields the times at which a source said the memory once more, in new messages."""
        first = (row["session_id"] for row in members[:1])
        sources = {*self.confirmed.get(root, ()), *first}
        heard: set[str] = set()
        messages: set[str] = set()
        for row in members:
            ids = row["message_ids"]
            is_other = bool(ids) and messages.isdisjoint(ids)
            if is_other and row["session_id"] in heard & sources:
                yield row["event_at"].isoformat()
            heard.add(row["session_id"])
            messages.update(ids)


def families_of(windows: pl.DataFrame) -> dict[str, str]:
    """Returns the root session of each session that was forked or spawned."""
    links = windows.select("session_id", "parent_session_id").drop_nulls().unique()
    parents = dict(links.sort("session_id", "parent_session_id").iter_rows())
    families = {}
    for session in parents:
        line = [session]
        while parents.get(line[-1]) not in (None, *line):
            line.append(parents[line[-1]])
        families[session] = line[-1]
    return families


def allowed_facts(observations: pl.DataFrame) -> pl.DataFrame:
    """Returns the facts that can confirm and contradict, in order of event time."""
    return observations.filter(gate="allow", kind="fact").sort("event_at", "id")


def find_conflicts(
    facts: pl.DataFrame, merges: pl.DataFrame, roots: Mapping[str, str]
) -> list[Conflict]:
    """Returns the conflicts between allowed facts of different memories, by newer observation."""
    columns = ("newer_id", "older_id", "reason", "similarity")
    edges = merges.filter(relation=CONFLICT).select(columns).rows()
    rows = _rows(facts, {id for edge in edges for id in edge[:2]})
    conflicts = [
        Conflict(rows[newer], rows[older], roots[newer], roots[older], reason, similarity)
        for newer, older, reason, similarity in edges
        if newer in rows and older in rows and roots[newer] != roots[older]
    ]
    return sorted(conflicts, key=lambda c: (c.newer["event_at"], c.newer["id"], c.older["id"]))


def _rows(facts: pl.DataFrame, ids: Collection[str]) -> dict[str, Row]:
    chosen = facts.filter(pl.col("id").is_in(sorted(ids))).select(_COLUMNS)
    return {row["id"]: row for row in chosen.iter_rows(named=True)}


def weigh_evidence(
    facts: pl.DataFrame, conflicts: list[Conflict], roots: dict[str, str], events: Sequence[Event]
) -> Evidence:
    """Returns the ledger's evidence about the present memories."""
    events = [event for event in events if event.kind in EVIDENCE]
    evidence = Evidence()
    locator = MemoryLocator(facts, roots, events)
    between: dict[tuple[str, str], list[Conflict]] = defaultdict(list)
    for conflict in conflicts:
        between[conflict.newer_root, conflict.older_root].append(conflict)
    contradicted: set[tuple[str, str]] = set()
    for event in events:
        sides = [locator.find(reference) for reference in references(event)]
        if len(sides) != 2:
            continue
        if event.kind == CONFIRMED:
            _confirm(evidence, event, *sides)
            continue
        older, newer = sides
        pair = _first_pair(older, newer, between)
        if pair:
            contradicted.add(pair)
            source = event.payload["sources"][1]
            lowers = any(map(_may_lower, between[pair]))
            signal = (event.payload["said_at"][1], lowers)
            evidence.contradicted[pair[1]].setdefault(source, signal)
    evidence.conflicts = [c for c in conflicts if (c.newer_root, c.older_root) in contradicted]
    return evidence


def _first_pair(
    older: list[str], newer: list[str], pairs: Container[tuple[str, str]]
) -> tuple[str, str] | None:
    """Returns the first pair of a newer and an older memory that is among the pairs."""
    return next(((b, a) for a, b in product(older, newer) if (b, a) in pairs), None)


def _confirm(evidence: Evidence, event: Event, older: list[str], newer: list[str]) -> None:
    """Adds the sources of the event to the memory that both of its observations belong to."""
    root = next((root for root in older if root in newer), None)
    if root:
        moments = evidence.confirmed[root]
        for source, at in zip(event.payload["sources"], event.payload["said_at"], strict=True):
            moments[source] = min(moments.get(source, at), at)


def _may_lower(conflict: Conflict) -> bool:
    """Returns whether the newer fact weakens the older; only the owner weakens an owner's wish."""
    older = conflict.older
    is_owners_wish = older["author"] == "owner" and older["category"] in NORMS
    return conflict.newer["author"] == "owner" or not is_owners_wish


def plan_evidence(
    observations: pl.DataFrame,
    merges: pl.DataFrame,
    events: Sequence[Event],
    families: dict[str, str],
    echoes: Collection[str],
) -> list[Planned]:
    """Returns the events that follow from the edges and are not in the ledger yet.

    They are in order of their newer observations. `families` maps sessions to their root sessions.
    `echoes` are observations that repeat a memory which their session was shown.
    """
    sources = pl.col("session_id").replace(families)
    facts = allowed_facts(observations).with_columns(sources)
    roots = find_roots(observations.sort("event_at", "id")["id"].to_list(), merges)
    conflicts = find_conflicts(facts, merges, roots)
    evidence = weigh_evidence(facts, conflicts, roots, events)
    planned = [
        *_confirmations(facts, merges, roots, evidence, echoes),
        *_contradictions(conflicts, evidence, echoes),
    ]
    written = {event.id for event in events}
    missing = [event for event in planned if event.id not in written]
    return sorted(missing, key=lambda event: (event.payload["said_at"][1], event.id))


def _confirmations(
    facts: pl.DataFrame,
    merges: pl.DataFrame,
    roots: Mapping[str, str],
    evidence: Evidence,
    echoes: Collection[str],
) -> list[Planned]:
    """Returns the confirmations; the `session_id` of each fact is that of its source."""
    same = merges.filter(relation=SAME)
    same = same.sort(["similarity", "older_id"], descending=[True, False])
    edges = same.select("newer_id", "older_id", "similarity", "reason").rows()
    rows = _rows(facts, {id for edge in edges for id in edge[:2]})
    clusters: dict[str, list[Row]] = defaultdict(list)
    for id, row in rows.items():
        clusters[roots[id]].append(row)
    nearest = _nearest(edges, rows)
    planned = []
    for root, members in clusters.items():
        first = members[0]["session_id"]
        confirmed = evidence.confirmed.get(root, {})
        # An older source that arrived later has no event yet: one event has to name it, or it would
        # count as the first confirmation.
        counted = {first, *(confirmed if first in confirmed else ())}
        for row in members[1:]:
            confirms = row["id"] in nearest and row["id"] not in echoes
            if confirms and row["session_id"] not in counted:
                older, similarity, reason = nearest[row["id"]]
                planned.append(_plan(CONFIRMED, row, rows[older], similarity, reason))
                counted.add(row["session_id"])
    return planned


def _nearest(edges: Iterable[tuple], rows: Mapping[str, Row]) -> dict[str, tuple[str, float, str]]:
    """Returns the first edge of each newer observation to an observation of another source."""
    nearest: dict[str, tuple[str, float, str]] = {}
    for newer, older, similarity, reason in edges:
        if newer in rows and older in rows and _differ(rows[newer], rows[older]):
            nearest.setdefault(newer, (older, similarity, reason))
    return nearest


def _contradictions(
    conflicts: Sequence[Conflict], evidence: Evidence, echoes: Collection[str]
) -> list[Planned]:
    counted = {root: {*sources} for root, sources in evidence.contradicted.items()}
    planned = []
    for conflict in conflicts:
        newer = conflict.newer
        older = conflict.older
        is_source = newer["author"] == "owner" or _differ(newer, older)
        sources = counted.setdefault(conflict.older_root, set())
        is_new = newer["session_id"] not in sources and newer["id"] not in echoes
        if is_source and is_new:
            reason = (conflict.similarity, conflict.reason)
            planned.append(_plan(CONTRADICTED, newer, older, *reason))
            sources.add(newer["session_id"])
    return planned


def _differ(newer: Row, older: Row) -> bool:
    """Returns whether the two have different sources: other sessions, and no common message."""
    has_common = not set(newer["message_ids"]).isdisjoint(older["message_ids"])
    return newer["session_id"] != older["session_id"] and not has_common


def _plan(kind: str, newer: Row, older: Row, similarity: float, reason: str) -> Planned:
    ends = (older, newer)
    payload = {
        "observation_ids": [row["id"] for row in ends],
        "text_hashes": [row["text_hash"] for row in ends],
        "message_ids": [row["message_ids"] for row in ends],
        "sources": [row["session_id"] for row in ends],
        "said_at": [row["event_at"].isoformat() for row in ends],
        "similarity": similarity,
        "reason": reason,
    }
    event_id = f"rule-{hash_of(kind, older['id'], newer['id'])}"
    return Planned(event_id, kind, older["id"], payload)
