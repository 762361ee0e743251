"""The verbs about proposals that wait for a decision."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memory_assets.errors import ReviewError
from memory_assets.memory.opening import OpenStore, despite_damage
from memory_assets.schema import requests
from memory_assets.services.review.proposals import (
    Decided,
    Pending,
    Review,
    Reviewed,
    pending_of,
    reviewed_of,
    waiting_proposals,
)

if TYPE_CHECKING:
    from memory_assets.adapters.git_workspace import ChangedLine
    from memory_assets.services.review.origins import ProposalEvidence
    from memory_assets.stages.triage.contradictions import AdrContradiction


class ReviewVerbs(OpenStore):
    """Verbs about proposals and the files of entries that approved ones are written to."""

    @despite_damage
    def review(self, request: requests.ReviewRequest | None = None) -> Review:
        """Returns the proposals that wait for a decision, and problems of REVIEW.md."""
        from memory_assets.services.review.open_triage import read_contradictions, read_review

        waiting = tuple(waiting_proposals(self.store))
        asked = tuple(proposal for proposal in waiting if proposal.is_asked)
        warnings = tuple(read_review(self.store).reading.warnings)
        return Review(asked, warnings, len(waiting), read_contradictions(self.store))

    def contradictions(self) -> "tuple[AdrContradiction, ...]":
        """Returns the memories that contradict a document, such as a decision record in force."""
        from memory_assets.services.review.open_triage import read_contradictions

        return read_contradictions(self.store)

    def decide(self, decision: str | requests.DecideRequest, **options: Any) -> Decided:
        """Approves, rejects or edits proposals and returns the state of each."""
        request = requests.DecideRequest.of(decision, **options)
        if request.decision == "approve":
            return Decided(self.approve(*request.proposals, reason=request.reason))
        if request.decision == "reject":
            return Decided(self.reject(*request.proposals, reason=request.reason))
        return Decided(self.edit(request.proposals[0], request.text))

    @despite_damage
    def pending(self) -> tuple[Pending, ...]:
        """Returns the proposals that the owner is asked about, most useful first.

        Takes changes since the last triage into account.
        """
        return tuple(item for item in waiting_proposals(self.store) if item.is_asked)

    def proposals(self, *proposal_ids: str) -> tuple[Pending, ...]:
        """Returns these pending proposals; raises an error for one that is not pending."""
        return tuple(pending_of(self.store, proposal_ids))

    def evidence_of(self, proposals: Sequence[Pending]) -> "Iterator[ProposalEvidence]":
        """Yields what each of these pending proposals rests on."""
        from memory_assets.services.review.origins import evidence_of

        return evidence_of(self.store, proposals)

    def lost(self) -> tuple[str, ...]:
        """Returns the proposals that vanished from REVIEW.md, if so many may be an accident."""
        from memory_assets.services.review.open_triage import read_review

        return read_review(self.store).reading.lost

    def put_back(self) -> None:
        """Writes the lines of lost proposals into REVIEW.md again."""
        from memory_assets.services.review.open_triage import restore_lost

        restore_lost(self.store)

    def apply_review_edits(self) -> None:
        """Runs a triage if REVIEW.md, MEMORY.md or the owner's tasks changed since the last one."""
        from memory_assets.runs.due import triage_is_due

        if triage_is_due(self.store):
            self.run_triage()

    def approve(
        self, *proposal_ids: str, reason: str = "", triage: bool = True
    ) -> tuple[Reviewed, ...]:
        """Approves the proposals, updates MEMORY.md, and returns the state of each.

        Without `triage`, only records the decision and returns nothing.
        """
        for proposal in pending_of(self.store, proposal_ids):
            wording = {"text": proposal.text, "section": proposal.section}
            decision = wording | ({"reason": reason} if reason else {})
            self.store.append_event("proposal.approved", proposal.proposal_id, decision)
        return self.run_triage(*proposal_ids) if triage else ()

    def reject(
        self, *proposal_ids: str, reason: str = "", triage: bool = True
    ) -> tuple[Reviewed, ...]:
        """Rejects the proposals, and returns the state of each.

        Without `triage`, only records the decision and returns nothing.
        """
        for proposal in pending_of(self.store, proposal_ids):
            self.store.append_event("proposal.rejected", proposal.proposal_id, {"reason": reason})
        return self.run_triage(*proposal_ids) if triage else ()

    def edit(self, proposal_id: str, text: str, *, triage: bool = True) -> tuple[Reviewed, ...]:
        """Changes the text of a pending proposal; it still waits for approval afterwards."""
        wording = " ".join(text.split())
        if not wording:
            command = f"memory review reject {proposal_id}"
            raise ReviewError(f"The new text of {proposal_id} is empty. `{command}` rejects it.")
        (pending,) = pending_of(self.store, [proposal_id])
        if not pending.text:
            removal = f"{proposal_id} proposes to remove a line and has no text to edit"
            raise ReviewError(f"{removal}. Approve or reject it.")
        self.store.append_event("proposal.edited", proposal_id, {"text": wording})
        return self.run_triage(proposal_id) if triage else ()

    def write_decided(self) -> tuple[str, ...]:
        """Writes the lines of recorded decisions without a whole triage; returns what changed."""
        from memory_assets.services.health.status import recount_proposals
        from memory_assets.services.review.open_triage import write_decided

        changes = tuple(_change_of(event.payload) for event in write_decided(self.store))
        recount_proposals(self.store)
        return changes

    def last_commit(self) -> str | None:
        """Returns the id of the workspace's last commit, for `changed_since`."""
        from memory_assets.services.review.open_triage import last_commit

        return last_commit(self.store)

    def changed_since(self, commit: str | None) -> "list[ChangedLine]":
        """Returns the lines of MEMORY.md and of projects' files that changed since the commit."""
        from memory_assets.services.review.open_triage import changed_since

        return changed_since(self.store, commit)

    def take_back(self, proposal_id: str) -> None:
        """Undoes the last decision about a proposal, and its change of a file of entries."""
        from memory_assets.services.health.status import recount_proposals
        from memory_assets.services.review.open_triage import take_back

        take_back(self.store, proposal_id)
        recount_proposals(self.store)

    def run_triage(self, *proposal_ids: str) -> tuple[Reviewed, ...]:
        """Carries out every recorded decision, and returns the state of these proposals."""
        from memory_assets.runs import launch

        launch.triage(self.store)
        return reviewed_of(self.store, proposal_ids)


def _change_of(payload: Mapping[str, Any]) -> str:
    """Returns a text with the file and the line that was written or removed."""
    change = payload["line"] or f"removed {payload['replaces']}"
    return f"{payload['path']}: {change}"
