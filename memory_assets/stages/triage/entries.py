"""Tells how the entries of MEMORY.md stand: whose they are, what they rest on by now, and how far they have proven themselves.

Takes the file, the ledger's promotions and the present memories. An entry that came from a proposal and still has the words
that were written then is ours; anything else is a person's. The state of ours follows use, confirmation and contradiction:

    deprecated    its memory was replaced or forgotten, or more sources contradict it than confirm or use it
    proven        confirmed and used, three times or more together
    established   a second source confirms it, or it was used
    candidate     none of that yet

Each contradiction takes back two of what speaks for an entry. Nothing here is written down but as a table: a state is a fold of
what happened, so that it falls as it rises.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.triage.memory_md import Entry, read_entries, render_entry
from memory_assets.stages.triage.promote import PROMOTED
from memory_assets.store.ledger import Event

PROVEN_FROM = 3
CONTRADICTION_COSTS = 2
GIVEN_UP = frozenset({"superseded", "forgotten"})


@dataclass(frozen=True)
class Standing:
    """An entry of the file, with the promotion that brought it (none: a person wrote it) and the memory behind that."""

    entry: Entry
    promotion: Event | None
    memory: Mapping[str, Any] | None
    path: str = MEMORY_MD
    """The file that it stands in."""
    merged_count: int = 0
    """Later proposals that said the same."""

    @property
    def line(self) -> str:
        """The entry as it is written."""
        return render_entry(self.entry.on, self.entry.text)

    @property
    def is_ours(self) -> bool:
        """Whether it came from a proposal and was not touched since."""
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


def stand_entries(
    content: str,
    events: Sequence[Event],
    memories: pl.DataFrame,
    merged: Iterable[Mapping[str, Any]] = (),
    path: str = MEMORY_MD,
) -> list[Standing]:
    """Returns the entries of the file in order; `merged` are the decisions that named an entry as saying the same."""
    promotions = {event.payload["line"]: event for event in events if event.kind == PROMOTED}
    behind = {id: row for row in memories.iter_rows(named=True) for id in row["observation_ids"]}
    counts: dict[str, int] = {}
    for row in merged:
        counts[row["entry"]] = counts.get(row["entry"], 0) + 1
    found = []
    for entry in read_entries(content):
        promotion = promotions.get(render_entry(entry.on, entry.text))
        ids = promotion.payload.get("observation_ids", ()) if promotion else ()
        memory = next((behind[id] for id in ids if id in behind), None)
        found.append(Standing(entry, promotion, memory, path, counts.get(render_entry(entry.on, entry.text), 0)))
    return found


def entry_rows(standings: Sequence[Standing]) -> pl.DataFrame:
    """Returns the table `entries`."""
    return schemas.frame_of("entries", [_row(one) for one in standings])


def _row(one: Standing) -> dict[str, Any]:
    known = one.memory or {}
    return {
        "path": one.path,
        "line": one.entry.number,
        "section": one.entry.section,
        "entry_on": one.entry.on,
        "text": one.entry.text,
        "state": one.state,
        "is_by_hand": not one.is_ours,
        "proposal_id": one.proposal_id,
        "memory_id": known.get("id"),
        "category": known.get("category"),
        "project": known.get("project"),
        "session_count": len(known.get("session_ids", ())),
        "confirmed_count": known.get("confirmed_count", 0),
        "contradicted_count": known.get("contradicted_count", 0),
        "used_count": known.get("used_count", 0),
        "merged_count": one.merged_count,
        "last_used_at": known.get("last_used_at"),
    }
