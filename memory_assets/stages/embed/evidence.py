"""Weighs what other sources said of a memory: who confirmed it, who contradicted it, and the
resulting confidence.

Takes edges between observations; `plan_evidence` returns the events that the ledger lacks,
`weigh_evidence` reads the ledger back. An event names both observations, their messages, text
hashes and sources, so it is written once: its id is made from the two observations, and a source
counts once per memory, however its words change in a later distillation. An event of ours counts
only while an edge still supports it, so a better rule undoes a wrong one, and a fold up to some day
needs only the observations of that day.

A source is a session with all its forks and sub-agents: they repeat one another. Held observations
neither confirm nor contradict, nor do echoes (`uses`).
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from memory_assets.schema.frames import hash_of
from memory_assets.schema.protocols import Row
from memory_assets.schema.vocabulary import CONFLICT, SAME
from memory_assets.stages.embed.locator import MemoryLocator, references
from memory_assets.stages.embed.merge import NORMS, find_roots
from memory_assets.store.ledger import CONFIRMED, CONTRADICTED, Event, Planned

RAISED, LOWERED = 0.1, 0.2
"""What one more source adds, and what a contradicting one takes away: the seeds' rule for items
(A77).
"""

REPEATED = 0.05
"""What a merge adds that is no confirmation: a source says it once more, in other messages (A77,
dedup).
"""

EVIDENCE = (CONFIRMED, CONTRADICTED)
_COLUMNS = ["id", "session_id", "category", "author", "event_at", "text_hash", "message_ids"]


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
    """The ledger's evidence by memory: sources and their times, in ISO 8601."""

    confirmed: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """Memory → the sources that say it, the first one included."""
    contradicted: dict[str, dict[str, tuple[str, bool]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    """Memory → the sources that contradict it, and whether each lowers the confidence."""
    conflicts: list[Conflict] = field(default_factory=list)
    """Conflicts in the ledger, in order of their newer observations."""

    def confidence(self, root: str, start: float, members: Sequence[Row] = ()) -> float:
        """Returns the confidence after all evidence in order, between 0 and 1; `members` are its
        observations, in order.
        """
        said = sorted((at, source) for source, at in self.confirmed.get(root, {}).items())[1:]
        otherwise = [
            (at, -LOWERED) for at, lowers in self.contradicted.get(root, {}).values() if lowers
        ]
        again = [(at, REPEATED) for at in self._repeats(root, members)]
        for _, change in sorted([*((at, RAISED) for at, _ in said), *again, *otherwise]):
            start = min(max(start + change, 0.0), 1.0)
        return round(start, 4)

    def _repeats(self, root: str, members: Sequence[Row]) -> Iterator[str]:
        """Yields when one of its sources said it once more; what rests on a message that already
        counts adds nothing.
        """
        sources = {*self.confirmed.get(root, ()), *(row["session_id"] for row in members[:1])}
        spoken, messages = set[str](), set[str]()
        for row in members:
            is_other = bool(row["message_ids"]) and messages.isdisjoint(row["message_ids"])
            if is_other and row["session_id"] in spoken & sources:
                yield row["event_at"].isoformat()
            spoken.add(row["session_id"])
            messages.update(row["message_ids"])


def families_of(windows: pl.DataFrame) -> dict[str, str]:
    """Returns the root session of each forked or spawned one."""
    links = (
        windows.select("session_id", "parent_session_id")
        .drop_nulls()
        .unique()
        .sort("session_id", "parent_session_id")
    )
    parents = dict(links.iter_rows())
    found = {}
    for session in parents:
        line = [session]
        while (parent := parents.get(line[-1])) is not None and parent not in line:
            line.append(parent)
        found[session] = line[-1]
    return found


def allowed_facts(observations: pl.DataFrame) -> pl.DataFrame:
    """Returns the facts that can confirm and contradict, in order of event time."""
    return observations.filter((pl.col("gate") == "allow") & (pl.col("kind") == "fact")).sort(
        "event_at", "id"
    )


def find_conflicts(
    facts: pl.DataFrame, merges: pl.DataFrame, roots: Mapping[str, str]
) -> list[Conflict]:
    """Returns the conflicts between allowed facts of different memories, in order of their newer
    observations.
    """
    edges = (
        merges.filter(pl.col("relation") == CONFLICT)
        .select("newer_id", "older_id", "reason", "similarity")
        .rows()
    )
    rows = _rows(facts, {id for edge in edges for id in edge[:2]})
    found = [
        Conflict(rows[newer], rows[older], roots[newer], roots[older], reason, similarity)
        for newer, older, reason, similarity in edges
        if newer in rows and older in rows and roots[newer] != roots[older]
    ]
    return sorted(found, key=lambda one: (one.newer["event_at"], one.newer["id"], one.older["id"]))


def _rows(facts: pl.DataFrame, ids: Collection[str]) -> dict[str, Row]:
    chosen = facts.filter(pl.col("id").is_in(sorted(ids))).select(_COLUMNS)
    return {row["id"]: row for row in chosen.iter_rows(named=True)}


def weigh_evidence(
    facts: pl.DataFrame, conflicts: list[Conflict], roots: dict[str, str], events: Sequence[Event]
) -> Evidence:
    """Returns the ledger's evidence about the present memories."""
    events = [event for event in events if event.kind in EVIDENCE]
    evidence, locator = Evidence(), MemoryLocator(facts, roots, events)
    between: dict[tuple[str, str], list[Conflict]] = defaultdict(list)
    for one in conflicts:
        between[one.newer_root, one.older_root].append(one)
    known: set[tuple[str, str]] = set()
    for event in events:
        sides = [locator.find(one) for one in references(event)]
        if len(sides) != 2:
            continue
        older, newer = sides
        if event.kind == CONFIRMED:
            if root := next((root for root in older if root in newer), None):
                sources = evidence.confirmed[root]
                for source, at in zip(
                    event.payload["sources"], event.payload["said_at"], strict=True
                ):
                    sources[source] = min(sources.get(source, at), at)
        elif pair := next(((b, a) for a in older for b in newer if (b, a) in between), None):
            known.add(pair)
            source, at = event.payload["sources"][1], event.payload["said_at"][1]
            lowers = any(_may_lower(one) for one in between[pair])
            evidence.contradicted[pair[1]].setdefault(source, (at, lowers))
    evidence.conflicts = [one for one in conflicts if (one.newer_root, one.older_root) in known]
    return evidence


def _may_lower(conflict: Conflict) -> bool:
    """Returns whether the newer one weakens the older: only the owner's own words weaken the
    owner's wishes.
    """
    is_owners_wish = conflict.older["author"] == "owner" and conflict.older["category"] in NORMS
    return conflict.newer["author"] == "owner" or not is_owners_wish


def plan_evidence(
    observations: pl.DataFrame,
    merges: pl.DataFrame,
    events: Sequence[Event],
    families: dict[str, str],
    echoes: Collection[str],
) -> list[Planned]:
    """Returns the events that follow from the edges and are not in the ledger, in order of their
    newer observations.

    `families` maps a session to the one it was forked from or spawned by; `echoes` are observations
    that repeat a memory that their session was shown.
    """
    facts = allowed_facts(observations).with_columns(pl.col("session_id").replace(families))
    roots = find_roots(observations.sort("event_at", "id")["id"].to_list(), merges)
    conflicts = find_conflicts(facts, merges, roots)
    evidence = weigh_evidence(facts, conflicts, roots, events)
    planned = [
        *_confirmations(facts, merges, roots, evidence, echoes),
        *_contradictions(conflicts, evidence, echoes),
    ]
    known = {event.id for event in events}
    return sorted(
        (one for one in planned if one.id not in known),
        key=lambda one: (one.payload["said_at"][1], one.id),
    )


def _confirmations(
    facts: pl.DataFrame,
    merges: pl.DataFrame,
    roots: Mapping[str, str],
    evidence: Evidence,
    echoes: Collection[str],
) -> list[Planned]:
    """Returns the confirmations; the `session_id` of each fact is that of its source."""
    same = merges.filter(pl.col("relation") == SAME).sort(
        ["similarity", "older_id"], descending=[True, False]
    )
    edges = same.select("newer_id", "older_id", "similarity", "reason").rows()
    rows = _rows(facts, {id for edge in edges for id in edge[:2]})
    clusters: dict[str, list[Row]] = defaultdict(list)
    for id, row in rows.items():
        clusters[roots[id]].append(row)
    nearest: dict[str, tuple[str, float, str]] = {}
    for newer, older, similarity, reason in edges:
        if newer in rows and older in rows and _differ(rows[newer], rows[older]):
            nearest.setdefault(newer, (older, similarity, reason))
    planned = []
    for root, members in clusters.items():
        first, known = members[0]["session_id"], evidence.confirmed.get(root, {})
        # If an older source arrived since, one event has to name it, or it would count as the first
        # confirmation.
        counted = {first, *(known if first in known else ())}
        for row in members[1:]:
            if (
                row["session_id"] not in counted
                and row["id"] in nearest
                and row["id"] not in echoes
            ):
                older, similarity, reason = nearest[row["id"]]
                planned.append(_plan(CONFIRMED, row, rows[older], similarity, reason))
                counted.add(row["session_id"])
    return planned


def _contradictions(
    conflicts: Sequence[Conflict], evidence: Evidence, echoes: Collection[str]
) -> list[Planned]:
    counted = {
        (root, source) for root, sources in evidence.contradicted.items() for source in sources
    }
    planned = []
    for one in conflicts:
        is_source = one.newer["author"] == "owner" or _differ(one.newer, one.older)
        source = (one.older_root, one.newer["session_id"])
        if is_source and source not in counted and one.newer["id"] not in echoes:
            planned.append(_plan(CONTRADICTED, one.newer, one.older, one.similarity, one.reason))
            counted.add(source)
    return planned


def _differ(newer: Row, older: Row) -> bool:
    """Returns whether the two come from different sources: other sessions, and no common
    message.
    """
    return newer["session_id"] != older["session_id"] and not set(newer["message_ids"]) & set(
        older["message_ids"]
    )


def _plan(kind: str, newer: Row, older: Row, similarity: float, reason: str) -> Planned:
    ends, columns = (
        (older, newer),
        {"observation_ids": "id", "text_hashes": "text_hash", "message_ids": "message_ids"},
    )
    payload = {
        **{name: [row[column] for row in ends] for name, column in columns.items()},
        "sources": [row["session_id"] for row in ends],
        "said_at": [row["event_at"].isoformat() for row in ends],
        "similarity": similarity,
        "reason": reason,
    }
    return Planned(f"rule-{hash_of(kind, older['id'], newer['id'])}", kind, older["id"], payload)
