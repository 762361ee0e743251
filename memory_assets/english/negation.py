"""Contrasts and exclusions: "use uv, not pip" denies one of two things and keeps the first."""

import re

CONTRAST = r"(?:, (?:not|never|no)|,? instead of|,? rather than) (?!yet\b|now\b|sure\b|only\b)\S"
"""What is not meant, behind what is meant."""

_ALTERNATIVE = re.compile(CONTRAST, re.I)
_NEVER_THAT = re.compile(
    r"(?i)^(?!.*\b(?:was|were|had|did)\b).*, (?:and )?never (?!(?:again|mind|seen|been|had)\b)\S"
)


def contrasts(words: str) -> bool:
    """Returns whether the words name something beside what is meant instead of it."""
    return _ALTERNATIVE.search(words) is not None


def excluded(words: str) -> str:
    """Returns what is not meant, up to the next comma; empty where nothing is contrasted."""
    contrast = _ALTERNATIVE.search(words)
    return words[contrast.end() - 1 :].split(",")[0] if contrast else ""


def excludes_forever(words: str) -> bool:
    """Returns whether a statement ends in what never holds: "at dusk, never at dawn"."""
    return _NEVER_THAT.search(words) is not None
