"""Reads a window as exchanges: one turn of the owner, and all that the assistant said until the next one.

Takes the messages of a window; gives exchanges with their sentences cut. Tool calls and their results belong to the
exchange but are not read: they are quoted material.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_assets.stages.distill.rules.voices import own_paragraphs
from memory_assets.text.sentences import STRAIGHT, Sentence, split_message, split_sentences

Row = dict[str, Any]

_TRAILS_OFF = re.compile(r"…|(?<=[a-z ])\.{2,}(?=[a-z]|\s|$)|\.{3,}(?=\s|$)")
"""Two dots end a thought; those of "../docs" belong to a path."""

_WRAPPED = re.compile(r"(?<=[^\n]{60})\n[ \t]{2,}(?=\S)")
"""Where a terminal broke a long line."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One text message of the assistant."""

    row: int
    message: Row
    sentences: tuple[Sentence, ...]
    is_closing: bool
    """The last one before the owner speaks again: what the owner answers to."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn of the owner, or the silence before the first one, and the assistant's replies."""

    row: int
    message: Row | None
    owner_sentences: tuple[str, ...]
    replies: tuple[Reply, ...] = field(default=())

    @property
    def closing(self) -> Reply | None:
        """The assistant's last words."""
        return self.replies[-1] if self.replies else None

    @property
    def said(self) -> str:
        """The owner's own words, in one line."""
        return " ".join(self.owner_sentences)


def read_exchanges(messages: Sequence[Row]) -> list[Exchange]:
    """Returns the exchanges of the window in order."""
    found: list[Exchange] = []
    turn: tuple[int, Row] | None = None
    replies: list[tuple[int, Row]] = []
    for row, message in enumerate(messages):
        if message["is_user_turn"] and message["author"] == "owner":
            if turn or replies:
                found.append(_exchange(turn, replies))
            turn, replies = (row, message), []
        elif message["author"] == "assistant" and message["kind"] == "text":
            replies.append((row, message))
    if turn or replies:
        found.append(_exchange(turn, replies))
    return found


def owner_sentences(text: str) -> tuple[str, ...]:
    """Returns the sentences that the owner typed in a turn; people end them with dots, breaks, or two dots."""
    found = []
    for paragraph in own_paragraphs(text):
        for line in _WRAPPED.sub(" ", paragraph).splitlines():
            for piece in _TRAILS_OFF.split(line.translate(STRAIGHT)):
                found += split_sentences(" ".join(piece.split()))
    return tuple(found)


def _exchange(turn: tuple[int, Row] | None, replies: list[tuple[int, Row]]) -> Exchange:
    last = len(replies) - 1
    read = tuple(
        Reply(row, message, tuple(split_message(message["text"])), number == last)
        for number, (row, message) in enumerate(replies)
    )
    if turn is None:
        return Exchange(replies[0][0], None, (), read)
    return Exchange(turn[0], turn[1], owner_sentences(turn[1]["text"]), read)
