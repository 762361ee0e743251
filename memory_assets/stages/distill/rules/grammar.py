"""Finds what a sentence of the owner lays down or states, by its grammar: orders, wishes, corrections, decisions, declarations.

Takes a sentence that the owner typed; returns its speech acts with the words that perform them. An order holds in general: it
says always, never, each time, must, or forbids something. A wish prefers one thing. A correction puts one thing in the place
of another. A decision says so. A declaration has a concrete subject, a verb in the present, and an exact value. Questions,
errands, hedged and hypothetical remarks, reports of trouble, words of others, and words without their referent are none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_assets.stages.distill.items import strength_of
from memory_assets.stages.distill.rules.candidates import FactKind
from memory_assets.text.sentences import plain
from memory_assets.text.words import specifics_in, stems_of

LEAST_NAMED = 3
"""Content words, exact names counted once more, that a text needs to say what it is about."""


@dataclass(frozen=True, slots=True)
class SpeechAct:
    """What a sentence does, what that is worth to a later session (0 to 1), and the words that do it."""

    kind: FactKind
    worth: float
    words: str


_TASKS = (
    r"commit|push|merge|open|create|run|check|look|show|tell|explain|review|read|test|try|fix|start|see|find|help|add|write|update"
    r"|change|set|remove|rename|move|make|let|go(?! with)|continue|implement|build|wait|deploy|verify|ask|talk|think|discuss"
)
ERRAND = re.compile(
    rf"(?i)^(?:{_TASKS}|stop(?! \w+ing)|do(?! not| it| that)|(?:can|could) you|i(?:'d like| want| need) (?:you )?to)\b"
)
"""Begins as a request for one task does."""

RELAYS = re.compile(
    r"(?i)(?<!\bi )(?<!\bwe )\b(?:says|said|wrote|told|claims?|suggests?|recommends?|according to|thinks)\b"
    r"|\b(?:comments?|feedback|reviews?|mail|ticket|logs?)\b[^.]{0,30}:\s"
)
"""Words of somebody else."""

_DEIXIS = r"(?:this|these|those)\b(?! (?:repo\w*|project|codebase|package|service|app|team|machine)\b)"
LOOSE_START = re.compile(rf"(?i)^(?:it|its|he|she|they|their|both|which|there|here|that|{_DEIXIS}|(?:the )?(?:same|other))\b")
"""The subject is somewhere else."""

_OPENING = re.compile(
    r"(?i)^(?:[-*•]\s+|(?:ok(?:ay)?|oh|hm+|so|and|but|also|well|yes|yeah|please|sorry|good|thanks?|btw|actually|now|then)\b"
    r"[\s,.:;!-]*|(?:note that|remember(?: that)?|[\w ]{0,20}\b(?:record|thing|note|rule|reminder|decision):) "
    r"|(?:no|nope)\b(?:\s*[,.:;!]+\s*|\s+(?=(?:it|we|the|use|not)\b)))+(?=\S)"
)
_REPEATS = re.compile(
    r"(?i)^(?:(?:i(?:'ve| have)?(?: already)? (?:told you|said|asked you)|(?:as|like) i (?:said|told you))(?: (?:again|before"
    r"|already|this|that|twice|many|times)\b)*\s*[:,;.-]+\s*|i(?:'ve| have)?(?: already)? (?:told|asked) you (?:that |to )?"
    r"|how (?:often|many times)\b[^:?]*[:?]\s*|again\s*[:,]\s*)(?=\S)"
)
_ASIDE = re.compile(r"(?i)(?:[,;]\s*(?:and |but |so )?|\s+(?:and|but|so) )(?=please\b|(?:did|do|is|are|why)\b[^,;]*\?$)")
"""Where an errand or a question follows a statement."""

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
_QUESTION = re.compile(
    r"(?i)(?<!, right)\?\s*$|^(?:what|why|how|where|which|who|is|are|does|did|can|could|would|should|do you)\b(?!.*[.!]$)"
)
_UNCLEAR = re.compile(
    r"(?i)[,:;–—-]$|^[^\w`\"'(~/.@#$]|,\s*[,:;]|:\s*,|\b(?:above|below)$|\bthe following\b"
    r"|\b(?:and|or|the|an?|to|of|with|for|because|but|in|on|by|from|instead)$"
)
"""Begins or ends in the middle of a sentence, or points to another text."""

_POINTS = re.compile(
    rf"(?i)\b(?:it|them|they|the (?:first|second|last|(?:\w+ )?ones?)|{_DEIXIS}|(?:that|there)(?=\W*$|,| again))\b"
)
"""A word that stands for something, which has to come before it in the sentence, in another clause."""

_CLAUSE = re.compile(r"(?i)[,;:.] |\b(?:without|and|or|but|before|after|when|if|unless|until|so|because|while)\b")

_UNREAL = re.compile(
    r"(?i)^(?:suppose|imagine|assum(?:e|ing)|say|let's say)\b|\bwould(?! (?:rather|prefer))\b|^if\b(?!.*\b(?:always|never)\b)"
    r"|\b(?:for now|right now|at the moment|this time|just this once|today|tonight|tomorrow|yesterday|yet|until (?:i|we))\b"
)
"""Is supposed, or holds for the moment."""

_TROUBLE = re.compile(
    r"(?i)\b(?:fail\w*|crash\w*|br[eo]ak\w*|broken?|errors?|bugs?|wrong|hangs?|stuck|slow\w*|flaky|missing|lost|leak\w*|gone|i"
    r"|nothing|too(?= \w)|(?:does|did|is|was|wo)n'?t|forget|disappears?|warnings?|still)\b|/tmp/|^(?:the|my|your) (?:\w+ )?"
    r"(?:issue|problem|question|point|thing|idea|reason|result|output|fix|answer|rest|plan|goal|commit|pr|branch)\b"
)
"""In a statement: a report of what happens at the moment."""

_NOT_TOLD = r"(?!(?:mind|again|have to|heard|seen|been|had|got|knew|saw|did|was|\w{3,}ed)\b)[a-z]+"
"""After always or never: no past tense, which tells a story."""

_CHOOSE = r"(?:use|prefer|call|name|put|keep|write|go with|stick (?:to|with))\b"
_NOT = r"(?:,? (?:and )?(?:not|never)(?! (?:yet|now|sure|only|just|too|because)\b)|,? instead of|,? rather than) \S"
_CORRECTS = re.compile(
    rf"(?i)(?:^|[,;:.] ){_CHOOSE}[^;]{{1,60}}?{_NOT}|^(?:instead of|rather than|not(?! (?:now|yet|only))|don'?t {_CHOOSE}) "
    rf"[^,;.]+[,;.] (?:but |just )?{_CHOOSE}"
)
_ORDERS = re.compile(
    rf"(?i)\b(?:from now on|going forward|as a rule|at all times)\b|(?:^|[,;:.] |\b(?:and|but|so|please|we|must|should|may) )"
    rf"(?:always|never(?: ever)?) {_NOT_TOLD}|^ask (?:me |first )*before \w"
)
_FORBIDS = re.compile(
    r"(?i)^(?:(?:do not|don'?t) (?:ever )?(?!worry|forget|mind|know|think|see|get|understand)(?!.*\b(?:just|any)\b)\w+ \S"
    r"|avoid \w|stop \w+ing \S|no more \w|no \w[^,;.]*,? (?:ever|anywhere|allowed)\b)|^(?!i\b|must\b).*\b(?:must"
    rf"|may (?:not|only)|(?:should(?:n'?t)?|(?:needs?|has|have) to)(?! (?:not )?(?:work|pass|{_TASKS}|be (?:fine|good|enough"
    r"|done|fixed|able))\b)) (?!have\b|be (?:an?|the)\b)\w+"
)
"""Forbids or demands; in a turn that gives an errand, it says how this errand is done."""

_PREFERS = re.compile(
    rf"(?i)^(?!.*\b(?:want|like) (?:you|an?|it|this|that|some|one|my|to (?:{_TASKS}))\b)(?:i|we)(?:'d| would)? (?:really )?"
    r"(?:prefer(?! if\b)|rather|like [^,;]+ (?:better|more) than|(?:do not|don'?t) want(?! to\b)|want|(?<='d )like) \S"
)
_DECIDES = re.compile(
    r"(?i)^(?:i|we|the team)(?: have|'ve)? (?:decided|agreed|chose) |^we(?:'re)? (?:mov|switch|migrat|renam|replac)(?:ed|ing) "
    rf"|^(?:(?:let'?s|we'll|we will) (?!(?:{_TASKS}|not|say|get)\b)|go with |stick to )\w+(?!.* (?:option|your)\b)"
)
_LAYS_DOWN = re.compile(
    rf"(?i)\b(?:\w+[^s]s (?:always|never) {_NOT_TOLD}|(?:is|are) (?:always|never|not allowed|forbidden|mandatory)\b|(?:before"
    r"|after|on|with|for|per) (?:each|every) (?:push|commit|pr|merge|release|deploy\w*|(?:\w+ )?change|session|build|run)\b)"
    r"|^(?:each|every|all|no|nobody|no one)\b[^,;:]*? (?:must|needs?|gets?|has to|have to|should|goes|may|belongs?) \S"
    r"|^(?:(?:in|for|on) [\w .`/-]+ |[\w ]+: )?we (?:also |still |now )?(?:(?:do not |don'?t |have )?(?:used?|support|follow)"
    r"|don'?t (?:do|need)|are (?:also|only|not|an?) |deploy|store|only (?!have|need|got)\w+) \S"
    r"|^(?:whenever|(?:every|each) time|when) (?:you|\w+ing) [^,]+, (?!(?:it|the|we|you|there|everything|an?)\b)\w"
)
"""Says how things are done; the same words may report trouble."""

_DECLARES = re.compile(
    r"(?i)^(?P<subject>(?:(?:the|our|my|an?|this) )?(?:[\w`'./@:+-]+ ){0,5}?[\w`'./@:+-]+) (?:also |only |now |still )?"
    r"(?:(?P<owns>(?:owns|maintains|reviews|approves|belongs? to)|(?:is|are) (?:responsible|in charge|called|named|owned by))"
    r"|(?:is|are)(?! (?:now |still )?\w+ing\b)|has(?! (?:to|been|\w+ed)\b)|(?:(?<=s )|(?=\w+s\b))(?:listen|run|live|goe?|use"
    r"|require|expect|contain|read|write|point|default|depend|support|accept|take|start|stay|arrive)s?)\b (?P<value>.+)$"
)
_NO_SUBJECT = re.compile(r"(?i)\b(?:you|he|she|it|they|there|that|what|who|where|how|why|if|and|but|(?:each|every) \d+)\b")
_NAME = re.compile(r"(?<=[a-z,] )(?!\w+day\b)[A-Z][a-z]+")


def acts_in(sentence: str, *, is_errand: bool = False) -> Iterator[SpeechAct]:
    """Yields the speech acts of the sentence; `is_errand` if the turn begins with a request for one task."""
    text = plain(sentence)
    parts = _ASIDE.split(text, maxsplit=1)
    for part in parts if len(stems_of(parts[0])) > 1 else [text]:
        words = _OPENING.sub("", part).strip()
        bare = _REPEATS.sub("", words)
        if is_clear(bare) and not _is_unreal(bare):
            act = _act(bare, is_errand)
            if bare != words and (act or not (_TROUBLE.search(bare) or ERRAND.match(bare))):
                act = SpeechAct("rule", 1.0, bare)  # nothing is worth more than what had to be repeated
            if act:
                yield act


def is_question(sentence: str) -> bool:
    """Returns whether the sentence is a question; a statement with "right?" behind it is not."""
    return bool(_QUESTION.search(sentence))


def is_clear(words: str) -> bool:
    """Returns whether the words are a whole sentence that names what it is about."""
    if _UNCLEAR.search(words.rstrip(".! ")) or LOOSE_START.match(words):
        return False
    points = _POINTS.search(words)
    before = words[: points.start()] if points else ""
    is_named = points is None or (bool(_CLAUSE.search(before)) and len(stems_of(before)) > 1)
    return is_named and len(stems_of(words)) + min(specifics_in(words), 1) >= LEAST_NAMED


def strip_opening(text: str) -> str:
    """Returns the text without the words that only open a turn, such as "ok, so"."""
    return _OPENING.sub("", plain(text))


def _is_unreal(words: str) -> bool:
    """Returns whether the words ask, suppose, doubt, pass on what somebody else said, or hold for the moment only."""
    said = _QUOTED.sub(" ", words)
    is_doubted = strength_of(said, is_owners=True) != "explicit" or is_question(words)
    return is_doubted or bool(_UNREAL.search(said) or RELAYS.search(said))


def _act(words: str, is_errand: bool) -> SpeechAct | None:
    said = _QUOTED.sub(" ", words)
    is_calm = not _TROUBLE.search(said)
    found: tuple[tuple[FactKind, float, object], ...] = (
        ("correction", 0.95, _CORRECTS.search(said)),
        ("rule", 0.95, _ORDERS.search(said) or (not is_errand and _FORBIDS.match(said))),
        ("preference", 0.85, _PREFERS.match(said)),
        ("decision", 0.85, _DECIDES.match(said)),
        ("rule", 0.9, is_calm and _LAYS_DOWN.search(said)),
        ("fact", 0.8, is_calm and _declares(said)),
    )
    return next((SpeechAct(kind, worth, words) for kind, worth, is_one in found if is_one), None)


def _declares(said: str) -> bool:
    """Returns whether the words state something durable about a concrete subject."""
    found = _DECLARES.match(said)
    if not found or ERRAND.match(said) or _NO_SUBJECT.search(found["subject"]):
        return False
    return bool(found["owns"] or re.search(_NOT, found["value"]) or specifics_in(found["value"]) or _NAME.search(said))
