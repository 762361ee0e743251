"""Finds the causes that the assistant found and verified.

Takes exchanges; returns candidates with the assistant as author. A cause is kept if its sentence is clear on its own,
and the assistant states afterwards that it was verified, or the owner that the remedy works.
"""

import re
from collections.abc import Sequence

from memory_assets.stages.distill.items import strength_of
from memory_assets.stages.distill.rules.candidates import FACT_CHARS, Candidate, candidate_of
from memory_assets.stages.distill.rules.exchanges import Exchange
from memory_assets.stages.distill.rules.grammar import is_clear, is_question

VERIFIED_CAUSE = 0.85
"""Worth of a cause that was verified."""

CAUSE = re.compile(
    r"(?i)\broot cause|\b(?:actual|real|underlying) (?:cause|problem|bug|reason)\b|\b(?:is|was|were) caused by\b|\bcame from\b"
    r"|\b(?:failed|broke|crashed|hung|leaked|grew) because\b"
)
_VERIFIED = re.compile(
    r"(?i)\b(?:verified|confirmed|passe[sd]|tests? pass|works (?:now|again)|now works|(?:is|are) (?:gone|fixed|green|back))\b"
)
_UNDONE = re.compile(r"(?i)\b(?:not|\w+n't|unverified|let me|i'?ll|will|should|needs?|to be|if|once|until|before)\b|\?$")
_WORKS = re.compile(r"(?i)^(?:\w+[,.! ]+){0,3}?(?:(?:it|that) (?:works|worked|fixed it)|works|fixed|solved)\b")
SPEAKS = re.compile(r"(?i)(?<![\w'`./-])(?:i|i'\w+|me|my|you|your|you'\w+|let's)(?![\w'`/-])")
"""First or second person: unclear outside of the conversation."""


def find_causes(exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the verified causes of all replies, in order."""
    found: list[Candidate] = []
    for number, exchange in enumerate(exchanges):
        after = exchanges[number + 1 : number + 2]
        said = [(reply, s.text) for each in (exchange, *after) for reply in each.replies for s in reply.sentences]
        works = any(_WORKS.match(each.said) for each in after)
        for place, (reply, text) in enumerate(said):
            is_cause = CAUSE.search(text) and is_statement(text) and reply in exchange.replies
            if is_cause and (works or any(_VERIFIED.search(t) and not _UNDONE.search(t) for _, t in said[place:])):
                found.append(candidate_of("root_cause", VERIFIED_CAUSE, text, text, reply.message, author="assistant"))
    return found


def is_statement(text: str) -> bool:
    """Returns whether the sentence states something that is clear outside of the conversation."""
    is_plain = len(text) <= FACT_CHARS and is_clear(text) and not SPEAKS.search(text) and not is_question(text)
    return is_plain and strength_of(text, is_owners=False) == "explicit"
