"""Recognises the language of a text by its small words or its script.

This is precise enough to see that two texts have different languages.
"""

import re

from memory_assets.text.patterns import words_beside

FEWEST_WORDS = 2
"""Small words of a language that a text needs."""

_SMALL_WORDS = words_beside(__file__)
_WORD = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"`[^`\n]*`|\S*[/_\\.]\S+")
_SCRIPTS = (
    ("cjk", re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")),
    ("cyrillic", re.compile(r"[\u0400-\u052f]")),
    ("greek", re.compile(r"[\u0370-\u03ff]")),
    ("arabic", re.compile(r"[\u0590-\u06ff]")),
)
SCRIPT_SHARE = 0.3
"""A text with this share of its letters in a script is in that script."""


def language_of(text: str) -> str:
    """Returns a short name of the language or script; empty if the text has too few small words."""
    bare = _CODE.sub(" ", text)
    letters = sum(map(str.isalpha, bare))
    for name, script in () if bare.isascii() else _SCRIPTS:
        if letters and len(script.findall(bare)) >= SCRIPT_SHARE * letters:
            return name
    words = [word.lower() for word in _WORD.findall(bare)]
    counts = {name: sum(word in small for word in words) for name, small in _SMALL_WORDS.items()}
    best, count = max(counts.items(), key=lambda entry: entry[1])
    is_tie = list(counts.values()).count(count) > 1
    return best if count >= FEWEST_WORDS and not is_tie else ""
