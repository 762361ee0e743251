"""Builds the rows of segments, and the rows of candidates for `observations` and `verdicts`.

Ids are derived from content: a second run gives the same rows, a changed text gets a new id.
"""

import uuid
from collections.abc import Sequence

from memory_assets.schema.records.distill import NAMESPACE, SCHEMA_VERSION
from memory_assets.schema.vocabulary import Category, Scope
from memory_assets.stages.distill.quotes import Quote
from memory_assets.stages.distill.rules import candidates
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.write_gate import GateResult
from memory_assets.text.words import count_tokens, text_hash

PERSONAL: frozenset[Category] = frozenset(
    {"preferences", "people-relationships", "health", "hobbies"}
)
"""Categories of facts about a person, which do not apply to a project."""

# Columns that are copied from the window's row, into both and into segments, from the gate's result
# and from the candidate.
_OF_WINDOW = "session_id window_id day path trigger project person folder".split()
_OF_SEGMENT = "window_id session_id day project person".split()
_OF_RESULT = ("verdict", "reason", "gate_confidence", "category", "category_confidence")
_OF_CANDIDATE = tuple(
    "text priority confidence strength sentiment author entities event_at clock_times quote"
    " commit".split()
)


def scope_of(category: Category) -> Scope:
    """Returns whether facts of the category apply to the person or the project."""
    return "person" if category in PERSONAL else "project"


def tags_of(candidate: candidates.Candidate) -> list[str]:
    """Returns the tags of the observation: the kind of the fact, if a kind is known."""
    return [] if candidate.kind in ("fact", "narrative") else [candidate.kind]


def candidate_id(candidate: candidates.Candidate, segments: Sequence[Row]) -> str:
    """Returns the id of the candidate; `segments` are the rows of its window's segments."""
    segment = segments[candidate.segment]
    place = f"{segment['window_id']}/{segment['segment_id']}"
    return str(uuid.uuid5(NAMESPACE, f"{place}/{text_hash(candidate.text)}"))


def segment_row(
    window: Row,
    messages: Sequence[Row],
    ordinal: int,
    observer: str,
    narrative: str,
    quotes: Sequence[Quote],
) -> Row:
    """Returns the row of a segment with these messages.

    `narrative` is a model's summary.
    """
    origin = f"{window['window_id']}/{messages[0]['message_id']}"
    return {
        **{name: window[name] for name in _OF_SEGMENT},
        "segment_id": str(uuid.uuid5(NAMESPACE, origin)),
        "ordinal": ordinal,
        "narrative": narrative,
        "quotes": [quote.text for quote in quotes],
        "quote_sources": [quote.source for quote in quotes],
        "quote_ids": [quote.message_id for quote in quotes],
        "message_ids": [row["message_id"] for row in messages],
        "line_from": messages[0]["line"],
        "line_to": messages[-1]["line"],
        "started_at": min(row["event_at"] for row in messages),
        "ended_at": max(row["event_at"] for row in messages),
        "user_turn_count": sum(row["is_user_turn"] for row in messages),
        "observer": observer,
    }


def candidate_row(
    result: GateResult,
    window: Row,
    segments: Sequence[Row],
    observed: candidates.Observed,
    taxonomy_version: str,
) -> Row:
    """Returns the columns of a candidate for both `verdicts` and `observations`.

    Some values have two names: the id, the verdict and its reason are `candidate_id`, `verdict` and
    `reason` in `verdicts`, but `id`, `gate` and `gate_reason` in `observations`.
    """
    candidate = result.candidate
    # Only candidates of the rules name their observer: in a model's window, they stand for
    # messages without an answer.
    is_of_rules = candidate.observer is not None
    id = candidate_id(candidate, segments)
    return {
        **{name: window[name] for name in _OF_WINDOW},
        **{name: getattr(candidate, name) for name in _OF_CANDIDATE},
        **{name: getattr(result, name) for name in _OF_RESULT},
        "candidate_id": id,
        "id": id,
        "segment_id": segments[candidate.segment]["segment_id"],
        "kind": "narrative" if candidate.kind == "narrative" else "fact",
        "text_hash": text_hash(candidate.text),
        "gate": result.verdict,
        "gate_reason": result.reason,
        "taxonomy_version": taxonomy_version,
        "scope": scope_of(result.category),
        "tags": tags_of(candidate),
        "lines": candidate.lines[: candidates.MOST_LINES],
        "message_ids": candidate.message_ids[: candidates.MOST_LINES],
        "tokens": count_tokens(candidate.text),
        "parse_path": "rules" if is_of_rules else observed.parse_path,
        "observer": candidate.observer or observed.observer,
        "prompt_hash": None if is_of_rules else observed.prompt_hash,
        "schema_version": SCHEMA_VERSION,
    }
