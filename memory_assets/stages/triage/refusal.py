"""Decides which proposals rules may reject because of their words: those that are too vague or
passing.

Most of what a session says is right and outdated by next week. It stays a memory that recall finds,
but must not become a line of MEMORY.md. Each rule has a name, which is the reason that a person
reads. No rule rejects a durable statement of the owner, because its wording does not show whether
it holds. A statement that a second session repeats is neither a task nor chat, but it may still be
a momentary state.
"""

import re

from memory_assets.schema.protocols import Row
from memory_assets.stages.reflect.durable import answer_in, is_durable, own_words
from memory_assets.stages.reflect.present import what_holds
from memory_assets.stages.triage.wording import line_of

_ARTEFACT = re.compile(
    r"(?i)^(?:add (?:this )?after|replace (?:this|the (?:line|text|following))|"
    r"insert (?:this|the following)|see (?:above|below))\b"
)
_IS_RULE = re.compile(
    r"(?i)\b(?:always|never|from now on|every time|by default|prefers?|must|should not"
    r"|shouldn't|do not|don't|remember"
    r"|instead of|rather than|not on|only (?:use|in|with)|no longer)\b"
)
_TASK = re.compile(
    r"(?i)^(?:(?:ok|okay|yes|yep|yeah|na|no|and|so|now|then|also|please|the other thing is"
    r"|just noticed)\b[\s,:]*)*"
    r"(?:let'?s|let me|we also|i need|i'd go|i'm|can you|could you|put|remove|add|review"
    r"|note|do|make|createa?|start|open|"
    r"bump|cut|fix|rename|update|skip|leave|disable|enable|for --|continue|turn|merge|push"
    r"|commit|write|check|run|fail|"
    r"drop|move|keep|stop|try|test)\b"
)
_NEXT = re.compile(
    r"(?i)^\W*(?:next(?: (?:thing|steps?|up|task))?|to-?dos?|tbd|open (?:question|point)s?"
    r"|follow-?ups?)\s*[:–—-]"
)
_MOMENTARY = re.compile(
    r"(?i)\b(?:is|are) (?:now )?green\b|\bahead and \d+ behind\b|^(?:PR|Issue|Branch) "
    r"(?:opened|created|merged)|"
    r"^(?:Removed|Added|Fixed|Bumped|Bump|Done|Renamed|Updated|Created|Verified|Confirmed"
    r"|Tested|Applied|Skip|Start|Continue)\b|"
    r"\bis already kicking in\b|"
    r"\badvanced to\b|\b(?:gaps|work) (?:left|is done)\b|\bnow (?:works|fails|passes|failing"
    r"|passing)\b|\bnow fails too\b"
)
_PLACE = re.compile(
    r"\b[\w/-]+\.\w{1,4}:\d+|\bcommit [0-9a-f]{7,}|(?<![\w`/.-])`?[0-9a-f]{8}[0-9a-f]*`?(?![\w/.-])"
)
_REFERS = re.compile(
    r"(?i)^(?:it|this|that|these|those|they|he|she|the (?:fix|issue|problem|change|changes"
    r"|error|bug|new tests?|memo|branch|"
    r"allowed list|real fix|old code|owner's)|for a|if direct|root cause(?: found)?: the "
    r"(?:error|problem|issue) is)\b|"
    r"\bso the (?:issue|fix|problem|real)\b|\bthe (?:fix|cause) is to\b|\bWP\d"
)
_OPTION = re.compile(r"\bNot: |\(Recommended\)|\b(?:Worth doing here too)\b", re.IGNORECASE)
_FRAGMENT = re.compile(
    r"^\S+ — (?:which|that)\b|^(?:a|an|the) \w+ (?:with|of|for|without) (?:this|that|these"
    r"|those)\b|[:,;]$",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\?[”\")]*$")
_DEFECT = re.compile(
    r"(?i)\binstead of the (?:required|expected|correct|intended)\b|\bsurfaces? in\b"
    r"|\bcontract gap\b|\bpapers? over\b|"
    r"^(?:this|that|it) is a regression\b"
)
SHORT_ANSWER_WORDS = 4
FEWEST_WORDS = 4

VAGUE, PASSES = "too vague", "passes"


def why_refused(proposal: Row, *, is_repeated: bool, shortest: int) -> str | None:
    """Returns why the words of a proposal are refused without a person, or None.

    `is_repeated`: a second session says it. One that a person reworded is checked for its length
    and artefacts alone.
    """
    text, said = proposal["text"], proposal.get("said", proposal["text"])
    if _ARTEFACT.match(text):
        return "an instruction artefact, not a fact"
    if len(text.strip()) < shortest:
        return f"{VAGUE}: shorter than {shortest} characters"
    if text != line_of(said) or is_durable({**proposal, "text": said}):
        return None
    return _why_passing(said, is_repeated=is_repeated) or _why_vague(said, is_repeated=is_repeated)


def _why_vague(said: str, *, is_repeated: bool) -> str | None:
    answer, line, words = answer_in(said), line_of(said), own_words(said)
    if _QUESTION.search(words):
        return f"{VAGUE}: an open question"
    if _NEXT.match(words):
        return f"{VAGUE}: a note of what comes next"
    if len(line.split()) < FEWEST_WORDS or _FRAGMENT.search(words):
        return f"{VAGUE}: a fragment that says nothing alone"
    if is_repeated or _IS_RULE.search(line):
        return None
    if _OPTION.search(said) or (
        answer is not None and len(answer.split()) < SHORT_ANSWER_WORDS and "—" in line
    ):
        return f"{VAGUE}: an option that was picked; what it answers is not said"
    return f"{VAGUE}: leans on what was said before it" if _REFERS.search(line) else None


def _why_passing(said: str, *, is_repeated: bool) -> str | None:
    line, is_owners = line_of(said), own_words(said) != said.strip()
    if _PLACE.search(line):
        return f"{PASSES}: points at a line or commit that moves on"
    if _MOMENTARY.search(line):
        return f"{PASSES}: a state of the moment"
    if is_repeated:
        return None
    if not what_holds(line):
        return f"{PASSES}: reports what was done"
    if _DEFECT.search(line):
        return f"{PASSES}: what was wrong, not what holds"
    is_task = is_owners and _TASK.match(line) and not _IS_RULE.search(line)
    return f"{PASSES}: a task of that session" if is_task else None
