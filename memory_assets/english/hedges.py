"""Words by which a sentence is not meant as a fact: guesses, doubts, ideas and suppositions."""

import re

_HEDGE = re.compile(
    r"(?i)\b(?:i (?:don'?t )?(?:think|guess|suppose|suspect)|(?:not |un)sure|maybe|perhaps"
    r"|probably|possibly|presumably|apparently|arguably|likely|seems?|looks like|wonder\w*)\b"
)
"""The speaker is not certain, whoever it is."""

_DOUBT = re.compile(
    r"(?i)\b(?:might|could|wish|think about|(?:sort|kind) of|feel like|should (?:we|i)|what if"
    r"|would (?!rather|prefer|only|like|not))\b|^(?:suppose|imagine|let's say|say,)|\?\s*$"
)
"""In the words of a person: a question, an idea, or something that would be."""


def is_hedged(text: str) -> bool:
    """Returns whether the text says that it may be wrong."""
    return _HEDGE.search(text) is not None


def is_doubtful(text: str) -> bool:
    """Returns whether a person guesses, asks, doubts or supposes, and so lays nothing down."""
    return is_hedged(text) or _DOUBT.search(text) is not None
