"""Observes a window: from a model's stored answers if there are any, else with the rules.

Takes the messages of a window and its answers; returns segments with narratives, and candidate
facts. Calls no model. The evidence and the author of a model's fact are found in the transcript,
near the time that the model gave it; a fact is dated by its evidence. Messages without an answer (a
refusal) are observed with the rules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from itertools import pairwise
from typing import get_args

from memory_assets.schema.protocols import Embedder
from memory_assets.schema.vocabulary import Priority
from memory_assets.stages.distill.grounding.fact_evidence import FactEvidence, Grounding
from memory_assets.stages.distill.grounding.window_index import Stamp
from memory_assets.stages.distill.items import items_of, strength_of
from memory_assets.stages.distill.model import parser
from memory_assets.stages.distill.model.material import without_citations
from memory_assets.stages.distill.model.questions import MAX_TOKENS
from memory_assets.stages.distill.model.split import split_facts
from memory_assets.stages.distill.model.usable import is_judged
from memory_assets.stages.distill.rules.candidates import (
    START_CONFIDENCE,
    Candidate,
    FactKind,
    Observed,
)
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.rules.rules import OBSERVER, find_candidates
from memory_assets.stages.distill.rules.segments import find_segments
from memory_assets.stages.distill.taxonomy import category_named
from memory_assets.text.words import count_tokens

USEFUL: dict[Priority, float] = {"high": 0.9, "medium": 0.8, "low": 0.7}
"""Usefulness of a fact by the model's priority; its confidence ranks facts of the same priority."""

CONFIDENCE_SHARE = 0.09
"""What full confidence adds: less than the next priority."""

OVER, MISSING = "over", "missing"
"""In place of the gate of a fact that exceeds the room of its answer, and of one that has none
though others have. Without any gate the facts are judged like those of the rules.
"""

HELD_BY_MODEL = 0.6
"""Usefulness of a fact that a model holds."""


@dataclass(frozen=True)
class Answered:
    """A model's answer about some messages of a window; `text` is None if there is no answer."""

    first: int
    """Row number of the first message in the window."""
    last: int
    model: str
    prompt_hash: str
    text: str | None
    zone: tzinfo = UTC
    """The time zone of the stamps that the model saw."""


def observe_window(
    rows: list[Row], answered: Sequence[Answered] = (), embedder: Embedder | None = None
) -> Observed:
    """Returns the segments and candidates of a window, with the narratives of a model; `rows` are
    its messages in order.
    """
    segments = find_segments(rows)
    if any(answer.text is not None for answer in answered):
        return _observe_with_model(rows, segments, answered, embedder)
    return Observed(
        OBSERVER, "rules", [""] * len(segments), segments, find_candidates(rows, segments)
    )


def _observe_with_model(
    rows: list[Row],
    segments: list[list[int]],
    answered: Sequence[Answered],
    embedder: Embedder | None,
) -> Observed:
    """Returns what the model found; a long window has several answers."""
    source = next(answer for answer in answered if answer.text is not None)
    texts = [without_citations(answer.text) for answer in answered if answer.text is not None]
    parsed = [split_facts(trim(parser.parse_answer(text))) for text in texts]
    grounding = Grounding(rows, source.zone, embedder)
    facts = [fact for answer in parsed for fact in answer.facts]
    evidence = {fact: _evidence(fact, grounding) for fact in facts}
    narrated = [part for answer in parsed for part in answer.segments if part.narrative]
    anchors = [(_anchor(part, evidence, grounding), part.narrative) for part in narrated]
    placed = sorted((row, narrative) for row, narrative in anchors if row is not None)
    groups, narratives = _regroup(rows, placed) if placed else (segments, [""] * len(segments))
    segment_of = {row: place for place, group in enumerate(groups) for row in group}
    candidates = [_candidate(fact, evidence[fact], rows, segment_of) for fact in facts]
    return Observed(
        observer=source.model,
        parse_path=max((answer.path for answer in parsed), key=get_args(parser.ParsePath).index),
        narratives=narratives,
        segments=groups,
        candidates=candidates + _unanswered(rows, groups, answered),
        prompt_hash=source.prompt_hash,
    )


def trim(answer: parser.ParsedAnswer, tokens: int = MAX_TOKENS) -> parser.ParsedAnswer:
    """Returns the answer with a gate for every fact, unless none has one; the facts that exceed its
    room are marked as `over`: the least important ones, the last first.
    """
    room = tokens - sum(count_tokens(segment.narrative) for segment in answer.segments)
    missing = MISSING if is_judged(answer) else None
    wanted = [fact for fact in answer.facts if fact.gate != "discard"]
    fitting = set[str]()
    for fact in sorted(wanted, key=lambda fact: -USEFUL[fact.priority or "low"]):
        room -= count_tokens(fact.text)
        if room >= 0:
            fitting.add(fact.text)

    def marked(fact: parser.ParsedFact) -> parser.ParsedFact:
        is_over = fact.gate != "discard" and fact.text not in fitting
        return replace(fact, gate=OVER if is_over else fact.gate or missing)

    segments = [replace(part, facts=tuple(map(marked, part.facts))) for part in answer.segments]
    return replace(answer, segments=tuple(segments))


