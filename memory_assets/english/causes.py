"""Recognises a sentence that names the cause of something."""

import re

CAUSE = re.compile(
    r"(?i)^(?!so if\b|if\b).*(?:(?<!\ba )\b(?:(?:root|actual|real|underlying) (?:cause|problem"
    r"|bug))\b[^.;,]*?(?:\b(?:is|was|were)\b|:)|\b(?:is|was|were) caused by\b|\bcame from\b"
    r"|\b(?:failed|broke|crashed|hung|leaked|grew) because\b)"
)
