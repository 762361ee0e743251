"""Tells the language of a text by its small words or its script: enough to see that two texts
differ.
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
"""Share of letters from which a text is in that script."""


def language_of(text: str) -> str:
    """Returns a short name of the language or script; empty if the text has too few small words."""
    bare = _CODE.sub(" ", text)
    letters = sum(map(str.isalpha, bare))
    for name, script in _SCRIPTS:
        if letters and len(script.findall(bare)) >= SCRIPT_SHARE * letters:
            return name
    words = [word.lower() for word in _WORD.findall(bare)]
    counts = {name: sum(word in small for word in words) for name, small in _SMALL_WORDS.items()}
    best, count = max(counts.items(), key=lambda entry: entry[1])
    is_clear = count >= FEWEST_WORDS and all(
        count > other for name, other in counts.items() if name != best
    )
    return best if is_clear else ""
