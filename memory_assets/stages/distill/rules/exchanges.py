"""Groups a window into exchanges: a turn of the owner and the assistant's replies until the next turn.

Takes the messages of a window; returns exchanges with their sentences. Tool calls and their results are not read: they are
quoted material.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_assets.stages.distill.rules.voices import own_paragraphs
from memory_assets.text.sentences import STRAIGHT, Sentence, split_message, split_sentences

Row = dict[str, Any]

_TRAILS_OFF = re.compile(r"…|(?<=[a-z ])\.{2,}(?=[a-z]|\s|$)|\.{3,}(?=\s|$)")
"""Two dots end a thought, but not in a path such as "../docs"."""

_WRAPPED = re.compile(r"(?<=[^\n]{60})\n[ \t]{2,}(?=\S)")
"""A line break that a terminal inserted."""


@dataclass(frozen=True, slots=True)
class AssistantReply:
    """One text message of the assistant."""

    message: Row
    sentences: tuple[Sentence, ...]
    is_closing: bool
    """The last one before the owner's next turn."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn of the owner, if there is one, and the assistant's replies."""

    message: Row | None
    owner_sentences: tuple[str, ...]
    replies: tuple[AssistantReply, ...] = ()

    @property
    def closing(self) -> AssistantReply | None:
        """The assistant's last reply."""
        return self.replies[-1] if self.replies else None

    @property
    def said(self) -> str:
        """The owner's own words, in one line."""
        return " ".join(self.owner_sentences)


def parse_exchanges(messages: Sequence[Row]) -> list[Exchange]:
    """Returns the exchanges of the window in order; only the first may lack a turn of the owner."""
    found: list[tuple[Row | None, list[Row]]] = [(None, [])]
    for message in messages:
        if message["is_user_turn"] and message["author"] == "owner":
            found.append((message, []))
        elif message["author"] == "assistant" and message["kind"] == "text":
            found[-1][1].append(message)
    return [_exchange(turn, replies) for turn, replies in found if turn or replies]


def owner_sentences(text: str) -> tuple[str, ...]:
    """Returns the sentences that the owner typed in a turn; people end them with dots, line breaks, or two dots."""
    found = []
    for paragraph in own_paragraphs(text):
        for line in _WRAPPED.sub(" ", paragraph).splitlines():
            for piece in _TRAILS_OFF.split(line.translate(STRAIGHT)):
                found += split_sentences(" ".join(piece.split()))
    return tuple(found)


def _exchange(turn: Row | None, replies: list[Row]) -> Exchange:
    parsed = [AssistantReply(row, tuple(split_message(row["text"])), row is replies[-1]) for row in replies]
    return Exchange(turn, owner_sentences(turn["text"]) if turn else (), tuple(parsed))
