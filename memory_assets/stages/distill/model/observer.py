"""Observes a window: from a model's stored answers where there are any, else by the rules.

Takes the messages of a window and the answers about it; gives segments with narratives, and candidate facts. Asks
nobody. A model's facts are grounded in the transcript: whose words they are and which records hold them is found here,
never taken from the answer. Messages that no answer is about (a refusal) are observed by the rules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from memory_assets.stages.distill.grounding import Evidence, Grounding
from memory_assets.stages.distill.items import clock_times_in, entities_of, found_in, sentiment_of, strength_of
from memory_assets.stages.distill.model.earlier import without_citations
from memory_assets.stages.distill.model.parsed import ParsedAnswer, ParsedFact
from memory_assets.stages.distill.model.parser import parse_answer
from memory_assets.stages.distill.rules.boundaries import find_segments
from memory_assets.stages.distill.rules.candidates import START_CONFIDENCE, Candidate, FactKind, Observed
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.rules.narratives import narrate
from memory_assets.stages.distill.rules.regroup import regroup
from memory_assets.stages.distill.rules.rules import OBSERVER, find_candidates
from memory_assets.stages.distill.taxonomy import category_named

ALLOWED_BY_MODEL, HELD_BY_MODEL = 0.85, 0.6
"""Usefulness of what a model allows and holds, where it gives no number of its own."""


@dataclass(frozen=True)
class Answered:
    """What a model said of some messages of a window; no text where there is no answer."""

    first: int
    """Row number of the first message in the window."""
    last: int
    model: str
    prompt_hash: str
    text: str | None


def observe_window(
    messages: pl.DataFrame,
    *,
    answered: Sequence[Answered] = (),
    segments: Sequence[Mapping[str, Any]] | None = None,
    wants: Literal["everything", "segments", "facts"] = "everything",
) -> Observed:
    """Returns what was found in a window; `messages` are those of the window, in order.

    The rules take rows of `segments` that are already there as they are, and `wants` spares them the half that nobody
    reads; with a model both come from the same answers.
    """
    rows = messages.to_dicts()
    if any(answer.text is not None for answer in answered):
        return _by_model(rows, find_segments(messages), answered)
    groups = _groups(segments, rows) if segments else find_segments(messages)
    return _by_rules(rows, groups, wants)


def _groups(segments: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> list[list[int]]:
    """Returns the row numbers of the messages of each segment."""
    number_of = {row["message_id"]: number for number, row in enumerate(rows)}
    return [[number_of[message_id] for message_id in segment["message_ids"]] for segment in segments]


def _by_rules(rows: list[Row], groups: list[list[int]], wants: str) -> Observed:
    narratives = [narrate([rows[row] for row in group]) for group in groups] if wants != "facts" else []
    return Observed(
        observer=OBSERVER,
        parse_path="rules",
        narratives=tuple(narratives),
        segments=tuple(map(tuple, groups)),
        candidates=tuple(find_candidates(rows, groups)) if wants != "segments" else (),
    )


def _by_model(rows: list[Row], segments: list[list[int]], answered: Sequence[Answered]) -> Observed:
    """Returns what the model found, a long window in several answers."""
    parsed = [parse_answer(without_citations(answer.text)) for answer in answered if answer.text is not None]
    grounding = Grounding(rows)
    told = [segment for answer in parsed for segment in answer.segments]
    grounded = [[(fact, grounding.find(fact.text)) for fact in segment.facts] for segment in told]
    anchors = [_anchor(segment.narrative, facts, grounding) for segment, facts in zip(told, grounded, strict=True)]
    groups, narratives = regroup(rows, segments, [segment.narrative for segment in told], anchors)
    segment_of = {row: place for place, group in enumerate(groups) for row in group}
    candidates = [_candidate(fact, evidence, rows, segment_of) for facts in grounded for fact, evidence in facts]
    source = next(answer for answer in answered if answer.text is not None)
    return Observed(
        observer=source.model,
        parse_path=worst_path(parsed),
        narratives=tuple(
            narrative or narrate([rows[row] for row in group]) for narrative, group in zip(narratives, groups, strict=True)
        ),
        segments=tuple(map(tuple, groups)),
        candidates=(*candidates, *_unanswered(rows, groups, answered)),
        prompt_hash=source.prompt_hash,
    )


def _unanswered(rows: list[Row], groups: Sequence[Sequence[int]], answered: Sequence[Answered]) -> list[Candidate]:
    """Returns what the rules find in the messages that no answer is about."""
    silent = {
        rows[row]["message_id"] for answer in answered if answer.text is None for row in range(answer.first, answer.last + 1)
    }
    if not silent:
        return []
    return [
        replace(found, observer=OBSERVER) for found in find_candidates(rows, groups) if silent.issuperset(found.message_ids)
    ]


def worst_path(parsed: Sequence[ParsedAnswer]) -> str:
    """Returns the worst path that reading took: it is the one somebody wants to know of."""
    order = ("segments", "structured", "flat", "list", "raw", "empty")
    return max((answer.path for answer in parsed), key=order.index, default="empty")


def _anchor(narrative: str, facts: Sequence[tuple[ParsedFact, Evidence | None]], grounding: Grounding) -> int | None:
    """Returns the row that a model's segment lies around: the middle of its facts' evidence, else its narrative's."""
    rows = sorted(evidence.rows[0] for _, evidence in facts if evidence)
    if rows:
        return rows[len(rows) // 2]
    found = grounding.find(narrative) if narrative else None
    return found.rows[0] if found else None


def _candidate(fact: ParsedFact, evidence: Evidence | None, rows: Sequence[Row], segment_of: Mapping[int, int]) -> Candidate:
    places = evidence.rows if evidence else ()
    author = evidence.author if evidence else "assistant"
    first = rows[places[0]] if places else rows[0]
    told, invented = found_in(clock_times_in(fact.text), [rows[row]["text"] for row in places])
    strength = strength_of(fact.text, is_owners=author == "owner")
    confidence = fact.confidence if fact.confidence is not None else START_CONFIDENCE[strength]
    return Candidate(
        text=fact.text,
        kind=_kind(fact, author),
        priority=fact.priority or "low",
        author=author,
        strength=strength,
        usefulness=ALLOWED_BY_MODEL if fact.gate == "allow" else HELD_BY_MODEL,
        confidence=confidence,
        event_at=first["event_at"],
        lines=tuple(sorted(rows[row]["line"] for row in places)),
        message_ids=tuple(rows[row]["message_id"] for row in sorted(places)),
        quote=evidence.quote if evidence else "",
        segment=segment_of[places[0]] if places else 0,
        sentiment=sentiment_of(evidence.quote if evidence else ""),
        entities=entities_of(fact.text),
        clock_times=told,
        ungrounded_times=invented,
        hint=fact.gate or "missing",
        hint_confidence=fact.confidence,
        hint_category=fact.category,
    )


def _kind(fact: ParsedFact, author: str) -> FactKind:
    """Returns what sort of fact it is, from the model's category and whose words it rests on."""
    category = category_named(fact.category)
    if category == "preferences":
        return "preference"
    if category == "rules-conventions" and author == "owner":
        return "rule"
    return "fact"
