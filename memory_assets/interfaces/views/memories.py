"""Renders saved, corrected, rated, erased, proposed and decided memories."""

from typing import TYPE_CHECKING

from memory_assets.interfaces.views.lines import Parts, bold, counted, dim
from memory_assets.stages.distill.rows import short_id

if TYPE_CHECKING:
    from memory_assets.memory import Decided, Review
    from memory_assets.services.forget.forget import Forgetting
    from memory_assets.services.notes import Noted


def render_noted(noted: "Noted") -> Parts:
    """Renders the fact or rating that was written."""
    if noted.kind == "feedback":
        yield f"Recorded: {', '.join(map(short_id, noted.memory_ids))} {'helped' if noted.is_used else 'did not help'}."
        return
    yield bold(noted.memory_id, f" {noted.text}")
    replaced = f"; replaces {short_id(noted.replaces)}" if noted.replaces else ""
    yield dim(f"   {noted.category}, {noted.priority}, {noted.project or 'every project'}{replaced}")


def render_forgetting(found: "Forgetting") -> Parts:
    """Renders where the memory or the words were found, and what was erased."""
    for one in found.memories:
        yield bold(short_id(one.memory_id), f" {one.text}")
        yield dim(f"   {one.state}, {one.project or 'every project'}")
    messages, segments = counted(len(found.message_ids), "message"), counted(len(found.segment_ids), "segment")
    yield f"Derived from {counted(found.observation_count, 'observation')}, {messages} and {segments}."
    for place in found.found.places:
        files = counted(place.files, "object" if place.kind.startswith("git") else "file")
        yield f"   {place.kind}: {counted(place.count, 'occurrence')} in {files}"
    if found.entry_lines:
        yield f"   {', '.join(found.entry_lines)}"
    if found.branches:
        yield f"   what-if branches, all of which are deleted: {', '.join(found.branches)}"
    if found.proof is None:
        yield dim("Nothing was changed. --apply erases it everywhere, for good.")
        return
    searched = ", ".join(f"{kind} {count:,}" for kind, count in found.proof.looked_at.items())
    yield f"Erased. Searched again, every file decoded: {searched}."
    yield bold("Nothing holds it any more." if found.is_gone else "It is still present.")
    if found.is_gone:
        yield dim("The next run rebuilds without it what was derived from it.")


def render_pending(review: "Review") -> Parts:
    """Renders the pending proposals, and how to decide them."""
    if not review.pending:
        yield "No proposal is pending."
        return
    for one in review.pending:
        yield bold(one.proposal_id, f" → {one.section}")
        yield f"   {one.text or 'Remove:'}"
        if one.entry:
            yield f"   {'instead of ' if one.text else ''}{one.entry}"
        until = f", expires {one.expires_at:%Y-%m-%d}" if one.expires_at else ""
        about = f"confidence {one.confidence:.2f}, {one.priority}, {one.project}, said {one.event_on}{until}"
        yield dim(f"   {about}: {one.reason}")
    first = review.pending[0].proposal_id
    yield dim(f'Decide: `memory review approve {first}`, `reject {first}`, `edit {first} "new wording"`; or in REVIEW.md.')


def render_decided(decided: "Decided") -> Parts:
    """Renders the new state of each proposal."""
    for one in decided.decided:
        yield bold(f"{one.proposal_id} {one.state}", f" → {one.section}: {one.text}")
        yield dim(f"   {one.reason}")
