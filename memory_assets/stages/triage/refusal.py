"""Decides which proposals rules may reject because of their words: those that are too vague or
passing.

Each rule has a name, which is the reason that a person reads. No rule rejects a durable statement
of the owner, because its wording does not show whether it holds. What leans on something else is
not refused: it waits with a question. A statement that a second session repeats is no report of one
session's work, but it may still point at a line or commit.
"""

import re

from memory_assets.schema.protocols import Row
from memory_assets.stages.reflect import durable
from memory_assets.stages.triage.wording import holds_in_general, line_of

_ARTEFACT = re.compile(
    r"(?i)^(?:add (?:this )?after|replace (?:this|the (?:line|text|following))"
    r"|insert (?:this|the following)|see (?:above|below))\b"
)
_NEXT = re.compile(r"(?i)^\W*(?:next(?: \w+)?|to-?dos?|tbd|open \w+|follow-?ups?)\s*[:–—-]")
_MOMENTARY = re.compile(
    r"(?i)\b(?:is|are) (?:now )?(?:green|red)\b|\b\d+ (?:ahead|behind)\b"
    r"|\bnow (?:work|fail|pass)\w*"
)
_PLACE = re.compile(
    r"\b[\w/-]+\.\w{1,4}:\d+|\bcommit [0-9a-f]{7,}|(?<![\w`/.-])`?[0-9a-f]{8}[0-9a-f]*`?(?![\w/.-])"
)
_QUESTION = re.compile(r"\?[”\")]*$")
_FRAGMENT = re.compile(r"[:,;]$")
FEWEST_WORDS = 4
SHORT_ANSWER_WORDS = 4

VAGUE = "too vague"
PASSES = "passes"


def why_refused(proposal: Row, *, is_repeated: bool, shortest: int) -> str | None:
    """Returns why the words of a proposal are refused without a person, or None.

    `is_repeated`: a second session says it. One that a person reworded is checked for its length
    and artefacts alone.
    """
    text = proposal["text"]
    original = proposal.get("said", text)
    if _ARTEFACT.match(text):
        return "an instruction artefact, not a fact"
    if len(text.strip()) < shortest:
        return f"{VAGUE}: shorter than {shortest} characters"
    if text != line_of(original) or durable.is_durable({**proposal, "text": original}):
        return None
    return _why_vague(original) or _why_passing(original, is_repeated=is_repeated)


def _why_vague(original: str) -> str | None:
    words = durable.own_words(original)
    if _QUESTION.search(words):
        return f"{VAGUE}: an open question"
    if _NEXT.match(words):
        return f"{VAGUE}: a note of what comes next"
    line = line_of(original)
    if len(line.split()) < FEWEST_WORDS or _FRAGMENT.search(words):
        return f"{VAGUE}: a fragment that says nothing alone"
    answer = durable.answer_in(original)
    if answer is not None and len(answer.split()) < SHORT_ANSWER_WORDS and "—" in line:
        return f"{VAGUE}: an option that was picked; what it answers is not said"
    return None


def _why_passing(original: str, *, is_repeated: bool) -> str | None:
    line = line_of(original)
    if _PLACE.search(line):
        return f"{PASSES}: points at a line or commit that moves on"
    if _MOMENTARY.search(line):
        return f"{PASSES}: a state of the moment"
    if is_repeated:
        return None
    if durable.is_passing(original):
        return f"{PASSES}: reports what was done"
    words = durable.own_words(original)
    is_quotation = words != original.strip()
    if is_quotation and not holds_in_general(line, words):
        return f"{PASSES}: a task of that session"
    return None
