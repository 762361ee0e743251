"""Recognises the request for one task, which says nothing about later sessions.

An errand begins with the base form of a verb for something that is done once: commit, open, fix.
"""

import re

TASK = (
    "commit|push|merge|rebase|open|create|run|check|look|tell|show|read|review|test|try|fix|find"
    "|add|apply|write|update|change|remove|make|move|rename|start|continue|explain|document|list"
)
"""Base forms of verbs that ask for one task."""

_ERRAND = re.compile(
    rf"(?i)^(?:{TASK}|stop(?! \w+ing)|do(?! not| it| that| we| you)|lets?|c(?:an|ould) you"
    r"|i(?:'d like| want| need) to)\b"
)

_CONTENT = re.compile(
    r"(?i)^((?!change|make|run)[^:]*?(?::| [-–—]) |.*?\b(?:an?|fix the) [\w -]+?(?:that|which) ).+"
)
"""What is to be written, or what a new thing does: "Add a hook that runs before every commit"."""


def without_content(words: str) -> str:
    """Returns a request without the content of what it asks for; other words as they are."""
    return _CONTENT.sub(r"\1", words) if is_errand(words) else words


def is_errand(words: str) -> bool:
    """Returns whether the words begin as a request for one task does."""
    return _ERRAND.match(words) is not None
