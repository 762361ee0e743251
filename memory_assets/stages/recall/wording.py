"""Analyses the wording of a question: removes politeness, finds exact names, and resolves what a
vague one refers to.

Takes the words of a question and of the messages before it; uses no model.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from memory_assets.stages.distill.items import entities_of
from memory_assets.text.visible import printable
from memory_assets.text.words import STOP, squeezed

CHARS_A_MESSAGE = 1_000
RARE_TERMS = 6
FEW_WORDS = 4
"""A question with "it" and at most so many content words refers to the conversation before it."""

Frequency = Callable[[str], int]
"""The number of texts of the memory that have a word."""

_GREETING = re.compile(
    r"^\W*(?:(?:hi|hello|hey|hiya|yo|good (?:morning|afternoon|evening)|dear)\b"
    r"(?: (?:there|all|everyone|team|claude|codex|pi|agent|assistant|memory|again))*[\s,.!:;-]+)+",
    re.I,
)
_POLITE = re.compile(
    r"(?:,\s*)?\b(?:please|pls|plz|thank you(?: (?:so|very) much)?(?: in advance)?"
    r"|thanks(?: a (?:lot|bunch|million))?(?: in advance)?|many thanks|thx|cheers|if you "
    r"(?:don'?t|do not) mind|if possible"
    r"|by the way|btw|no rush|sorry(?: to (?:bother|ask)[^,.?!]*)?|when you have a (?:moment"
    r"|minute|second|sec))\b[,!.]?",
    re.I,
)
_OPENING = re.compile(
    r"^\W*(?:(?:so|ok(?:ay)?|well|now|um+|uh+|hmm+|right|also|alright|just)\b[\s,.:;-]+"
    r"|(?:a |one )?(?:quick|short|small|silly|stupid|dumb) (?:question|one)\b[\s,.:;-]*"
    r"|(?:i have|i'?ve got|got) (?:a|another|one more) (?:\w+ )?question\b[\s,.:;-]*"
    r"|(?:can|could|would|will) you (?:(?:maybe|quickly|also|just) )?"
    r"(?:tell me|remind me|show me|look up|find out|check|help me (?:find"
    r"|remember))\b[\s,:-]*(?:if|whether|about|of)?\b\s*"
    r"|(?:do|would) you (?:happen to )?(?:know|remember|recall)\b[\s,:-]*(?:if|whether)?\b\s*"
    r"|(?:tell|remind) me\b[\s,:-]*(?:again )?(?:if|whether|about|of)?\b\s*"
    r"|i(?:'d| would) (?:like|love) to know\b[\s,:-]*(?:if|whether)?\b\s*"
    r"|i(?:'m| am| was)? (?:just )?wonder(?:ing)?\b[\s,:-]*(?:if|whether|about)?\b\s*"
    r"|(?:any|do you have any) idea\b[\s,:-]*(?:if|whether)?\b\s*)",
    re.I,
)
_POINTING = re.compile(
    r"\b(?:it|its|that|this|those|these|them|they|their|theirs|ones?|there|he|she|him|her"
    r"|same|former|latter|again)\b",
    re.I,
)
_LEANING = re.compile(
    r"^\W*(?:and|or|but|what about|how about|which|why|when|where|who|how|what)\b", re.I
)
_NAMED = re.compile(
    r"\b(?:that|this|these|those|there|its|their)\s+(?!one\b|ones\b|is\b|was\b|are\b|were\b"
    r"|again\b|\W)\w{3,}",
    re.I,
)
""""That file" names what it refers to."""

_TOKEN = re.compile(r"[\w@#~$%+-][\w./:@#~$%+-]*\w|\w")
_EXACT = re.compile(r"\d|[_/\\@#$]|\w\.\w|^--?\w|[a-z][A-Z]")
TALK = STOP | frozenset(
    """
    able anything ask asked asking again around because better bit different else everything file
    files fine first found getting give given goes going gone good great happen happened help here
    idea important instead keep kind know last later least less like little look looking looks lot
    mean might mind much never next nothing often once one ones perhaps point possible pretty put
    question quite rather remember right said same say says see seem seems show since someone
    something soon start started still stuff such sure take tell thanks then thing things think
    though thought today together told tomorrow took tried try trying turn understand until use used
    using very wait way week went whole why without wonder work working works worth would wrong yes
    yesterday yet
    """.split()
)
"""Words with little meaning of their own."""


def in_context(
    question: str, recent: Sequence[str] = (), frequency: Frequency | None = None
) -> tuple[str, str]:
    """Returns the question without politeness, and the rare words of the last messages that a vague
    one refers to.
    """
    cleaned = clean(squeezed(question))
    terms = rare_terms(recent, cleaned, frequency) if recent and is_vague(cleaned) else ()
    return cleaned, " ".join(terms)


def one_line(text: str) -> str:
    """Returns the text on one line, without unprintable characters."""
    return squeezed(printable(text, " "))


def clean(question: str) -> str:
    """Returns the question without greetings, politeness and opening phrases; unchanged where
    nothing would be left.
    """
    text = squeezed(_POLITE.sub(" ", question))
    before = None
    while before != text:
        before, text = text, _OPENING.sub("", _GREETING.sub("", text), count=1).strip()
    text = re.sub(r"\s+([?!.,;])", r"\1", squeezed(text)).strip(" ,;:-")
    keeps_names = set(exact_names(question)) <= set(exact_names(text))
    return text if keeps_names and re.search(r"\w", text) else question


def is_vague(question: str) -> bool:
    """Returns whether the question refers to something that it does not name."""
    own = list(_content_words(question))
    if not own:
        return True
    if exact_names(question) or len(own) > FEW_WORDS:
        return False
    is_pointing = _POINTING.search(_NAMED.sub(" ", question))
    return bool(is_pointing or (len(own) == 1 and _LEANING.search(question)))


def rare_terms(
    recent: Sequence[str], question: str, frequency: Frequency | None = None
) -> tuple[str, ...]:
    """Returns the most telling words of the last messages, in their order there.

    Exact names come first, then words of few memories (a word of none is no use), then longer
    words.
    """
    known = {word.lower() for word in _content_words(question)}
    words = [
        (number, word)
        for number, message in enumerate(recent)
        for word in _content_words(message[-CHARS_A_MESSAGE:])
    ]
    latest = {word.lower(): (word, number, place) for place, (number, word) in enumerate(words)}
    ranked = [
        ((-number // 2, not _EXACT.search(word), count, -len(word), place), word, place)
        for low, (word, number, place) in latest.items()
        if low not in known and (count := frequency(low) if frequency else 1)
    ]
    best = sorted(sorted(ranked)[:RARE_TERMS], key=lambda one: one[2])
    return tuple(word for _, word, _ in best)


def exact_names(text: str) -> tuple[str, ...]:
    """Returns the paths, flags, versions, numbers and identifiers in the text."""
    words = (found[0].strip("./:") for found in _TOKEN.finditer(text))
    exact = filter(_EXACT.search, words)
    entities = (name for name in entities_of(text) if " " not in name and name in text)
    return tuple(dict.fromkeys([*exact, *entities]))


def _content_words(text: str) -> Iterator[str]:
    """Yields the words that say what a text is about."""
    for found in _TOKEN.finditer(text):
        word = found[0].strip("./:-+%")
        is_long = len(word) > 2 or (len(word) == 2 and (_EXACT.search(word) or word.isupper()))
        if is_long and word.lower() not in TALK:
            yield word
