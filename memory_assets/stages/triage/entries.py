"""Derives the status of each entry of MEMORY.md: who wrote it, what it rests on, and how well it
has proven itself.

Takes the file, the ledger's promotions and the present memories. An entry that came from a proposal
and still has the words of its promotion is ours; anything else is a person's. The state of ours
follows use, confirmation and contradiction:

    deprecated    its memory was replaced or forgotten, or more sources contradict it than confirm
                  or use it
    proven        confirmed and used, three times or more together
    established   a second source confirms it, or it was used
    candidate     none of that yet

Each contradiction cancels two confirmations. The state is folded from events, so it can also fall.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Row
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage.memory_md import Entry, read_entries, render_entry
from memory_assets.stages.triage.promote import PROMOTED
from memory_assets.store.ledger import Event

PROVEN_FROM = 3
CONTRADICTION_COSTS = 2
GIVEN_UP = frozenset({"superseded", "forgotten"})


@dataclass(frozen=True)
class EntryStatus:
    """An entry of the file, its promotion (None: a person wrote it) and the memory behind that."""

    entry: Entry
    promotion: Event | None
    memory: Row | None
    path: str = MEMORY_MD
    """The file of the entry."""
    merged_count: int = 0
    """Later proposals with the same meaning."""

    @property
    def line(self) -> str:
        """The entry as it is written."""
        return render_entry(self.entry.on, self.entry.text)

    @property
    def is_ours(self) -> bool:
        """Whether it came from a proposal and was not changed since."""
        return self.promotion is not None

    @property
    def proposal_id(self) -> str | None:
        """The proposal that it came from."""
        return self.promotion.target if self.promotion else None

    @property
    def support(self) -> int:
        """How often it was confirmed or used."""
        return self._count("confirmed_count") + self._count("used_count") + self.merged_count

    @property
    def state(self) -> str:
        """candidate, established, proven or deprecated."""
        against = self._count("contradicted_count")
        if (self.memory and self.memory["state"] in GIVEN_UP) or against > self.support:
            return "deprecated"
        worth = self.support - CONTRADICTION_COSTS * against
        if worth >= PROVEN_FROM and self._count("used_count"):
            return "proven"
        return "established" if worth > 0 else "candidate"

    def _count(self, name: str) -> int:
        return self.memory[name] if self.memory else 0


def statuses_of(
    content: str,
    events: Sequence[Event],
    memories: pl.DataFrame,
    merged: Iterable[Row] = (),
    path: str = MEMORY_MD,
) -> list[EntryStatus]:
    """Returns the entries of the file in order; `merged` are the decisions that merged a proposal
    into an entry.

    `events` are the promotions, and the numberings, which name the ids that the memory of a
    proposal got later.
    """
    later_ids = defaultdict(list)
    for event in events:
        if event.kind == NUMBERED:
            later_ids[event.target].append(event.payload["key"])
    promotions = {event.payload["line"]: event for event in events if event.kind == PROMOTED}
    behind = {id: row for row in memories.iter_rows(named=True) for id in row["observation_ids"]}
    counts = Counter(row["entry"] for row in merged)
    statuses: list[EntryStatus] = []
    for entry in read_entries(content):
        line = render_entry(entry.on, entry.text)
        promotion = promotions.get(line)
        ids: list[str] = []
        if promotion:
            ids = [*promotion.payload.get("observation_ids", ()), *later_ids[promotion.target]]
        memory = next((behind[id] for id in ids if id in behind), None)
        statuses.append(EntryStatus(entry, promotion, memory, path, counts[line]))
    return statuses


def entry_rows(statuses: Sequence[EntryStatus]) -> pl.DataFrame:
    """Returns the table `entries`."""
    return schemas.frame_of("entries", map(_row, statuses))


def _row(status: EntryStatus) -> dict[str, Any]:
    memory = status.memory or {}
    counts = ("confirmed_count", "contradicted_count", "used_count")
    return {
        "path": status.path,
        "line": status.entry.number,
        "section": status.entry.section,
        "entry_on": status.entry.on,
        "text": status.entry.text,
        "state": status.state,
        "is_by_hand": not status.is_ours,
        "proposal_id": status.proposal_id,
        "memory_id": memory.get("id"),
        "session_count": len(memory.get("session_ids", ())),
        "merged_count": status.merged_count,
        **{name: memory.get(name) for name in ("category", "project", "last_used_at")},
        **{name: memory.get(name, 0) for name in counts},
    }
