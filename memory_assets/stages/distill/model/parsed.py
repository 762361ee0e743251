"""The records of a parsed answer: facts in segments, and the path that parsing took."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from memory_assets.schema.records import Priority

ParsePath = Literal["segments", "structured", "flat", "list", "raw", "empty"]
"""From the most to the least structured."""


@dataclass(frozen=True, slots=True)
class ParsedFact:
    """One fact of an answer; what the model left out is None."""

    text: str
    priority: Priority | None = None
    time: str | None = None
    gate: str | None = None
    confidence: float | None = None
    category: str | None = None
    is_done: bool = False
    is_cut: bool = False
    """The answer was cut off within it; it is held, whatever its gate was."""


@dataclass(frozen=True, slots=True)
class ParsedSegment:
    """A narrative and its facts."""

    narrative: str
    facts: tuple[ParsedFact, ...]

    @property
    def priority(self) -> Priority | None:
        """The highest priority in it (A21)."""
        order: tuple[Priority, ...] = ("high", "medium", "low")
        return next((p for p in order if any(fact.priority == p for fact in self.facts)), None)


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The content of an answer, and how it was parsed."""

    path: ParsePath
    segments: tuple[ParsedSegment, ...] = ()
    current_task: str | None = None
    suggested_response: str | None = None
    thread_title: str | None = None

    @property
    def facts(self) -> tuple[ParsedFact, ...]:
        """The facts of all segments, in order."""
        return tuple(fact for segment in self.segments for fact in segment.facts)


def unrepeated(segments: Iterable[ParsedSegment]) -> tuple[ParsedSegment, ...]:
    """Returns the segments that have content, each fact once: models repeat answers."""
    seen: set[str] = set()
    kept = []
    for segment in segments:
        facts = tuple(fact for fact in segment.facts if fact.text not in seen)
        seen |= {fact.text for fact in facts}
        if facts or (segment.narrative and segment.narrative not in seen):
            kept.append(ParsedSegment(segment.narrative, facts))
            seen.add(segment.narrative)
    return tuple(kept)


def mark_cut(answer: ParsedAnswer) -> ParsedAnswer:
    """Returns the answer with its last fact marked as cut off, or without it if its text is missing."""
    if not answer.segments or not answer.segments[-1].facts:
        return answer
    *before, last = answer.segments
    *whole, cut = last.facts
    kept = () if cut.text.startswith(("[", "(", "<", "&")) else (replace(cut, gate="hold", is_cut=True),)
    return replace(answer, segments=(*before, ParsedSegment(last.narrative, (*whole, *kept))))
