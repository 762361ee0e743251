"""Folds a message into the memory that says the same, so that no answer says it twice.

The message that a memory was quoted from is shown with the memory, as far as it says more. Another
message that repeats the memory word for word and says no more is left out.
"""

from collections.abc import Sequence
from dataclasses import replace

from memory_assets.stages.recall.results import MESSAGE, OtherHalf, Recalled
from memory_assets.text.excerpts import CUT
from memory_assets.text.terms import query_terms, text_terms
from memory_assets.text.words import squeezed

SAYS_IT = 0.8
"""A memory says the same as a message if it has at least this share of the message's terms."""

IN_SOURCE = 2 / 3
"""Share of a memory's terms that is in the message from which it was quoted."""


def says_same(memory: str, message: str, share: float = SAYS_IT) -> bool:
    """Returns whether the memory has that share of the terms of the message."""
    terms = set(query_terms(message))
    return len(terms.intersection(text_terms(memory))) >= share * len(terms)


def fold_messages(results: Sequence[Recalled]) -> list[Recalled]:
    """Returns the results without messages that one of the memories says; a memory has the first of
    its own messages that says more beside it.
    """
    memories = [result for result in results if result.kind != MESSAGE]
    folded = set[str]()
    sources: dict[str, Recalled] = {}
    for message in results:
        if message.kind != MESSAGE:
            continue
        for memory in memories:
            is_source = _is_source(message, memory)
            if is_source or _repeats(message, memory):
                folded.add(message.memory_id)
            if is_source and not says_same(memory.text, message.text):
                sources.setdefault(memory.memory_id, message)
    return [
        _with_source(result, sources.get(result.memory_id))
        for result in results
        if result.memory_id not in folded
    ]


def _is_source(message: Recalled, memory: Recalled) -> bool:
    """Returns whether the memory was quoted from what is shown of the message; a message may only
    have confirmed it.
    """
    is_behind = message.session == memory.session and message.lines[0] in memory.lines
    return is_behind and says_same(message.text, memory.text, IN_SOURCE)


def _repeats(message: Recalled, memory: Recalled) -> bool:
    is_quote = squeezed(memory.text.lower()) in squeezed(message.text.lower())
    return is_quote and says_same(memory.text, message.text)


def _with_source(memory: Recalled, message: Recalled | None) -> Recalled:
    """Returns the memory with what the message says beside it."""
    if message is None:
        return memory
    text = squeezed(message.text.replace(memory.text, CUT))
    about = (message.said_by, text.replace(f"{CUT} {CUT}", CUT), message.lines[0])
    return replace(memory, other_half=OtherHalf(message.memory_id, "from", *about))
