"""Proposals as the facade returns them: pending ones with their evidence, decided ones with their
state.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from memory_assets.errors import ReviewError, UnknownIdError
from memory_assets.stages.triage.contradictions import AdrContradiction

if TYPE_CHECKING:
    from memory_assets.schema.protocols import Row
    from memory_assets.store.store import Store


@dataclass(frozen=True)
class Pending:
    """A proposal that waits for a person's decision, with its evidence."""

    proposal_id: str
    section: str
    text: str
    """The proposed line; empty where an entry would be removed."""
    entry: str | None
    """The line of MEMORY.md that would be replaced or removed."""
    reason: str
    """Why the rules did not decide it."""
    confidence: float
    priority: str
    category: str
    project: str
    event_on: date
    expires_at: datetime | None
    session_ids: tuple[str, ...]
    path: str
    """The file of entries that the line is for, below the workspace."""
    needs_person: str = ""
    """Why no agent may decide it, not even for the owner; empty if one may."""

    @property
    def is_asked(self) -> bool:
        """Whether the owner is asked about it now: from then on it has a deadline."""
        return self.expires_at is not None


@dataclass(frozen=True)
class Reviewed:
    """The state of a proposal after a person's decision."""

    proposal_id: str
    state: str
    section: str
    text: str
    reason: str


@dataclass(frozen=True)
class ProposalCounts:
    """How many proposals there are: new lines, changes of lines, fixes of recurring problems."""

    asked: int = 0
    """Pending ones that the owner is asked about now."""
    pending: int = 0
    proposed: int = 0
    """All of them, decided ones included."""


@dataclass(frozen=True)
class Review:
    """The proposals that wait for a decision."""

    pending: tuple[Pending, ...]
    warnings: tuple[str, ...] = ()
    """Problems of REVIEW.md; until a person fixes them, its lines decide nothing."""
    pending_count: int = 0
    """Number of all pending proposals, also of those that are not shown yet."""
    conflicts: tuple[AdrContradiction, ...] = ()
    """Memories that contradict a decision record in force."""


@dataclass(frozen=True)
class Decided:
    """The state of the proposals that were decided."""

    decided: tuple[Reviewed, ...]


def waiting_proposals(store: "Store") -> Iterator[Pending]:
    """Yields the pending proposals; one without a deadline is not shown to the owner yet."""
    from memory_assets.services.review.open_triage import read_pending

    return map(pending_from, read_pending(store))


def count_proposals(store: "Store") -> ProposalCounts:
    """Returns the numbers of proposals after every decision so far."""
    parts = store.tables.parts("decisions").values()
    if not parts:
        return ProposalCounts()
    waiting = [proposal.is_asked for proposal in waiting_proposals(store)]
    return ProposalCounts(sum(waiting), len(waiting), sum(part.rows for part in parts))


def pending_from(row: "Row") -> Pending:
    """Returns the proposal of a row of `read_pending`."""
    fields = {name: row[name] for name in Pending.__dataclass_fields__}
    fields["session_ids"] = tuple(row["session_ids"])
    return Pending(**fields)


def pending_of(store: "Store", proposal_ids: Sequence[str]) -> list[Pending]:
    """Returns these pending proposals.

    Raises `UnknownIdError` if there is no such proposal, and `ReviewError` if it is not pending.
    """
    pending = {proposal.proposal_id: proposal for proposal in waiting_proposals(store)}
    for proposal_id in proposal_ids:
        if proposal_id not in pending:
            reviewed = reviewed_of(store, [proposal_id])
            if not reviewed:
                raise UnknownIdError(
                    f"There is no proposal {proposal_id}. `memory review` lists the pending ones."
                )
            # The table may still say "pending" of what was decided after the last triage.
            state = "decided" if reviewed[0].state == "pending" else reviewed[0].state
            raise ReviewError(
                f"{proposal_id} is already {state}; `memory explain {proposal_id}` shows why. Only "
                "pending proposals can be decided."
            )
    return [pending[proposal_id] for proposal_id in proposal_ids]


def reviewed_of(store: "Store", proposal_ids: Sequence[str]) -> tuple[Reviewed, ...]:
    """Returns the state of these proposals after the last triage; unknown ids are left out."""
    import polars as pl

    rows = store.tables.read("decisions", columns=list(Reviewed.__dataclass_fields__))
    chosen = rows.filter(pl.col("proposal_id").is_in(list(proposal_ids))).sort("proposal_id")
    return tuple(Reviewed(**row) for row in chosen.iter_rows(named=True))
