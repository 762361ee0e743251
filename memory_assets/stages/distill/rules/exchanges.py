"""Groups a window into exchanges: a turn of the owner and the assistant's replies until the next
turn.

Takes the messages of a window; returns exchanges with the sentences that the owner typed. Tool
calls and their results are not read: they are quoted material.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_assets.stages.distill.authorship import blocks_of, sentences_of_blocks, typed_sentences
from memory_assets.text.sentences import Sentence, split_message

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AssistantReply:
    """One text message of the assistant."""

    message: Row
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn of the owner, if there is one, and the assistant's replies."""

    message: Row | None
    owner_sentences: tuple[str, ...]
    replies: tuple[AssistantReply, ...] = ()
    doubtful_sentences: tuple[str, ...] = ()
    """Sentences of the turn that may have been pasted."""

    @property
    def said(self) -> str:
        """The owner's own words, in one line."""
        return " ".join(self.owner_sentences)


def parse_exchanges(messages: Sequence[Row]) -> list[Exchange]:
    """Returns the exchanges of the window in order; only the first may lack a turn of the owner."""
    turns: list[tuple[Row | None, list[AssistantReply]]] = [(None, [])]
    for message in messages:
        if message["is_user_turn"] and message["author"] == "owner":
            turns.append((message, []))
        elif message["author"] == "assistant" and message["kind"] == "text":
            sentences = tuple(split_message(message["text"]))
            turns[-1][1].append(AssistantReply(message, sentences))
    return [_exchange(turn, replies) for turn, replies in turns if turn or replies]


def _exchange(turn: Row | None, replies: Sequence[AssistantReply]) -> Exchange:
    if turn is None:
        return Exchange(None, (), tuple(replies))
    text = turn["text"]
    unsure = [block.text for block in blocks_of(text) if block.writer == "unsure"]
    return Exchange(turn, typed_sentences(text), tuple(replies), sentences_of_blocks(unsure))
