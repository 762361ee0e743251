"""What an answer can cite: results of recall with their messages, and lines of MEMORY.md."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from types import MappingProxyType

from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.recall.results import MESSAGE, Recalled, one_line
from memory_assets.text.short_ids import short_id, short_message_id
from memory_assets.text.terms import query_terms, text_terms

ASSISTANT = "assistant"
SURE = 0.75
"""Share of the question's terms that a line of MEMORY.md has that answers it."""

CHARS_A_SOURCE = 1_000
LIST_MARK = re.compile(r"^\s*[-*•#\d]{1,4}[.)]?(?<=[-*•#.)])\s+")


@dataclass(frozen=True)
class Citation:
    """A source that the answer rests on."""

    id: str
    kind: str
    """`MEMORY.md`, fact, narrative or message."""
    text: str
    session: str
    path: str
    lines: tuple[int, ...]
    event_at: datetime | None
    ref: str = ""
    """The whole id, as in the tables."""
    said_by: str = ""
    """Who said it; empty for a line of MEMORY.md."""


@dataclass(frozen=True)
class AnswerSource(Citation):
    """Something in memory that an answer can cite by its id."""

    score: float = 1.0
    whole: str = ""
    """The whole message that `text` is cut from; may be empty."""
    context: str = ""
    """What it is read with: the message that it answers, or that a memory was quoted from."""
    is_answered: bool = False
    """Whether it is a person's message, and what the assistant answered is a source, too."""

    @property
    def day(self) -> date:
        """When it was said; a line of MEMORY.md holds now."""
        return self.event_at.date() if self.event_at else date.max

    @property
    def spoken(self) -> str:
        """What stands before a quoted sentence: who said it, and when."""
        on = f", {self.event_at:%Y-%m-%d}" if self.event_at else ""
        return f"{self.said_by}{on}: " if self.said_by else ""

    @property
    def line(self) -> str:
        """The source as it is shown to a model."""
        on = f"{self.event_at:%Y-%m-%d}, " if self.event_at else ""
        by = f", said by {self.said_by}" if self.said_by else ""
        return f"[{self.id}] ({on}{self.kind}{by}) {one_line(self.text, CHARS_A_SOURCE)}"


def sources_of(
    result: Recalled, wholes: Mapping[str, str] = MappingProxyType({})
) -> list[AnswerSource]:
    """Returns a result of recall, cited as `mem_` or `msg_` and twelve characters, and the other
    half of its exchange; `wholes` are the texts of messages by their ids.
    """
    is_message = result.kind == MESSAGE
    shorten = short_message_id if is_message else short_id
    lines = result.lines[:1] if is_message and result.other_half else result.lines
    where = (result.session, result.path, lines, result.event_at, result.memory_id)
    what = (shorten(result.memory_id), result.kind, result.text)
    source = AnswerSource(*what, *where, result.said_by, result.score)
    source = replace(source, whole=wholes.get(source.ref, ""))
    half = result.other_half
    if half is None:
        return [source]
    id = half.message_id
    what = (short_message_id(id), MESSAGE, half.text)
    where = (result.session, result.path, (half.line,), result.event_at, id)
    beside = AnswerSource(*what, *where, half.said_by, result.score, wholes.get(id, ""))
    first, last = (source, beside) if half.relation == "answered by" else (beside, source)
    is_answered = is_message and last.said_by == ASSISTANT
    asked = replace(first, is_answered=is_answered)
    reply = replace(last, context=first.whole or first.text)
    return [asked, reply] if first is source else [reply, asked]


def lines_about(question: str, content: str) -> list[AnswerSource]:
    """Returns the lines of MEMORY.md with nearly all terms of the question."""
    terms = set(query_terms(question))
    sources: list[AnswerSource] = []
    for number, line in enumerate(content.splitlines(), 1):
        text = LIST_MARK.sub("", line.strip())
        share = len(terms.intersection(text_terms(text))) / max(len(terms), 1)
        if share >= SURE and not line.startswith("#"):
            where = ("", MEMORY_MD, (number,), None)
            sources.append(AnswerSource(f"{MEMORY_MD}:{number}", MEMORY_MD, text, *where))
    return sources
