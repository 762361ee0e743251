"""Renders recalled memories with id, confidence, age and source; and an answer with its citations."""

from typing import TYPE_CHECKING

from memory_assets.interfaces.views.lines import Parts, bold, dim, ranges, warning
from memory_assets.stages.distill.rows import short_id

if TYPE_CHECKING:
    from memory_assets.stages.recall.cited_answer import Citation, CitedAnswer
    from memory_assets.stages.recall.results import Answer, Recalled


def render_recalled(answer: "Answer") -> Parts:
    """Renders the results, best first, or that nothing is known; notes an index that could not be searched."""
    if not answer.results:
        yield "No memory answers this question."
    elif not answer.is_known:
        yield warning("Not in memory. The nearest memories:")
    for number, found in enumerate(answer.results, start=1):
        yield bold(f"{number}. ", found.text)
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


def _facts(found: "Recalled") -> str:
    """Returns the confidence, age, category, tags, id and source of a result."""
    age = "today" if found.age_days < 1 else f"{found.age_days:.0f} days old"
    tags = f", {', '.join(found.tags)}" if found.tags else ""
    origin = f"session {found.session}" + (f", records {ranges(found.lines)}" if found.lines else "")
    return f"confidence {found.confidence:.2f}, {age}, {found.category}{tags}; {_shown_id(found)}; {origin}"


def _shown_id(found: "Recalled") -> str:
    return short_id(found.memory_id) if found.kind in ("fact", "narrative") else found.memory_id


def _origin(one: "Citation") -> str:
    """Returns the kind of source, its date, and its place."""
    if not one.session:
        return f"line {ranges(one.lines)} of {one.path}"
    on = f" of {one.event_at:%Y-%m-%d}" if one.event_at else ""
    return f"{one.kind}{on}; session {one.session}" + (f", records {ranges(one.lines)}" if one.lines else "")
