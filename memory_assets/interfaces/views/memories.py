"""Renders memories that were recalled, cited, saved, corrected, rated, restored, erased, proposed
or decided.
"""

from typing import TYPE_CHECKING

from memory_assets.interfaces.views.library import render_conflicts
from memory_assets.interfaces.views.lines import Parts, bold, counted, dim, ranges, warning
from memory_assets.text.short_ids import short_id
from memory_assets.text.words import squeezed

if TYPE_CHECKING:
    from memory_assets.memory.verb_answers import (
        Answer,
        Citation,
        CitedAnswer,
        Decided,
        Forgetting,
        Noted,
        Rating,
        Recalled,
        Restored,
        Review,
    )


def render_recalled(answer: "Answer") -> Parts:
    """Renders the results, best first, a message with its speaker; or that nothing is known. Notes
    an unsearchable index.
    """
    if not answer.results:
        yield "No memory answers this question."
    elif not answer.is_known:
        yield warning("Not in memory. The nearest memories:")
    for number, found in enumerate(answer.results, start=1):
        speaker = f"{found.said_by}: " if found.kind == "message" else ""
        yield bold(f"{number}. ", f"{speaker}{squeezed(found.text)}")
        if found.other_half:
            yield f"   {found.other_half}"
        yield dim(f"   {_facts(found)}")
    if answer.results and answer.tier == 1:
        yield dim("answered from category summaries; --deep searches everything")
    if answer.degraded:
        yield warning(f"degraded: {answer.degraded}")


def render_block(answer: "Answer") -> Parts:
    """Renders the lines for a prompt, if there are any."""
    if block := answer.render():
        yield block


def render_cited(said: "CitedAnswer") -> Parts:
    """Renders the sentences with their ids, then the source of each id."""
    if said.is_known and said.is_extractive:
        yield dim("Verbatim quotes, no model used.")
    yield said.text if said.is_known else warning(said.text)
    if said.citations:
        yield ""
    for one in said.citations:
        yield bold(f"{one.id}  ", _origin(one), "dim")
    for dropped in said.dropped:
        yield warning(f"dropped: {dropped.text} ({dropped.reason})")
    if said.cost.model_calls:
        yield dim(f"{said.cost.model_tokens:,} tokens, ${said.cost.usd:.4f}")


def render_noted(noted: "Noted") -> Parts:
    """Renders the fact that was written."""
    yield bold(noted.memory_id, f" {noted.text}")
    replaced = f"; replaces {short_id(noted.replaces)}" if noted.replaces else ""
    yield dim(
        f"   {noted.category}, {noted.priority}, {noted.project or 'every project'}{replaced}"
    )


def render_rating(rating: "Rating") -> Parts:
    """Renders the rating that was written."""
    yield rating.sentence


def render_restored(restored: "Restored") -> Parts:
    """Renders the restored memories with their former states, and when recall returns them."""
    for one in restored.memories:
        yield bold(short_id(one.memory_id), f" {one.text}")
        yield dim(f"   was {one.state}")
    yield "Active again after the next `memory ingest`, or within minutes while `memory up` runs."


def render_forgetting(found: "Forgetting") -> Parts:
    """Renders where the memory or the words were found, and what was erased."""
    for one in found.memories:
        yield bold(short_id(one.memory_id), f" {one.text}")
        yield dim(f"   {one.state}, {one.project or 'every project'}")
    messages, segments = (
        counted(len(found.message_ids), "message"),
        counted(len(found.segment_ids), "segment"),
    )
    yield (
        f"Derived from {counted(found.observation_count, 'observation')}, {messages} and "
        f"{segments}."
    )
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
    yield from render_conflicts(review.conflicts)
    if not review.pending:
        yield "No proposal is pending."
        return
    for one in review.pending:
        yield bold(one.proposal_id, f" → {one.path}, {one.section}")
        yield f"   {one.text or 'Remove:'}"
        if one.entry:
            yield f"   {'instead of ' if one.text else ''}{one.entry}"
        until = f", expires {one.expires_at:%Y-%m-%d}" if one.expires_at else ""
        yield dim(f"   {one.reason}{until}")
    first = review.pending[0].proposal_id
    if review.pending_count > len(review.pending):
        yield dim(
            f"{len(review.pending)} of {review.pending_count}, the most useful first; the "
            "others follow as you decide."
        )
    yield dim(
        f'Decide: `memory review approve {first}`, `reject {first}`, `edit {first} "new '
        'wording"`; or in REVIEW.md.'
    )


def render_decided(decided: "Decided") -> Parts:
    """Renders the new state of each proposal."""
    for one in decided.decided:
        yield bold(f"{one.proposal_id} {one.state}", f" → {one.section}: {one.text}")
        yield dim(f"   {one.reason}")


def _facts(found: "Recalled") -> str:
    """Returns the category and who said it, or that it is a message, the project, date, tags, id
    and source of a result.
    """
    tags = f", {', '.join(found.tags)}" if found.tags else ""
    origin = f"session {found.session}" + (
        f", records {ranges(found.lines)}" if found.lines else ""
    )
    said = "said" if found.kind == "message" else f"{found.category}, from {found.said_by}"
    where = f" in {found.project}" if found.project else ""
    return f"{said}{where} on {found.event_at:%Y-%m-%d}{tags}; {_shown_id(found)}; {origin}"


def _shown_id(found: "Recalled") -> str:
    return short_id(found.memory_id) if found.kind in ("fact", "narrative") else found.memory_id


def _origin(one: "Citation") -> str:
    """Returns the kind of source, its date, and its place."""
    if not one.session:
        return f"line {ranges(one.lines)} of {one.path}"
    on = f" of {one.event_at:%Y-%m-%d}" if one.event_at else ""
    by = f", said by {one.said_by}" if one.said_by else ""
    return f"{one.kind}{on}{by}; session {one.session}" + (
        f", records {ranges(one.lines)}" if one.lines else ""
    )
