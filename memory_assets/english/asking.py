"""Recognises questions, also those that a person types without a question mark.

A polite request ("could you …?") is an order, though it has the form of a question.
"""

import re

_QUESTION = re.compile(
    r"(?i)(?<!, right)\?\W*$|^(?:what|why|how|where|who|is|are|does|did|can|could|would"
    r"|should)\b(?!.*[.!]$)"
)
_REQUEST = re.compile(r"(?i)^\W*(?:\w+\W+){0,2}?(?:can|could|would|will) (?:you|we)\b")
_OPENING = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|ok(?:ay)?|also|wait)\W+)*"
    r"(?:why|what(?:'?s)?|how|where|which|who|(?:is|are|does|did|do|should|shall) "
    r"(?:it|that|this|there|we|you|i|the)\b)(?! (?:i|we) (?:want|need))\b"
)
"""How a question begins that may lack its mark."""


def is_question(sentence: str) -> bool:
    """Returns whether the sentence is a question; a statement with "right?" behind it is not."""
    return _QUESTION.search(sentence) is not None


def only_asks(sentence: str) -> bool:
    """Returns whether the sentence asks something, and neither asserts nor requests anything."""
    if _REQUEST.match(sentence):
        return False
    return sentence.rstrip("\"')* ").endswith("?") or _OPENING.match(sentence) is not None
