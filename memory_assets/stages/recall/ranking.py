"""Ranks what was found among memories and among messages together.

A memory comes before the messages that it was learnt from, and a message that only repeats a memory
is left out, as is one that a better result shows.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import filterfalse
from operator import attrgetter
from typing import Any

from memory_assets.schema.protocols import Row
from memory_assets.stages.recall.folding import says_same
from memory_assets.stages.recall.relevance import FLOOR, KEPT, NOTHING, YIELDS, Shared
from memory_assets.stages.recall.results import (
    MESSAGE,
    LeftOut,
    ListedCandidate,
    Recalled,
    message_result,
    result_of,
)
from memory_assets.text.excerpts import around, words_around
from memory_assets.text.words import squeezed

AROUND_MATCH = 60
"""Characters of a candidate in a list."""

NOT_RELEVANT = "not relevant"
"""The reason for which a candidate is no result, and may still be listed."""


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
    shared: Shared = NOTHING
    link: str = ""
    """The name that a better result shares with it, where that brought it in."""

    @property
    def is_message(self) -> bool:
        """Whether it was said, not distilled."""
        return self.place >= 0

    def result(self, now: datetime) -> Recalled:
        """Returns it as a result."""
        how = {"score": self.score, "arms": self.retrievers}
        if not self.is_message:
            result = result_of(self.row, now, weights=self.weights, **how)
            tags = (*result.tags, f"linked:{self.link}")
            return replace(result, tags=tags) if self.link else result
        text = around(self.row["whole"], self.row["char_from"], self.row["char_to"])
        return message_result(self.row, now, text=text, **how)

    def candidate(self, terms: Collection[str]) -> ListedCandidate:
        """Returns it as one line, cut to the words around those of the question."""
        result = self.result(self.row["event_at"])
        passage = self.row["passage"] if self.is_message else result.text
        words = words_around(passage, terms, AROUND_MATCH)
        about = (result.said_by, result.event_at, result.session, words)
        return ListedCandidate(self.id, *about, result.score)


_IS_MESSAGE = attrgetter("is_message")


def rank(result: Found) -> tuple[Any, ...]:
    """Returns what candidates are sorted by, the best first."""
    return -result.score, result.is_message, result.row["event_at"], result.id


def best_relevance(candidates: Iterable[Found]) -> float:
    """Returns the relevance of the most relevant one; 0 where there is none."""
    return max((candidate.relevance for candidate in candidates), default=0.0)


def at_home(candidates: Sequence[Found], home: Collection[str], *, is_wide: bool) -> list[Found]:
    """Returns the candidates; messages of other projects than relevant ones of `home`, and, unless
    the search is wide, messages far behind a memory, are left out.
    """
    belonging = [match for match in candidates if not match.reason]
    here = best_relevance(match for match in belonging if match.row["project"] in home)
    memories = best_relevance(match for match in belonging if not match.is_message)
    least = 0.0 if is_wide else KEPT * memories
    return [_yielding(match, home, here, least) for match in candidates]


def _yielding(match: Found, home: Collection[str], here: float, least: float) -> Found:
    """Returns the candidate with a reason if it is a message that yields to the best of `home`, of
    relevance `here`, or that is not as relevant as the `least`.
    """
    is_elsewhere = bool(home) and match.row["project"] not in home
    is_less = here >= FLOOR and match.relevance * YIELDS < here
    yields = match.relevance < least or (is_elsewhere and is_less)
    if not (match.is_message and yields):
        return match
    return replace(match, reason=match.reason or NOT_RELEVANT)


def linked(candidates: Sequence[Found]) -> Iterator[Found]:
    """Yields the candidates with scores that memories and messages share, and no message that only
    repeats a memory.

    The scores of memories were scaled among memories alone; a memory less relevant than the best of
    all gets less. A memory has at least the score of the messages that it was learnt from.
    """
    belonging = [match for match in candidates if not match.reason]
    learnt_at = _by_origin(belonging)
    least: dict[str, float] = defaultdict(float)
    for message in filter(_IS_MESSAGE, candidates):
        learnt = learnt_at.get((message.row["session_id"], message.row["line"]), ())
        for memory in learnt:
            least[memory.id] = max(least[memory.id], message.score)
        passage = message.row["passage"]
        is_said = any(says_same(memory.row["text"], passage) for memory in learnt)
        yield replace(message, reason="says the same") if is_said else message
    best = best_relevance(belonging)
    for memory in filterfalse(_IS_MESSAGE, candidates):
        share = min(memory.relevance / best, 1.0) if best else 1.0
        yield replace(memory, score=max(memory.score * share, least[memory.id]))


def _by_origin(candidates: Iterable[Found]) -> dict[tuple[str, int], list[Found]]:
    """Returns the memories by the sessions and lines that they were learnt from."""
    learnt_at: dict[tuple[str, int], list[Found]] = defaultdict(list)
    for memory in filterfalse(_IS_MESSAGE, candidates):
        for line in memory.row["lines"]:
            learnt_at[memory.row["session_id"], line].append(memory)
    return learnt_at


def one_an_exchange(ordered: Iterable[Recalled]) -> Iterator[Recalled]:
    """Yields the results with each message once: none that a better result shows, whether as found
    or as the other half.
    """
    shown = set[tuple[str, int]]()
    for result in ordered:
        if result.kind != MESSAGE:
            yield result
            continue
        match, *half = [(result.session, line) for line in result.lines]
        if match in shown:
            continue
        if shown.intersection(half):
            result = replace(result, other_half=None, lines=result.lines[:1])
        shown.update((match, *half))
        yield result


def distinct(ordered: Sequence[Recalled]) -> list[Recalled]:
    """Returns the results without those whose text another one has."""
    results: dict[str, Recalled] = {}
    for result in ordered:
        results.setdefault(squeezed(result.text.lower()), result)
    return list(results.values())


def left_out(
    candidates: Sequence[Found], ordered: Sequence[Recalled], shown: Sequence[Recalled]
) -> Iterator[LeftOut]:
    """Yields the candidates that are not shown; `ordered` are the results that belong."""
    ranked = {result.memory_id for result in ordered}
    yield from _not_shown(ordered, shown)
    for match in candidates:
        if match.id not in ranked:
            reason = match.reason or "not in memory"
            yield LeftOut(match.id, reason, round(match.score, 6))


def _not_shown(ordered: Sequence[Recalled], shown: Sequence[Recalled]) -> Iterator[LeftOut]:
    """Yields the results that belong and are not shown, or only as a part of another one."""
    returned = {result.memory_id for result in shown}
    texts = {result.text.lower() for result in shown}
    halves = filter(None, (result.other_half for result in shown))
    beside = {half.message_id for half in halves}
    for result in ordered:
        if result.memory_id not in returned:
            is_said = result.memory_id in beside or result.text.lower() in texts
            reason = "says the same" if is_said else "over the cap"
            yield LeftOut(result.memory_id, reason, result.score)
