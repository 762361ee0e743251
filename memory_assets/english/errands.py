"""Recognises the request for one task, which says nothing about later sessions.

An errand begins with the base form of a verb for something that is done once: commit, open, fix.
"""

import re

from memory_assets.english.moods import is_statement
from memory_assets.english.openings import strip_opening
from memory_assets.english.standing import lasts, orders_always, recurs

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
    r"(?i)^((?!change|make|run)[^:]*?[:–—-] |.*?\b(?:an?|fix the) [\w -]+?(?:that|which) ).+"
)
"""What is to be written, or what a new thing does: "Add a hook that runs before every commit"."""

_PLANNED = re.compile(r"(?i)^(?:switch|mention)\b|\b(?:i['’]ll|let me|i['’]m going to)\b")


def without_content(words: str) -> str:
    """Returns a request without the content of what it asks for; other words as they are."""
    return _CONTENT.sub(r"\1", words) if is_errand(words) else words


def is_errand(words: str) -> bool:
    """Returns whether the words begin as a request for one task does."""
    return _ERRAND.match(words) is not None


def is_to_do(sentence: str) -> bool:
    """Returns whether the sentence only says what is to be done once, by whomever."""
    words = strip_opening(sentence)
    is_rule = orders_always(words) or lasts(words) or recurs(words)
    is_once = is_errand(words) and not is_statement(words)
    return not is_rule and (is_once or _PLANNED.search(words) is not None)
