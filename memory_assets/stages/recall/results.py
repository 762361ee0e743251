"""Who asks a recall, and its answer: results with their source and score, and the block that is put
in front of a prompt.

The text of a memory in the block is quoted material, whoever wrote it: it cannot begin another
line, open or close markup, or change the direction of writing, and a long one is cut. Capture
removes these lines from transcripts, so that injected memories are not learnt again.
"""

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from itertools import islice
from types import MappingProxyType
from typing import Any

import polars as pl

from memory_assets.schema.protocols import ModelAnswer, Row
from memory_assets.schema.requests import MOST, Filters
from memory_assets.schema.vocabulary import Link
from memory_assets.stages.recall.speakers import author_of, said_by
from memory_assets.text.short_ids import short_id
from memory_assets.text.visible import REPLACEMENT, visible
from memory_assets.text.words import count_tokens, squeezed, truncated

UNCERTAIN = 0.3
"""Confidence below which a memory is marked as uncertain."""

LONGEST_LINE = 600
"""Characters of one memory's text in the block; distilled facts have at most 300."""

LEAN = "lean"
MESSAGE = "message"
"""Kind of a result that was said, not distilled."""

_OF_MEMORY = ("kind", "text", "confidence", "category", "priority", "state")
_MARKUP = re.compile(r"<(?=[/!?|]?[A-Za-z|])([^<>\n]{0,200})>?")
_LINE_MARK = re.compile(r"(?<!\S)~(?!\S)")
_FENCE = re.compile(r"`{3,}|~{3,}")
_TAG = re.compile(r"[^\w .,:/()-]")
_NAME = re.compile(r"[^\w .:-]")


def condition(filters: Filters, columns: Sequence[str]) -> pl.Expr:
    """Returns what the rows of a frame with these columns must fulfil; a filter on a column that is
    missing is left out.
    """
    allowed = {
        "state": filters.states,
        "category": filters.category,
        "priority": filters.priority,
        "kind": filters.kind,
        "trigger": filters.trigger,
        "project": filters.only_project and [filters.only_project],
        "person": filters.person and [filters.person],
        "session_id": filters.session and [filters.session],
    }
    names = [name for name in allowed if allowed[name] and name in columns]
    conditions = [pl.col(name).is_in(list(allowed[name])) for name in names]
    if filters.tag and "tags" in columns:
        tags = map(pl.col("tags").list.contains, filters.tag)
        conditions.append(pl.any_horizontal(*tags))
    if filters.since:
        conditions.append(pl.col("event_at") >= filters.since)
    if filters.until:
        conditions.append(pl.col("event_at") < filters.until)
    return pl.all_horizontal(pl.lit(True), *conditions)


@dataclass(frozen=True)
class Asker:
    """Who asks, where and when: what the ranking prefers and what it must not return; a `now`
    without a zone is UTC.
    """

    now: datetime
    project: str | None = None
    person: str | None = None
    session: str | None = None
    recent: Sequence[str] = ()
    """The last messages of the conversation, oldest first."""

    def __post_init__(self) -> None:
        # No name can have a lone surrogate, which cannot be encoded.
        for name in ("project", "person", "session"):
            value = getattr(self, name)
            if value:
                encoded = value.encode("utf-8", "replace")
                object.__setattr__(self, name, encoded.decode())
        if self.now.tzinfo is None:
            object.__setattr__(self, "now", self.now.replace(tzinfo=UTC))


@dataclass(frozen=True)
class OtherHalf:
    """The message that a found message answers, or that answers it, or that a memory was quoted
    from.
    """

    message_id: str
    relation: Link
    """What the found message is to this one."""
    said_by: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.relation} {self.said_by}: {squeezed(self.text)}"


