"""Words by which a sentence says that what it names was removed, or is not to be used."""

import re

_REMOVED = r"(?:remov|delet|dropp|renam|replac)"
_PASSIVE = re.compile(
    rf"(?:[\s,`'\"*/)]+(?!wh|that\b)[\w-]+(?:\.\w+)*){{0,10}}?[`'\")]*\s*(?:\(|\s\w{{0,3}}[sen]\s){_REMOVED}ed\b"
)
_BECAME = re.compile(r"[`'\")]*\s+(?:moved|became|was split)\b")
_OBJECT = re.compile(
    rf"\b(?i:{_REMOVED}ed|(?:mov|renam|chang)ed(?:\s+\w+)?\s+from)\s+(?:(?:the|an?|old)\s+)*[`'\"(]*$"
)
_FORBIDS = re.compile(r"(?i)\b(?:never|not|no|avoid|don't|instead of)\b[^,.;:]*$")
_DENIED = re.compile(r"(?i)\b(?:not|never|be)\s+\w+\s+[\w\s`'\"(]*$")


def is_removed(text: str, start: int, end: int) -> bool:
    """Returns whether the text says that what it names between these places was removed, renamed or
    replaced.
    """
    clause = re.split(r"[.;:]\s", text[:start])[-1]
    is_object = _OBJECT.search(clause) and not _DENIED.search(clause)
    return bool(is_object or _PASSIVE.match(text, end) or _BECAME.match(text, end))


def is_forbidden(text: str, start: int) -> bool:
    """Returns whether the clause in front of the place says that what follows is not to be used."""
    return _FORBIDS.search(text[:start]) is not None
