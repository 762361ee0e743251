"""Decides whether a sentence is durable enough for MEMORY.md, and how it reads there.

Most of what a session says is right and outdated by next week. It stays a memory that recall finds, but must not become a line
of MEMORY.md. Each rule has a name, which is the reason that a person reads. What a second session repeats is no task and no
chat, though it may still be a momentary state.
"""

import re

_SAID = re.compile(r"^The owner (?:decided|wants|corrected|prefers|said): “(?P<said>.+?)”?\.?$", re.DOTALL)
_AGREED = re.compile(r"\s*(?:\(|: )the owner(?: decided| corrected)?:? “(?P<said>[^”]*)”\)?\.?$", re.IGNORECASE)
_IS_RULE = re.compile(
    r"(?i)\b(?:always|never|from now on|every time|by default|prefers?|must|should not|shouldn't|do not|don't|remember)\b"
)
_IS_CHOICE = re.compile(r"\b(?:instead of|rather than|not on|only (?:use|in|with)|no longer)\b", re.IGNORECASE)
_TASK = re.compile(
    r"(?i)^(?:(?:ok|okay|yes|yep|yeah|na|no|and|so|now|then|also|please|the other thing is|just noticed)\b[\s,:]*)*"
    r"(?:let'?s|let me|we also|i need|i'd go|i'm|can you|could you|put|remove|add|review|note|do|make|createa?|start|open|"
    r"bump|cut|fix|rename|update|skip|leave|disable|enable|for --|continue|turn|merge|push|commit|write|check|run|fail|"
    r"drop|move|keep|stop|try|test)\b"
)
_MOMENTARY = re.compile(
    r"(?i)\b(?:is|are) (?:now )?green\b|\bahead and \d+ behind\b|^(?:PR|Issue|Branch) (?:opened|created|merged)|"
    r"^(?:Removed|Added|Fixed|Bumped|Bump|Done|Renamed|Updated|Created|Skip|Start|Continue)\b|\bis already kicking in\b|"
    r"\badvanced to\b|\b(?:gaps|work) (?:left|is done)\b|\bnow (?:works|fails|passes|failing|passing)\b|\bnow fails too\b"
)
_PLACE = re.compile(r"\b[\w/-]+\.\w{1,4}:\d+|\bcommit [0-9a-f]{7,}|(?<![\w`/.-])`?[0-9a-f]{8}[0-9a-f]*`?(?![\w/.-])")
_REFERS = re.compile(
    r"(?i)^(?:it|this|that|these|those|they|he|she|the (?:fix|issue|problem|change|changes|error|bug|new tests?|memo|branch|"
    r"allowed list|real fix|old code|owner's)|for a|if direct|root cause(?: found)?: the (?:error|problem|issue) is)\b|"
    r"\bso the (?:issue|fix|problem|real)\b|\bthe (?:fix|cause) is to\b|\bWP\d"
)
_OPTION = re.compile(r"\bNot: |\(Recommended\)|\b(?:Worth doing here too)\b", re.IGNORECASE)
_FRAGMENT = re.compile(
    r"^\S+ — (?:which|that)\b|^(?:a|an|the) \w+ (?:with|of|for|without) (?:this|that|these|those)\b", re.IGNORECASE
)
_DEFECT = re.compile(
    r"(?i)\binstead of the (?:required|expected|correct|intended)\b|\bsurfaces? in\b|\bcontract gap\b|\bpapers? over\b|"
    r"^(?:this|that|it) is a regression\b"
)
_WAS = re.compile(r"^(?:The|Our) (?:issue|problem|cause|reason|root cause) was (?:that )?(?=\S)", re.IGNORECASE)
SHORT_ANSWER_WORDS = 4
FEWEST_WORDS = 4


def line_of(said: str) -> str:
    """Returns the sentence as a line of MEMORY.md: the decision, without who agreed to it and how."""
    text = said.strip()
    quoted = _SAID.match(text)
    if quoted:
        return _capital(quoted["said"].rstrip("…").strip())
    agreed = _AGREED.search(text)
    if agreed and len(text[: agreed.start()]) > len(agreed["said"]) / 2:
        text = text[: agreed.start()].rstrip(" :")
    return _capital(_WAS.sub("", text)) if agreed or _WAS.match(text) else text


def why_short_lived(said: str, *, is_repeated: bool = False) -> str | None:
    """Returns why the sentence is short-lived, or None; `said` is the memory's own wording."""
    quoted, agreed, line = _SAID.match(said), _AGREED.search(said), line_of(said)
    if _PLACE.search(line):
        return "points at a line or commit that moves on"
    if _MOMENTARY.search(line):
        return "tells a state that passes"
    if len(line.split()) < FEWEST_WORDS or _FRAGMENT.match(line):
        return "is a fragment that says nothing alone"
    if is_repeated:
        return None
    if _DEFECT.search(line):
        return "tells what was wrong, not what holds"
    if _OPTION.search(said) or (agreed and len(agreed["said"].split()) < SHORT_ANSWER_WORDS and "—" in line):
        return "an option that was picked; what it answers is not said"
    if _IS_RULE.search(line) or (not quoted and _IS_CHOICE.search(line)):
        return None
    if (quoted or agreed) and _TASK.match(line):
        return "asks for something to be done in that session"
    if quoted:
        return "is what somebody said in a conversation, not a statement"
    if _REFERS.search(line):
        return "leans on what was said before it"
    return None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
