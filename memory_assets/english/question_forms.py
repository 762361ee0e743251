"""Tells questions from statements and orders. A polite request ("could you …?") is an order."""

import re

_REQUEST = re.compile(r"(?i)^\W*(?:\w+\W+){0,2}?(?:can|could|would|will) (?:you|we)\b")
_OPENING = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|ok(?:ay)?|also|wait)\W+)*"
    r"(?:why|what(?:'?s)?|how|where|which|who|(?:is|are|does|did|do|should|shall) "
    r"(?:it|that|this|there|we|you|i|the)\b)(?! (?:i|we) (?:want|need))\b"
)
"""How a question begins that may lack its mark."""


def is_request(sentence: str) -> bool:
    """Returns whether the sentence asks somebody politely to do something."""
    return _REQUEST.match(sentence) is not None


def is_question(sentence: str) -> bool:
    """Returns whether the sentence asks something, and asserts nothing."""
    if is_request(sentence):
        return False
    return sentence.rstrip("\"')* ").endswith("?") or _OPENING.match(sentence) is not None
