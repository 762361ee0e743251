"""Says who said a result: a person, an assistant, or somebody else whose text a person pasted.

A person's turn may contain text that others wrote: mails, logs, reviews and documents are pasted
into it. If the rules of distillation attribute less than half of a passage to the person, it is
shown as pasted and is not found by the person's name.
"""

from memory_assets.schema.protocols import Row
from memory_assets.stages.distill.authorship import typed_paragraphs
from memory_assets.text.words import squeezed

PASTED = "pasted"
"""Author of a pasted passage."""

OWN_SHARE = 0.5
"""Least share of a passage, in characters, that is the person's own."""


def said_by(row: Row) -> str:
    """Returns who said a memory or a message."""
    person = row["person"] or "owner"
    named = {"owner": person, PASTED: f"pasted by {person}", "subagent": "sub-agent"}
    return named.get(row["author"], row["author"])


def author_of(passage: Row) -> str:
    """Returns the author of a passage: `PASTED` for one in an owner's turn that is not the owner's
    words.
    """
    span = (passage["whole"], passage["char_from"], passage["char_to"])
    is_others = passage["author"] == "owner" and is_pasted(*span)
    return PASTED if is_others else passage["author"]


def is_pasted(turn: str, start: int, end: int) -> bool:
    """Returns whether the span of the turn is mostly text that the owner did not write."""
    own = squeezed("\n".join(typed_paragraphs(turn)))
    lines = [line for line in map(squeezed, turn[start:end].splitlines()) if line]
    own_chars = sum(len(line) for line in lines if line in own)
    return own_chars < OWN_SHARE * sum(map(len, lines))
