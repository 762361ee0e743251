"""Recognises questions, also those that a person types without a question mark."""

import re

_QUESTION = re.compile(
    r"(?i)(?<!, right)\?\W*$|^(?:what|why|how|where|who|is|are|does|did|can|could|would"
    r"|should)\b(?!.*[.!]$)"
)


def is_question(sentence: str) -> bool:
    """Returns whether the sentence is a question; a statement with "right?" behind it is not."""
    return _QUESTION.search(sentence) is not None
