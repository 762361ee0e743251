"""Ranks what was found among memories and among messages together.

A memory comes before the messages that it was learnt from, and a message that only repeats a memory
is left out, as is one that a better result shows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memory_assets.schema.protocols import Row
from memory_assets.stages.recall.excerpt import around
from memory_assets.stages.recall.results import (
    MESSAGE,
    LeftOut,
    Recalled,
    message_result,
    result_of,
)
from memory_assets.text.terms import query_terms, text_terms
from memory_assets.text.words import squeezed

SAYS_IT = 0.8
"""A memory that was learnt from a message says the same if it has at least this share of the
message's terms.
"""


@dataclass(frozen=True)
class Found:
    """A candidate: a row of `memories`, or of the passages of messages."""

    id: str
    row: Row
    score: float
    relevance: float
    reason: str
    """Why it is left out; empty where it belongs."""
    retrievers: Sequence[str]
    weights: Mapping[str, float] = field(default_factory=dict)
    place: int = -1
    """Of the passage in the texts of messages; -1 of a memory."""

    @property
    def is_message(self) -> bool:
        """Whether it was said, not distilled."""
        return self.place >= 0

    def result(self, now: datetime) -> Recalled:
        """Returns it as a result."""
        how = {"score": self.score, "arms": self.retrievers}
        if not self.is_message:
            return result_of(self.row, now, weights=self.weights, **how)
        text = around(self.row["whole"], self.row["char_from"], self.row["char_to"])
        return message_result(self.row, now, text=text, **how)


def rank(result: Found) -> tuple[Any, ...]:
    """Returns what candidates are sorted by, the best first."""
    return -result.score, result.is_message, result.row["event_at"], result.id


def linked(results: Sequence[Found]) -> Iterator[Found]:
    """Yields the candidates with scores that memories and messages share, and no message that only
    repeats a memory.

    The scores of memories were scaled among memories alone; a memory less relevant than the best of
    all gets less. A memory has at least the score of the messages that it was learnt from.
    """
    belonging = [result for result in results if not result.reason]
    best = max((result.relevance for result in belonging), default=0.0)
    sources = dict[tuple[str, int], list[Found]]()
    for memory in (result for result in belonging if not result.is_message):
        for line in memory.row["lines"]:
            sources.setdefault((memory.row["session_id"], line), []).append(memory)
    least = dict[str, float]()
    for result in results:
        if not result.is_message:
            continue
        learnt = sources.get((result.row["session_id"], result.row["line"]), ())
        for memory in learnt:
            least[memory.id] = max(least.get(memory.id, 0.0), result.score)
        passage = result.row["passage"]
        says_same = any(_says(memory.row["text"], passage) for memory in learnt)
        yield replace(result, reason="says the same") if says_same else result
    for result in results:
        if not result.is_message:
            share = min(result.relevance / best, 1.0) if best else 1.0
            score = max(result.score * share, least.get(result.id, 0.0))
            yield replace(result, score=score)


def _says(memory: str, passage: str) -> bool:
    terms = set(query_terms(passage))
    return len(terms & set(text_terms(memory))) >= SAYS_IT * len(terms)


def one_an_exchange(ordered: Iterable[Recalled]) -> Iterator[Recalled]:
    """Yields the results with each message once: none that a better result shows, whether as found
    or as the other half.
    """
    shown = set[tuple[str, int]]()
    for result in ordered:
        if result.kind != MESSAGE:
            yield result
            continue
        found, *half = [(result.session, line) for line in result.lines]
        if found in shown:
            continue
        if shown.intersection(half):
            result = replace(result, other_half=None, lines=result.lines[:1])
        shown.update((found, *half))
        yield result


def distinct(ordered: Sequence[Recalled]) -> list[Recalled]:
    """Returns the results without those whose text another one has."""
    kept: dict[str, Recalled] = {}
    for result in ordered:
        kept.setdefault(squeezed(result.text.lower()), result)
    return list(kept.values())


def left_out(
    found: Sequence[Found], ordered: Sequence[Recalled], kept: Sequence[Recalled]
) -> Iterator[LeftOut]:
    """Yields the candidates that are not among the kept results; `ordered` are the results that
    belong.
    """
    returned = {result.memory_id for result in kept}
    ranked = {result.memory_id for result in ordered}
    texts = {result.text.lower() for result in kept}
    for result in ordered:
        if result.memory_id not in returned:
            reason = "says the same" if result.text.lower() in texts else "over the cap"
            yield LeftOut(result.memory_id, reason, result.score)
    for result in found:
        if result.id not in ranked:
            reason = result.reason or "not in memory"
            yield LeftOut(result.id, reason, round(result.score, 6))
