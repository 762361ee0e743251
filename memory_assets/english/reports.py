"""Reports: what goes wrong at the moment, and what somebody else says."""

import re

_TROUBLE = re.compile(
    r"(?i)\b(?:fail\w*|crash\w*|br[eo]ak\w*|broken?|errors?|bugs?|wrong|hangs?|stuck|slow\w*"
    r"|flaky|missing|lost|gone|clean|complain\w*|warnings?|still|i|too(?= \w)"
    r"|(?:does|did|is|was|wo)n'?t|works?)\b|/tmp/"
)
_AT_HAND = re.compile(
    r"(?i)^(?:the|my|your) (?:\w+ )?(?:issue|problem|question|point|idea|reason|result|output|fix"
    r"|answer|plan|commit|pr|branch)\b"
)
"""A thing of the work that goes on, not of the project."""

_RELAYED = re.compile(
    r"(?i)(?<!\bi )(?<!\bwe )\b(?:says|said|wrote|told|recommends?)\b(?! \")"
    r"|\b(?:mail|ticket|log)s?\b.{0,30}:\s"
)


def reports_trouble(words: str) -> bool:
    """Returns whether a statement reports what happens at the moment."""
    return _TROUBLE.search(words) is not None or _AT_HAND.match(words) is not None


def is_relayed(words: str) -> bool:
    """Returns whether the words pass on what somebody else says."""
    return _RELAYED.search(words) is not None