@dataclass(frozen=True)
class Recalled:
    """One result: a memory, or a message with at most one message beside it."""

    memory_id: str
    kind: str
    """fact, narrative or message."""
    text: str
    score: float
    confidence: float
    category: str
    priority: str
    age_days: int
    event_at: datetime
    session: str
    path: str
    lines: tuple[int, ...]
    project: str
    harness: str = ""
    """The program that the session ran in."""
    person: str = ""
    said_by: str = ""
    """The person, `assistant`, `sub-agent`, or `pasted by` the person."""
    other_half: OtherHalf | None = None
    """The rest of the exchange that a message belongs to, or what else was said where a memory was
    learnt; `lines` has its record, too.
    """
    arms: tuple[str, ...] = ()
    """The retrievers that found it: keyword, vector, context, session, memory."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Factor → what the fused score was multiplied with."""
    state: str = ""
    """The state of a memory, such as active or stale; empty for a message."""
    tags: tuple[str, ...] = ()
    """uncertain, unconfirmed (inferred, and no other source says so), a state that is not active,
    `conflict:mem_…`, `linked:NAME` (a better result shares that name), "names `PATH`, gone since
    DATE".
    """


def result_of(
    row: Row,
    now: datetime,
    *,
    score: float,
    arms: Sequence[str],
    weights: Mapping[str, float] | None = None,
) -> Recalled:
    """Returns a row of `memories` as a result."""
    fields = {name: row[name] for name in _OF_MEMORY}
    fields |= {"memory_id": row["id"], "lines": tuple(row["lines"])}
    fields |= {"weights": weights or {}, "tags": tags_of(row)}
    return _recalled(row, now, score, arms, fields)


def message_result(
    row: Row, now: datetime, *, text: str, score: float, arms: Sequence[str]
) -> Recalled:
    """Returns a row of a message as a result."""
    row = {**row, "author": author_of(row)}
    fields = {"memory_id": row["message_id"], "text": text, "lines": (row["line"],)}
    fields |= {"kind": MESSAGE, "confidence": 0.5, "category": "raw", "priority": "low"}
    return _recalled(row, now, score, arms, fields)


def _recalled(
    row: Row, now: datetime, score: float, arms: Sequence[str], fields: dict[str, Any]
) -> Recalled:
    fields |= {name: row[name] for name in ("event_at", "path", "project", "person")}
    fields |= {"session": row["session_id"], "said_by": said_by(row)}
    age = max((now - row["event_at"]).days, 0)
    return Recalled(**fields, score=round(score, 6), age_days=age, arms=tuple(arms))


def tags_of(row: Row) -> tuple[str, ...]:
    """Returns what a reader should know before trusting the memory."""
    is_inferred = row["strength"] == "inferred" and row["author"] != "owner"
    tags = {
        row["state"]: row["state"] != "active",
        "uncertain": row["confidence"] < UNCERTAIN,
        "unconfirmed": is_inferred and not row["confirmed_count"],
        **{f"conflict:{short_id(other)}": True for other in row["conflicts_with"]},
    }
    return tuple(tag for tag, is_set in tags.items() if is_set)


def in_order(
    ordered: Sequence[Recalled], replacements: Mapping[str, str] = MappingProxyType({})
) -> list[Recalled]:
    """Returns the results, reordered: of two that conflict the more certain or newer first,
    replaced ones after the newer one.

    `replacements` are the ids of replaced memories with those of the newer ones.
    """
    results = list(ordered)
    by_short = {short_id(result.memory_id): result for result in ordered}
    for result in ordered:
        # No other tag is an id.
        rivals = [by_short.get(tag.removeprefix("conflict:")) for tag in result.tags]
        better = [rival for rival in rivals if rival and _is_surer(rival, result)]
        newer = replacements.get(result.memory_id)
        better += [other for other in ordered if other.memory_id == newer]
        for other in better:
            _put_first(results, other, result)
    return results


def _is_surer(result: Recalled, other: Recalled) -> bool:
    return (result.confidence, result.event_at) > (other.confidence, other.event_at)


def _put_first(results: list[Recalled], better: Recalled, other: Recalled) -> None:
    """Exchanges the places of the two if the better one comes later."""
    place = results.index(other)
    later = results.index(better)
    if later > place:
        results[place] = better
        results[later] = other


@dataclass(frozen=True)
class ListedCandidate:
    """Something that may answer the question, for an agent to choose from."""

    id: str
    said_by: str
    event_at: datetime
    session: str
    text: str
    """The words around the match."""
    score: float


@dataclass(frozen=True)
class SessionMatch:
    """A session in which the answer may be."""

    session: str
    title: str
    """Its name, or the beginning of its first request."""
    started_at: datetime
    project: str
    harness: str
    matches: tuple[ListedCandidate, ...]
    """Why it matches: what was said in it, best first."""


