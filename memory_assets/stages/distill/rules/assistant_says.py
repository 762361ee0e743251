"""Finds the causes that the assistant found and verified.

Takes exchanges; returns candidates with the assistant as author. A cause is kept if its sentence is
clear on its own, and the assistant states afterwards that it was verified, or the owner that the
remedy works.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from memory_assets.english.asking import is_question
from memory_assets.english.causes import CAUSE
from memory_assets.english.hedges import is_hedged
from memory_assets.stages.distill.rules import candidates
from memory_assets.stages.distill.rules.exchanges import AssistantReply, Exchange
from memory_assets.stages.distill.rules.grammar import is_clear
from memory_assets.stages.distill.rules.instructions import is_directive

VERIFIED_CAUSE = 0.85
"""Worth of a cause that was verified."""

_VERIFIED = re.compile(
    r"(?i)\b(?:verified|confirmed|(?:tests? )?pass(?:e[sd])?|(?:it|now) works|fixed it"
    r"|(?:is|are) (?:gone|fixed|green|back))\b"
)
_UNDONE = re.compile(
    r"(?i)\b(?:not|\w+n't|unverified|let me|i'?ll|will|should|needs?|to be|if|once|until)\b|\?$"
)
_SPEAKS = re.compile(r"(?i)(?<![\w'`./-])(?:i|i'\w+|me|my|you|your|you'\w+|let's)(?![\w'`/-])")
"""First or second person: unclear outside of the conversation."""


def find_causes(exchanges: Sequence[Exchange]) -> Iterator[candidates.Candidate]:
    """Yields the verified causes of all replies, in order."""
    for exchange, following in zip_longest(exchanges, exchanges[1:]):
        spoken = _spoken(exchange)
        later = [*_spoken(following), (None, following.said)] if following else []
        for place, (reply, text) in enumerate(spoken):
            is_cause = CAUSE.match(text) is not None and is_statement(text)
            if is_cause and any(
                _is_verified(sentence) for _, sentence in (*spoken[place:], *later)
            ):
                yield candidates.candidate_of(
                    "root_cause", VERIFIED_CAUSE, text, text, reply.message, author="assistant"
                )


def _spoken(exchange: Exchange) -> list[tuple[AssistantReply, str]]:
    """Returns the sentences of the replies."""
    replies = exchange.replies
    return [(reply, sentence.text) for reply in replies for sentence in reply.sentences]


def is_statement(text: str) -> bool:
    """Returns whether the sentence states something, orders nothing, and is clear outside of the
    conversation.
    """
    is_spoken = text[:1].islower() or _SPEAKS.search(text) or is_question(text)
    is_sure = not (is_spoken or is_directive(text) or is_hedged(text))
    return is_sure and len(text) <= candidates.FACT_CHARS and is_clear(text)


def _is_verified(text: str) -> bool:
    return bool(_VERIFIED.search(text)) and not _UNDONE.search(text)
