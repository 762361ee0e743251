"""Makes the rows of segments, observations and verdicts from what was found and judged.

Ids come from content: a second run gives the same rows, a new wording a new id.
"""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from memory_assets.schema.records import Category, Scope
from memory_assets.stages.distill.rules.candidates import MOST_LINES, Candidate, Observed
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.write_gate import Judged
from memory_assets.text.tokens import count_tokens

SCHEMA_VERSION = 1

NAMESPACE = uuid.UUID("6f0c5b0e-51f4-5a0e-9a6e-2b1f6a1c7d11")
"""Makes our ids ours; any other constant would do, and this one never changes."""

PERSONAL: frozenset[Category] = frozenset({"preferences", "people-relationships"})
"""One person's preference is not a rule of the project (D12)."""

_OF_THE_WINDOW = ("session_id", "window_id", "day", "path", "trigger", "project", "person", "folder")


def text_hash(text: str) -> str:
    """Returns the hash that a text is known by."""
    return hashlib.sha256(text.encode()).hexdigest()


def short_id(observation_id: str) -> str:
    """Returns the id of an observation, or of its memory, as people and models are shown it: `mem_` and twelve hex digits."""
    return f"mem_{observation_id.replace('-', '')[:12]}"


def scope_of(category: Category) -> Scope:
    """Returns whom a fact of the category concerns."""
    return "person" if category in PERSONAL else "project"


def candidate_id(candidate: Candidate, segments: Sequence[Mapping[str, Any]]) -> str:
    """Returns the id that the candidate has as an observation; `segments` are the rows of its window's segments."""
    segment = segments[candidate.segment]
    return str(uuid.uuid5(NAMESPACE, f"{segment['window_id']}/{segment['segment_id']}/{text_hash(candidate.text)}"))


def segment_row(window: Mapping[str, Any], own: Sequence[Row], ordinal: int, narrative: str, observer: str) -> dict[str, Any]:
    """Returns the row of a segment with these messages."""
    return {
        "segment_id": str(uuid.uuid5(NAMESPACE, f"{window['window_id']}/{own[0]['message_id']}")),
        "window_id": window["window_id"],
        "session_id": window["session_id"],
        "day": window["day"],
        "ordinal": ordinal,
        "narrative": narrative,
        "message_ids": [row["message_id"] for row in own],
        "line_from": own[0]["line"],
        "line_to": own[-1]["line"],
        "started_at": min(row["event_at"] for row in own),
        "ended_at": max(row["event_at"] for row in own),
        "user_turn_count": sum(row["is_user_turn"] for row in own),
        "project": window["project"],
        "person": window["person"],
        "observer": observer,
    }


def verdict_row(
    entry: Judged, window: Mapping[str, Any], segments: Sequence[Mapping[str, Any]], observed: Observed
) -> dict[str, Any]:
    """Returns the row that says what the gate decided; it holds no text."""
    return {
        "candidate_id": candidate_id(entry.candidate, segments),
        "window_id": window["window_id"],
        "session_id": window["session_id"],
        "segment_id": segments[entry.candidate.segment]["segment_id"],
        "day": window["day"],
        "verdict": entry.verdict,
        "reason": entry.reason,
        "gate_confidence": entry.gate_confidence,
        "text_hash": text_hash(entry.candidate.text),
        "parse_path": "rules" if entry.candidate.observer else observed.parse_path,
        "observer": entry.candidate.observer or observed.observer,
    }


def observation_row(
    entry: Judged,
    window: Mapping[str, Any],
    segments: Sequence[Mapping[str, Any]],
    observed: Observed,
    taxonomy_version: str,
) -> dict[str, Any]:
    """Returns the row of a candidate that is allowed or held."""
    candidate = entry.candidate
    return {
        **{name: window[name] for name in _OF_THE_WINDOW},
        "id": candidate_id(candidate, segments),
        "segment_id": segments[candidate.segment]["segment_id"],
        "kind": "narrative" if candidate.kind == "narrative" else "fact",
        "text": candidate.text,
        "text_hash": text_hash(candidate.text),
        "priority": candidate.priority,
        "gate": entry.verdict,
        "gate_reason": entry.reason,
        "gate_confidence": entry.gate_confidence,
        "category": entry.category,
        "category_confidence": entry.category_confidence,
        "taxonomy_version": taxonomy_version,
        "confidence": candidate.confidence,
        "strength": candidate.strength,
        "sentiment": candidate.sentiment,
        "author": candidate.author,
        "scope": scope_of(entry.category),
        "entities": list(candidate.entities),
        "event_at": candidate.event_at,
        "clock_times": list(candidate.clock_times),
        "lines": list(candidate.lines)[:MOST_LINES],
        "message_ids": list(candidate.message_ids)[:MOST_LINES],
        "quote": candidate.quote,
        "tokens": count_tokens(candidate.text),
        "observer": candidate.observer or observed.observer,
        "prompt_hash": None if candidate.observer else observed.prompt_hash,
        "schema_version": SCHEMA_VERSION,
    }