@dataclass(frozen=True)
class LeftOut:
    """A candidate that was not returned, and why."""

    memory_id: str
    reason: str
    score: float


@dataclass(frozen=True)
class Cost:
    """The cost of an answer."""

    embeddings: int = 0
    index_queries: int = 0
    model_calls: int = 0
    model_tokens: int = 0
    usd: float = 0.0
    seconds: float = field(default=0.0, compare=False)

    def __add__(self, other: "Cost") -> "Cost":
        """Returns the sum of both."""
        return Cost(*map(operator.add, astuple(self), astuple(other)))


def cost_of_call(answer: ModelAnswer, usd: float | None) -> Cost:
    """Returns the cost of one answer of a model; an unknown price counts as 0."""
    sent = answer.input_tokens + answer.cache_read_tokens + answer.cache_write_tokens
    return Cost(model_calls=1, model_tokens=sent + answer.output_tokens, usd=usd or 0.0)


@dataclass(frozen=True)
class Answer:
    """The results, best first, and how they were found."""

    question: str
    profile: str
    results: tuple[Recalled, ...]
    considered: int
    """Number of candidates."""
    asked: str = ""
    """What was searched for, after cleaning and rewriting."""
    left_out: tuple[LeftOut, ...] = ()
    degraded: str | None = None
    """`keyword` or `vector`: the only retriever that worked; `nothing` where none did."""
    notes: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    """What was used beside words and vectors: rewrite, summaries."""
    cost: Cost = Cost()
    is_known: bool = True
    """False: the answer is not in memory."""
    nearest: Recalled | None = None
    """Where nothing is known, what is nearest to the question; it is no answer."""
    likelihood: float = 1.0
    """How likely the answer is among what was searched."""
    tier: int = 2
    """Where the answer was found: 1 summaries, 2 memories, 3 messages."""
    page: int = 1
    candidates: tuple[ListedCandidate, ...] = ()
    """Further candidates, if the request asks for them, best first; also unlikely ones."""
    sessions: tuple[SessionMatch, ...] = ()
    """The sessions of the candidates, if the request asks for them in place of results."""

    def render(self) -> str:
        """Returns the block that is put in front of a prompt; the small one of `lean` has memories
        alone.
        """
        is_small = self.profile == LEAN
        memories = (result for result in self.results if result.kind != MESSAGE)
        return render_block(memories if is_small else self.results)


def render_block(memories: Iterable[Recalled]) -> str:
    """Returns one line for each of the first ten memories: `~ text [tag] (confidence, age,
    category)`.

    A message has "said" and who said it in place of a confidence and a category, and behind its
    text "answers" or "answered by" with the speaker and the words of the other half of its
    exchange.
    """
    return "\n".join(map(render_line, islice(memories, MOST)))


def render_line(memory: Recalled) -> str:
    """Returns the line of one memory."""
    tags = "".join(f" [{_TAG.sub('', tag).replace(':', ' ')}]" for tag in memory.tags)
    is_said = memory.kind == MESSAGE
    first = "said" if is_said else f"{memory.confidence:.2f}"
    last = _NAME.sub("", memory.said_by if is_said else memory.category)
    other = f" — {one_line(str(memory.other_half))}" if memory.other_half else ""
    source = f"({first}, {memory.age_days}d, {last})"
    return f"~ {one_line(memory.text)}{other}{tags} {source}"


def fit(results: Iterable[Recalled], tokens: int, most: int) -> tuple[Recalled, ...]:
    """Returns the best results whose lines fit into the tokens; one that is too long is skipped."""
    fitting: list[Recalled] = []
    remaining = tokens
    for result in results:
        cost = count_tokens(render_line(result) + "\n")
        if len(fitting) < most and cost <= remaining:
            fitting.append(result)
            remaining -= cost
    return tuple(fitting)


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Returns the text on one line, without what could pass for another line of the block or for
    markup around it.
    """
    words = visible(text).replace(REPLACEMENT, " ").split()
    marked = _LINE_MARK.sub("≈", _FENCE.sub("''", " ".join(words)))
    return truncated(_MARKUP.sub(r"‹\1›", marked), longest)
