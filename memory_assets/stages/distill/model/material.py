"""Builds what a model is shown: messages as text with author and time, and earlier memories about
the same subject.

Both are fenced as quoted material; no content can close a fence, because the fence has a hash of
its content. `[HH:MM]` stamps are in the owner's time zone, images are numbered in the order of the
messages. What neither the owner nor the assistant said (tool calls and results, files, pages, texts
of the harness) is truncated to its beginning and its end. Earlier memories depend on the day of the
call, so their ids are stored with the answer and are no part of its key.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cache
from importlib.resources import files

import polars as pl

from memory_assets.schema.vocabulary import Author, Priority
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.text.short_ids import short_id
from memory_assets.text.words import count_tokens, stems_of, text_hash

SERIALISER_VERSION = "serialise/3"

QUOTED_CHARS = 300
"""Length to which a text of the harness is truncated."""

CALL_CHARS, RESULT_CHARS, PAGE_CHARS = 120, 200, 120
"""Lengths to which tool calls, their results, and the texts of files and pages are truncated. Most
facts rest on what the owner and the assistant said alone: with 300 characters for each a labelled
session takes a fifth more tokens, and 245 of 247 facts have all their names shown instead of 244.
"""

END_SHARE = 1 / 3
"""Share of it for the end, where tools print errors and results."""

IDENTITY_CHARS = 1_500
"""Length to which the same texts are hashed; it never changes, so that an answer stays valid when
less of them is shown.
"""

_ROLES: dict[Author, str] = {"subagent": "SUB-AGENT", "injected": "HARNESS"}
"""Roles that are not the name of the author in upper case."""

EARLIER_TOKENS = 4_000
"""Token budget of earlier memories in a call (DUET)."""

LEAST_SHARE = 0.35
"""Least share of a memory's words that the call must contain."""

WEIGHT: dict[Priority, float] = {"high": 3.0, "medium": 2.0, "low": 1.0}

_REMINDER = re.compile(r"\s*<system-reminder>.*?(?:</system-reminder>|\Z)", re.S)
_CITED = re.compile(r"mem_[0-9a-f]{12}")
_REPLACED = re.compile(
    r"\s*[\[(]\s*replaces:?\s*(mem_[0-9a-f]{12}(?:\s*,\s*mem_[0-9a-f]{12})*)\s*[\])]", re.I
)
_CITATION = re.compile(
    r"\s*[\[(]\s*(?:memory\s+)?(?:ids?\s*:?\s*)?mem_[0-9a-f]{12}(?:\s*,\s*mem_[0-9a-f]{12})*\s*[\])]",
    re.I,
)


@dataclass(frozen=True)
class ShownFact:
    """A fact that is shown with its id."""

    id: str
    """`mem_` and twelve hex digits."""
    text: str


@dataclass(frozen=True)
class EarlierMemory(ShownFact):
    """An earlier memory that may be shown to a model."""

    stems: frozenset[str]
    weight: float
    event_at: datetime
    project: str
    person: str | None
    """Set for facts about a person, which apply to all projects."""


def serialise(
    messages: Sequence[Row],
    zone: tzinfo,
    before: Sequence[Row] = (),
    earlier: Sequence[ShownFact] = (),
    established: Sequence[ShownFact] = (),
) -> str:
    """Returns the messages as fenced text, with a date line at the start of each day.

    `before` are messages of an earlier call, `earlier` memories and `established` facts of the
    session with their ids; each has a fence of its own.
    """
    bodies = {
        "earlier memories": _with_ids(earlier),
        "facts established earlier in this session": _with_ids(established),
        "end of the previous part": "\n\n".join(message_lines(before, zone)),
    }
    transcript = fenced("transcript", "\n\n".join(message_lines(messages, zone)))
    others = [fenced(title, body) for title, body in bodies.items() if body]
    return "\n\n".join([*others, transcript])


def _with_ids(facts: Sequence[ShownFact]) -> str:
    return "\n".join(f"[memory id: {fact.id}] {fact.text}" for fact in facts)


def shown(message: Row) -> str:
    """Returns the text of a message as shown to a model; reminders of the harness within a result
    are left out.
    """
    text = message["text"]
    is_page = message["author"] in ("file", "web")
    if message["kind"] == "tool_result":
        limit = PAGE_CHARS if is_page else RESULT_CHARS
        return f"{_result_head(message)} {shortened(_REMINDER.sub('', text), limit)}"
    if message["kind"] == "text" and message["author"] in ("owner", "assistant"):
        return text
    return shortened(text, CALL_CHARS if message["kind"] == "tool_call" else QUOTED_CHARS)


def _result_head(message: Row) -> str:
    return (
        f"[toolResult {message['tool_name'] or 'tool'}{' (error)' if message['is_error'] else ''}]"
    )


