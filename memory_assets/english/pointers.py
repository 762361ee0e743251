"""Tells whether words say themselves what they are about, or point at something outside of them."""

import re

_DEIXIS = r"(?:this|these|those)\b(?! (?:repo\w*|project|codebase|package|service|app|team)\b)"

LOOSE_START = re.compile(
    r"(?i)^(?:needs?|is|are|has|was|should|its?|he|she|they|their|both|which|here|that|there(?! "
    rf"(?:should|must|may) be no\b)|{_DEIXIS}|(?:the )?(?:same|other))\b"
)
"""The subject is missing, or somewhere else."""

_POINTS = re.compile(
    rf"(?i)\b(?:it|them|they|(?:this|that|these|the (?:\w+ )?) ?ones?|{_DEIXIS}|accordingly|else"
    r"|the (?:first|second|third)(?! \w)|the (?:previous|last|next|other) \w+"
    r"|that(?=\W*$|,| [–—]| again| for)|(?:in|on|at|to|for|with|of|do|make) that)\b"
)
"""A word for something that has to come before it in the sentence, in another clause."""

_CLAUSE = re.compile(r"(?i)[,;:.] |\b(?:without|and|or|but|before|after|when|if|unless|that)\b")

_BROKEN = re.compile(
    r"(?i)[,:;–—-]$|^`[^`]*`$|^[^\w`\"'(~/.@#$]|,\s*[,:;]|:\s*,|\b(?:above|below)(?:,|$)"
    r"|\bthe following\b|\b(?:and|or|the|an?|to|of|with|for|because|but|in|on|by|from|instead)$"
)
"""Begins or ends within a sentence, or points to another text."""

DEFINITE = r"(?:the|this|that|my|your|it|them|any|anything)\b"
"""Begins the name of one thing at hand, not of a kind."""


def is_whole(words: str) -> bool:
    """Returns whether the words begin and end as a sentence does."""
    return _BROKEN.search(words.rstrip(".! ")) is None


def stands_alone(words: str) -> bool:
    """Returns whether the words are a whole sentence that points at nothing outside of it."""
    if LOOSE_START.match(words) or not is_whole(words):
        return False
    pointer = _POINTS.search(words)
    if pointer is None:
        return True
    earlier = words[: pointer.start()]
    return _CLAUSE.search(earlier) is not None and len(earlier.split()) > 2
