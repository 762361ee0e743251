"""Finds the causes that the assistant found and verified.

Takes exchanges; returns candidates with the assistant as author. A cause is kept if its sentence is
clear on its own, and the assistant states afterwards that it was verified, or the owner that the
remedy works.
"""

import re
from collections.abc import Iterator, Sequence

from memory_assets.stages.distill.items import strength_of
from memory_assets.stages.distill.rules.candidates import FACT_CHARS, Candidate, candidate_of
from memory_assets.stages.distill.rules.exchanges import Exchange
from memory_assets.stages.distill.rules.grammar import is_clear, is_question
from memory_assets.stages.distill.rules.instructions import is_directive

VERIFIED_CAUSE = 0.85
"""Worth of a cause that was verified."""

CAUSE = re.compile(
    r"(?i)^(?!so if\b|if\b).*(?:(?<!\ba )\b(?:root cause|(?:actual|real|underlying) (?:cause"
    r"|problem|bug))\b[^.;,]*?(?:\b(?:is"
    r"|was|were)\b|:)|\b(?:is|was|were) caused by\b|\bcame from\b|\b(?:failed|broke|crashed"
    r"|hung|leaked|grew) because\b)"
)
_VERIFIED = re.compile(
    r"(?i)\b(?:verified|confirmed|passe[sd]|tests? pass|(?:it|now) works|fixed it|(?:is"
    r"|are) (?:gone|fixed|green|back))\b"
)
_UNDONE = re.compile(
    r"(?i)\b(?:not|\w+n't|unverified|let me|i'?ll|will|should|needs?|to be|if|once|until"
    r"|before)\b|\?$"
)
SPEAKS = re.compile(r"(?i)(?<![\w'`./-])(?:i|i'\w+|me|my|you|your|you'\w+|let's)(?![\w'`/-])")
"""First or second person: unclear outside of the conversation."""


def find_causes(exchanges: Sequence[Exchange]) -> Iterator[Candidate]:
    """Yields the verified causes of all replies, in order."""
    for number, exchange in enumerate(exchanges):
        after = exchanges[number + 1 : number + 2]
        said = [
            (r, s.text) for each in (exchange, *after) for r in each.replies for s in r.sentences
        ]
        answer = [each.said for each in after]
        for place, (reply, text) in enumerate(said):
            later = [*answer, *(t for _, t in said[place:])]
            is_cause = reply in exchange.replies and CAUSE.match(text) and is_statement(text)
            if is_cause and any(_VERIFIED.search(t) and not _UNDONE.search(t) for t in later):
                yield candidate_of(
                    "root_cause", VERIFIED_CAUSE, text, text, reply.message, author="assistant"
                )


def is_statement(text: str) -> bool:
    """Returns whether the sentence states something, orders nothing, and is clear outside of the
    conversation.
    """
    is_spoken = text[:1].islower() or SPEAKS.search(text) or is_question(text) or is_directive(text)
    return (
        len(text) <= FACT_CHARS
        and not is_spoken
        and is_clear(text)
        and strength_of(text, is_owners=False) == "explicit"
    )
