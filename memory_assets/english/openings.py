"""Strips the words by which a person only opens a sentence: "ok, so", "no,", "I told you:"."""

import re

from memory_assets.text.sentences import plain

_OPENING = re.compile(
    r"(?i)^(?:[-*•]\s+|(?:ok(?:ay)?|al?right|hm+|omf?g|ffs|so|and|but|also|yes|yeah|please|sorry"
    r"|good|great|thanks?|btw|actually|now|then|ah|hi)\b[\s,.:;!-]*"
    r"|(?:note that|[\w ]{0,20}\b(?:record|thing|note|rule):) "
    r"|no(?:pe)?\b(?:\s*[,.:;!]+\s*|\s+(?=(?:it|we|use|not)\b)))+(?=\S)"
)
_REPEATS = re.compile(
    r"(?i)^(?:(?:i(?:'ve| have)?(?: already)? (?:told|asked)(?: every ?one of| all of)? you"
    r"|as i said"
    r"|i(?:'ve| have)?(?: already)? said(?: (?:that|this|it))?)"
    r"(?: (?:again|before|already|twice|that|to)\b)*"
    r"(?: (?:every ?one|each|all) of you\b[^:,;.!?]{0,30}(?=:))?\s*[:,;.-]*\s*"
    r"|how (?:often|many times)\b[^:?]*[:?]\s*)(?=\S)"
)
_DENIES = re.compile(
    r"(?i)^\W*no(?:pe)?\b\s*(?:[,.:;!]|\b(?:just|wait|it|i'?m?|we|you|that|this)\b)"
)

_SHORT_ANSWER = 4
"""Words of an answer that refuses an offer: "no, that is all"."""

_WRONG = re.compile(
    r"(?i)^\W*(?:no\W+)?(?:(?:that|you)\S* (?:\w+ ){0,2})?"
    r"(?:wrong|not right)\b"
)
_WITHDRAWS = re.compile(r"(?i)^(?:(?:scrap|forget|ignore|undo) (?:that|it)|never ?mind)\b(?!\s*\w)")


def strip_opening(text: str) -> str:
    """Returns the text without the words that only open a turn, such as "ok, so"."""
    return _OPENING.sub("", plain(text)).strip()


def strip_repetition(words: str) -> str:
    """Returns the words without the complaint that they were said before."""
    return _REPEATS.sub("", words)


def denies_before(text: str) -> bool:
    """Returns whether the text begins with a "no" to what came before it."""
    return _DENIES.match(text) is not None


def calls_wrong(text: str) -> bool:
    """Returns whether the text begins by saying that what came before it is wrong or not wanted; a
    short "no, thanks" answers an offer.
    """
    is_long = len(text.split()) > _SHORT_ANSWER
    is_wrong = _WRONG.match(text) is not None or withdraws(text)
    return is_wrong or (is_long and denies_before(text))


def withdraws(text: str) -> bool:
    """Returns whether the text begins by taking back what was said or asked for just before:
    "scrap that".
    """
    return _WITHDRAWS.match(strip_opening(text)) is not None