def shortened(text: str, limit: int) -> str:
    """Returns the beginning and the end of a text that is longer than the limit."""
    if len(text) <= limit:
        return text
    end = int(limit * END_SHARE)
    return (
        f"{text[: limit - end]}… [{len(text) - limit:,} more characters] …{text[len(text) - end :]}"
    )


def identity_of(message: Row) -> str:
    """Returns what identifies the text of a message in the key of an answer."""
    text = message["text"]
    if message["kind"] == "text":
        return text
    more = len(text) - IDENTITY_CHARS
    cut = text if more <= 0 else f"{text[:IDENTITY_CHARS]}… [{more:,} more characters]"
    return f"{_result_head(message)} {cut}" if message["kind"] == "tool_result" else cut


def content_hash(messages: Sequence[Row], before: Sequence[Row] = ()) -> str:
    """Returns the hash of the messages that are shown to a model, except for the time zone."""
    parts = (
        f"{m['message_id']}\x1f{m['event_at'].isoformat()}\x1f{m['image_count']}\x1f{identity_of(m)}"
        for m in messages
    )
    return text_hash("\x1e".join([*parts, "\x1d", *map(identity_of, before)]))


def message_lines(messages: Sequence[Row], zone: tzinfo) -> Iterator[str]:
    """Yields each message with its time and author, and a date line at the start of each day."""
    day, image = None, 0
    for message in messages:
        at = message["event_at"].astimezone(zone)
        if at.date() != day:
            day = at.date()
            yield f"Date: {day.isoformat()}"
        numbers = range(image + 1, image + 1 + message["image_count"])
        image += message["image_count"]
        content = shown(message) + "".join(f" [image {number}]" for number in numbers)
        if content.strip():
            role = _ROLES.get(message["author"], message["author"].upper())
            yield f"[{at:%H:%M}] {role}: {content}"


def fenced(title: str, body: str, owner: str = "") -> str:
    """Returns the text between two marker lines that it cannot contain; `owner` makes those of the
    same text differ.
    """
    mark = text_hash(owner + body)[:12]
    return f"=== quoted {title} {mark} begins ===\n{body}\n=== quoted {title} {mark} ends ==="


@cache
def read_prompt(stage: str, name: str) -> str:
    """Returns a prompt of the package: the Markdown file of that name in the folder of the
    stage.
    """
    return files(f"memory_assets.stages.{stage}").joinpath(f"{name}.md").read_text(encoding="utf-8")


def earlier_memories(memories: pl.DataFrame) -> list[EarlierMemory]:
    """Returns the active facts with their stems and weights."""
    facts = memories.filter((pl.col("state") == "active") & (pl.col("kind") == "fact")).sort("id")
    person = pl.when(pl.col("scope") == "person").then("person")
    columns = facts.select("id", "text", "priority", "event_at", "project", person)
    return [
        EarlierMemory(short_id(id), text, stems_of(text), 1 + math.log(WEIGHT[priority]), *rest)
        for id, text, priority, *rest in columns.iter_rows()
    ]


def pick_earlier(
    memories: Sequence[EarlierMemory], messages: Sequence[Row], project: str, person: str
) -> list[EarlierMemory]:
    """Returns the memories from before these messages that are related to them, the most similar
    first, within the budget.
    """
    began = min(message["event_at"] for message in messages)
    said = frozenset[str]().union(
        *(stems_of(m["text"]) for m in messages if m["author"] in ("owner", "assistant"))
    )
    scored = [
        (-share * memory.weight, memory.id, memory)
        for memory in memories
        if memory.event_at < began
        and (memory.person == person if memory.person else memory.project == project)
        if (share := len(memory.stems & said) / max(len(memory.stems), 1)) >= LEAST_SHARE
    ]
    picked, left = [], EARLIER_TOKENS
    for _, _, memory in sorted(scored, key=lambda entry: entry[:2]):
        left -= count_tokens(memory.text) + count_tokens(memory.id)
        if left < 0:
            break
        picked.append(memory)
    return picked


def find_citations(answer: str, shown_ids: Sequence[str]) -> tuple[str, ...]:
    """Returns the shown ids that the answer cites."""
    return tuple(sorted(set(_CITED.findall(answer)) & set(shown_ids)))


def find_replaced(answer: str) -> tuple[str, ...]:
    """Returns the ids of the facts that the answer says it replaces."""
    return tuple(sorted({id for ids in _REPLACED.findall(answer) for id in _CITED.findall(ids)}))


def without_citations(answer: str) -> str:
    """Returns the answer without ids of memories in brackets."""
    return _CITATION.sub("", _REPLACED.sub("", answer))
