"""Tells a statement from an order or a permission, by the grammar of an English sentence.

A statement has a thing as its subject, and a finite verb: "The token expires after a day". An
imperative is an order; so is what must or may be done, and what people, agents or all things of a
kind do: "Every session starts with the mirror". What cannot be told is an order.
"""

from memory_assets.text.patterns import patterns_beside

_PATTERNS = patterns_beside(__file__)


def is_statement(sentence: str) -> bool:
    """Returns whether the sentence only says what is or was."""
    words = _PATTERNS["label"].sub("", sentence.strip())
    if _PATTERNS["directive"].search(words) or _PATTERNS["order_behind"].search(words):
        return False
    main = _PATTERNS["circumstance"].sub("", words)
    if _PATTERNS["practice"].match(main):
        return False
    clause = _PATTERNS["subordinate"].split(main, maxsplit=1)[0]
    return _PATTERNS["statement"].match(clause) is not None
