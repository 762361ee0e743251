"""Recognises a sentence that names the cause of something, or a reason for it."""

import re

CAUSE = re.compile(
    r"(?i)^(?!so if\b|if\b).*(?:(?<!\ba )\b(?:(?:root|actual|real|underlying) (?:cause|problem"
    r"|bug))\b[^.;,]*?(?:\b(?:is|was|were)\b|:)|\b(?:is|was|were) caused by\b|\bcame from\b"
    r"|\b(?:failed|broke|crashed|hung|leaked|grew) because\b)"
)


def gives_reason(text: str) -> bool:
    """Returns whether the text has a word that introduces a reason."""
    words = text.lower()
    return "because" in words or "reason" in words