def _evidence(fact: parser.ParsedFact, grounding: Grounding) -> FactEvidence | None:
    stamp = Stamp(int(fact.time[:2]), int(fact.time[3:]), fact.day) if fact.time else None
    return grounding.find(fact.text, stamp)


def _unanswered(
    rows: list[Row], groups: Sequence[Sequence[int]], answered: Sequence[Answered]
) -> list[Candidate]:
    """Returns the rules' candidates from messages without an answer."""
    missing = [rows[part.first : part.last + 1] for part in answered if part.text is None]
    ids = {row["message_id"] for part in missing for row in part}
    found = find_candidates(rows, groups) if ids else []
    return [
        replace(candidate, observer=OBSERVER)
        for candidate in found
        if ids.issuperset(candidate.message_ids)
    ]


def _anchor(
    segment: parser.ParsedSegment,
    evidence: Mapping[parser.ParsedFact, FactEvidence | None],
    grounding: Grounding,
) -> int | None:
    """Returns the row that a model's segment is placed around: the median of its facts' evidence,
    else of its narrative's.
    """
    found = [evidence[fact] for fact in segment.facts]
    rows = sorted(each.rows[0] for each in found if each and not each.fault)
    if rows:
        return rows[len(rows) // 2]
    of_narrative = grounding.find(segment.narrative)
    return of_narrative.rows[0] if of_narrative else None


def _regroup(
    rows: Sequence[Row], placed: Sequence[tuple[int, str]]
) -> tuple[list[list[int]], list[str]]:
    """Returns the rows and the narrative of each of the model's segments, which are `placed` around
    rows; every row is in exactly one.
    """
    starts = [0]
    for (before, _), (anchor, _) in pairwise(placed):
        starts.append(max(_start(rows, before, anchor), starts[-1]))
    groups: list[list[int]] = []
    texts: list[str] = []
    for (_, narrative), start, end in zip(placed, starts, [*starts[1:], len(rows)], strict=True):
        if start < end:
            groups.append(list(range(start, end)))
            texts.append(narrative)
        else:
            texts[-1:] = [f"{texts[-1]} {narrative}" if texts else narrative]
    return groups, texts


def _start(rows: Sequence[Row], before: int, anchor: int) -> int:
    """Returns the first row of a segment: the last turn of the owner up to its anchor, else half
    way from the anchor before.
    """
    turns = [row for row in range(before + 1, anchor + 1) if rows[row]["is_user_turn"]]
    return turns[-1] if turns else (before + anchor + 1) // 2 + (before == anchor)


def _candidate(
    fact: parser.ParsedFact,
    evidence: FactEvidence | None,
    rows: Sequence[Row],
    segment_of: dict[int, int],
) -> Candidate:
    places, author, quote = (
        (evidence.rows, evidence.author, evidence.quote) if evidence else ((), "assistant", "")
    )
    first = places[0] if places else 0
    strength, priority = strength_of(fact.text, is_owners=author == "owner"), fact.priority or "low"
    confidence = fact.confidence if fact.confidence is not None else START_CONFIDENCE[strength]
    return Candidate(
        text=fact.text,
        kind=_kind(fact, author),
        priority=priority,
        author=author,
        strength=strength,
        usefulness=USEFUL[priority] + CONFIDENCE_SHARE * confidence
        if fact.gate in ("allow", None)
        else HELD_BY_MODEL,
        confidence=confidence,
        event_at=rows[first]["event_at"],
        lines=tuple(sorted(rows[row]["line"] for row in places)),
        message_ids=tuple(rows[row]["message_id"] for row in sorted(places)),
        quote=quote,
        segment=segment_of[first] if places else 0,
        hint=fact.gate,
        hint_confidence=fact.confidence,
        hint_category=fact.category,
        fault=evidence.fault if evidence else "unsupported",
        **items_of(fact.text, [rows[row]["text"] for row in places], quote),
    )


def _kind(fact: parser.ParsedFact, author: str) -> FactKind:
    """Returns the kind of the fact, from the model's category and mark, and its author."""
    category = category_named(fact.category)
    if category == "preferences":
        return "preference"
    if category == "rules-conventions" and author == "owner":
        return "rule"
    return "result" if fact.is_done else "fact"
