"""Finds what a sentence of the owner lays down or states, by its grammar: orders, wishes,
corrections, decisions, declarations.

Takes a sentence that the owner typed; returns its speech acts with the words that perform them. An
order holds in general: it says always, never, each time, must, or forbids something. A wish prefers
one thing. A correction puts one thing in the place of another. A decision says so. A change of
state says what is no longer used. A declaration has a concrete subject, a verb in the present, and
an exact value. Questions, errands, hedged and hypothetical remarks, reports of trouble, words of
others, and words without their referent are none.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memory_assets.english.changes import read_state_changes
from memory_assets.stages.distill.items import strength_of
from memory_assets.stages.distill.rules.candidates import FactKind
from memory_assets.text.sentences import plain
from memory_assets.text.words import specifics_in, stems_of

LEAST_NAMED = 3
"""Content words, exact names counted once more, that a text needs to say what it is about."""


class SpeechAct(NamedTuple):
    """What a sentence does, what that is worth to a later session (0 to 1), and the words that do
    it.
    """

    kind: FactKind
    worth: float
    words: str


_TASKS = (
    r"commit|push|merge|rebase|squash|open|create|run|check|look|tell|read|review|test|try"
    r"|fix|find|add|apply|write|rewrite|port"
    r"|update|change|remove|make|cover|mention|adjust|lets?"
)
ERRAND = re.compile(
    rf"(?i)^(?:{_TASKS}|stop(?! \w+ing)|do(?! not| it| that| we| you)|c(?:an|ould) you"
    r"|i(?:'d like| want| need) to)\b"
)
"""Begins as a request for one task does."""

RELAYS = re.compile(
    r"(?i)(?<!\bi )(?<!\bwe )\b(?:says|said|wrote|told|recommends?)\b|\b(?:mail|ticket"
    r"|log)s?\b.{0,30}:\s"
)
"""Words of somebody else."""

_DEIXIS = r"(?:this|these|those)\b(?! (?:repo\w*|project|codebase|package|service|app|team)\b)"
LOOSE_START = re.compile(
    r"(?i)^(?:needs?|is|are|has|was|should|its?|he|she|they|their|both|which|there(?! "
    r"(?:should|must|may) be no\b)|here"
    rf"|that|{_DEIXIS}|(?:the )?(?:same|other))\b"
)
"""The subject is missing, or somewhere else."""

_OPENING = re.compile(
    r"(?i)^(?:[-*•]\s+|(?:ok(?:ay)?|al?right|hm+|omf?g|ffs|so|and|but|also|yes|yeah|please"
    r"|sorry|good|thanks?|btw|actually|now|then)\b[\s,.:;!-]*"
    r"|(?:note that|[\w ]{0,20}\b(?:record|thing|note|rule):) |no(?:pe)?\b(?:\s*[,.:;!]+\s*"
    r"|\s+(?=(?:it|we|use|not)\b)))+(?=\S)"
)
_REPEATS = re.compile(
    r"(?i)^(?:(?:i(?:'ve| have)?(?: already)? (?:told you|said)|as i said)(?: (?:again"
    r"|before|already|twice)\b)*\s*[:,;.-]+\s*"
    r"|i(?:'ve| have)?(?: already)? (?:told|asked) (?:every ?one of |all of )?you(?: (?:that"
    r"|to)\b|:)? ?"
    r"|i said that [^:]+: ?|how (?:often|many times)\b[^:?]*[:?]\s*)(?=\S)"
)
_ASIDE = re.compile(
    r"(?i)(?:[,;]\s*(?:and |but |so )?|\s+(?:and|but|so) )(?=please\b|(?:did|do|is|are"
    r"|why)\b[^,;]*\?$)"
)
"""Where an errand or a question follows a statement."""

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
_QUESTION = re.compile(
    r"(?i)(?<!, right)\?\s*$|^(?:what|why|how|where|is|are|does|did|can|could|would"
    r"|should)\b(?!.*[.!]$)"
)
_UNCLEAR = re.compile(
    r"(?i)[,:;–—-]$|^`[^`]*`$|^[^\w`\"'(~/.@#$]|,\s*[,:;]|:\s*,|\b(?:above|below)$|\bthe "
    r"following\b|^\w+s (?:the|an?|its|back"
    r"|no)\b|\b(?:and|or|the|an?|to|of|with|for|because|but|in|on|by|from|instead)$"
)
"""Begins or ends in the middle of a sentence, or points to another text."""

_POINTS = re.compile(
    rf"(?i)\b(?:it|them|they|the (?:first(?! (?!of\b)\w)|(?:\w+ )?ones?)|{_DEIXIS}|accordingly"
    r"|the same (?:spot|place|way|thing)|the (?:previous|last|next) (?:commit|change|step|pr|run)"
    r"|that(?=\W*$|,| [–—]| again| for)|(?:in|on|at|to|for|with|of|do|make) that)\b"
)
"""A word that stands for something, which has to come before it in the sentence, in another clause.
"""

_CLAUSE = re.compile(
    r"(?i)[,;:.] |\b(?:without|and|or|but|before|after|when|if|unless|until|so|that|because"
    r"|while)\b"
)

_UNREAL = re.compile(
    r"(?i)^(?:suppose|imagine|say|let's say)\b|(?<!\bi )\bwould(?! (?:rather|prefer))\b"
    r"|^if\b(?!.*\b(?:always|never)\b)"
    r"|\b(?:for now|right now|this time|just this once|today|tonight|tomorrow|yesterday"
    r"|immediately|yet|until (?:i|we))\b"
)
"""Is supposed, or holds for the moment; a change of state that happened today lasts."""

_TROUBLE = re.compile(
    r"(?i)\b(?:fail\w*|crash\w*|br[eo]ak\w*|broken?|errors?|bugs?|wrong|hangs?|stuck|slow\w*"
    r"|flaky|missing|lost|gone|clean|i"
    r"|too(?= \w)|(?:does|did|is|was|wo)n'?t|disappears?|warnings?|still)\b|/tmp/|^(?:the|my"
    r"|your) (?:\w+ )?(?:issue|problem"
    r"|question|point|thing|idea|reason|result|output|fix|answer|rest|plan|commit|pr|branch)\b"
)
"""In a statement: a report of what happens at the moment."""

_NOT_TOLD = (
    r"(?!(?:mind|again|happen|have to|heard|seen|been|had|got|knew|saw|did|was|\w{3,}ed)\b)[a-z]+"
)
"""After always or never: no past tense, which tells a story."""

_CHOOSE = r"(?:use|prefer|call|name|put|keep|write|go with|stick (?:to|with))\b"
_NOT = (
    r"(?:,? (?:and )?(?:not|never)(?! (?:yet|now|sure|only|just|too|because)\b)|,? instead of"
    r"|,? rather than|, no) \S"
)
_CORRECTS = re.compile(
    rf"(?i)^let'?s \w+ [^;]{{1,60}}? (?:instead of|rather than) \S|(?:^|[,;:.] "
    rf"){_CHOOSE}[^;]{{1,60}}?{_NOT}|^(?:instead of"
    rf"|rather than|not(?! (?:now|yet|only))|don'?t {_CHOOSE}) [^,;.]+[,;.] (?:but |just "
    rf")?{_CHOOSE}"
)
_ORDERS = re.compile(
    r"(?i)\bfrom now on\b|(?:^|[,;:.] |\b(?:and|but|so|please|we|must|should) )(?:always"
    rf"|never(?: ever)?) {_NOT_TOLD}"
)
GENERAL = r"\b(?:every|each|all|any|always|only|no|not|never|without|instead)\b"
_OF_THINGS = r"(?!have\b|be (?:an?|the)\b)\w+"
_NO_TASK = rf"(?!(?:not )?(?:work|pass|ask|{_TASKS}|be (?:fine|good|done))\b){_OF_THINGS}"
"""After should: no single task."""

_FORBIDS = re.compile(
    r"(?i)^(?:(?:do not|don'?t) (?:ever )?(?!worry|forget|mind|know|think"
    r"|see)(?!.*\b(?:just|any)\b)\w+ \S|avoid \w"
    rf"|stop \w+ing \S|no more \w|no \w[^,;.]*,? (?:ever|anywhere)\b"
    rf"|no (?!\w+ne\b|idea|problem|need|rush|worries)\w+(?: \w+){{0,3}}!+$)"
    rf"|^(?!i\b|must\b).*\b(?:must|may (?:not|only)) {_OF_THINGS}|^(?!(?:i|we|you) "
    rf")[^,;:(]*\bshould(?:n'?t)? {_NO_TASK}"
    rf"|^(?=.*{GENERAL})(?!i\b)[^,;:(]*\b(?:should|(?:needs?|has|have) to) {_NO_TASK}"
)
"""Forbids or demands; in a turn that gives an errand, it says how this errand is done.

What we should or need to do is a task, unless it is said of all, of any, of none, or of one thing
only.
"""

_PREFERS = re.compile(
    r"(?i)^(?!.*\b(?:want (?:you|an?|it|this|that|one)|like (?:you|an?|it|this"
    r"|one))\b)(?:(?:i|we)(?:(?:'d| would)? "
    r"(?:really )?(?:prefer(?! if\b)|rather|(?:do not|don'?t) (?:want|like(?= (?:that|how"
    r"|when) \w+ \w))|want(?! to\b)"
    r"|(?<='d )like(?! to\b))| would(?:n'?t| not| just| only) (?!say|know|mind|think|be)\w+)) \S"
)
_DECIDES = re.compile(
    r"(?i)^(?:i|we|the team)(?: have|'ve)? (?:decided|agreed|chose) |^we(?:'re)? (?:mov"
    r"|renam|replac)(?:ed|ing) |^(?:(?:let'?s"
    rf"|we'll|we will) (?:not )?(?={_CHOOSE}|(?:stay|switch|move)\b)|go with |stick to "
    r")\w+(?!.* (?:option|your?)\b)"
)
_LAYS_DOWN = re.compile(
    rf"(?i)\b(?:\w+[^s]s (?:always|never) {_NOT_TOLD}|(?:is|are) (?:always|never|not allowed"
    r"|forbidden)\b|(?:before|after|on"
    r"|with|for) (?:each|every) (?:push|commit|pr|merge|release|deploy\w*|(?:\w+ )?change"
    r"|session|build)\b)"
    r"|^(?:each|every|all|no(?! need)|nobody)\b[^,;:]*? (?:must|needs?|gets?|ha(?:s|ve) to"
    r"|should|goes|may|belongs?) \S"
    rf"|^(?:(?:in|for|on) [\w .`/-]+ |[\w "
    r"]+: )?we (?:also |still |now )?(?:(?:do not |don'?t |have )?(?:used?|support|follow)"
    r"|don'?t (?:do|need)|are (?:also|only"
    r"|not|an?) |deploy|store|only (?!have|need|got)\w+) \S|^(?:whenever|(?:every|each) "
    r"time|when) (?:you|\w+ing) [^,]+, "
    rf"(?!(?:it|the|we|there|an?)\b)\w"
)
"""Says how things are done; the same words may report trouble."""

_DECLARES = re.compile(
    r"(?i)^(?P<subject>(?:(?:the|our|my|an?|this) )?(?:[\w`'./@:+-]+ ){0,5}?[\w`'./@:+-]+) "
    r"(?:also |only |now |still )?(?:(?P<o"
    r"wns>(?:owns|maintains|reviews|approves|belongs? to)|(?:is|are) (?:responsible|called"
    r"|named|owned by))|(?:is|are)(?! "
    r"(?:now |still )?\w+ing\b)|has(?! (?:to|been|\w+ed)\b)|(?:(?<=s )|(?=\w+s\b))(?:listen"
    r"|run|live|goe?|use|require|expect"
    r"|contain|read|write|point|default|depend|support|accept|take|start|stay|arrive)s?)\b "
    r"(?P<value>.+)$"
)
_NO_SUBJECT = re.compile(
    r"(?i)\b(?:you|he|she|it|they|there|that|what|who|where|how|why|if|and|but|(?:each"
    r"|every) \d+)\b"
)
_NAME = re.compile(r"(?<=[a-z,] )(?!\w+day\b)[A-Z][a-z]+")


def acts_in(
    sentence: str, *, is_errand: bool = False, is_named: bool = True
) -> Iterator[SpeechAct]:
    """Yields the speech acts of the sentence; `is_errand` if the turn begins with a request for one
    task.

    Without `is_named` also those whose words do not say what they are about.
    """
    parts = _ASIDE.split(plain(sentence), maxsplit=1)
    for part in parts if len(stems_of(parts[0])) > 1 else [plain(sentence)]:
        words = _OPENING.sub("", part).strip()
        bare = _REPEATS.sub("", words)
        is_said = is_whole(bare) and (is_clear(bare) or not is_named) and not _is_unreal(bare)
        act = _act(bare, is_errand) if is_said else None
        if bare != words and is_said and (act or re.match(rf"(?i){_CHOOSE}", bare)):
            yield SpeechAct("rule", 1.0, bare)  # nothing is worth more than what had to be repeated
        elif act:
            yield act


def is_question(sentence: str) -> bool:
    """Returns whether the sentence is a question; a statement with "right?" behind it is not."""
    return bool(_QUESTION.search(sentence))


def is_whole(words: str) -> bool:
    """Returns whether the words begin and end as a sentence does."""
    return not _UNCLEAR.search(words.rstrip(".! "))


def is_clear(words: str) -> bool:
    """Returns whether the words are a whole sentence that names what it is about."""
    named = (
        len(stems_of(words)) + min(specifics_in(words), 1) + bool(re.match(r"(?i)no .+!$", words))
    )
    return named >= LEAST_NAMED and stands_alone(words)


def stands_alone(words: str) -> bool:
    """Returns whether the words are a whole sentence that points at nothing outside of it."""
    before = words[: points.start()] if (points := _POINTS.search(words)) else ""
    is_named = not points or (_CLAUSE.search(before) is not None and len(stems_of(before)) > 1)
    return is_named and is_whole(words) and not LOOSE_START.match(words)


def strip_opening(text: str) -> str:
    """Returns the text without the words that only open a turn, such as "ok, so"."""
    return _OPENING.sub("", plain(text))


def _is_unreal(words: str) -> bool:
    """Returns whether the words ask, suppose, doubt, pass on what somebody else said, or hold for
    the moment only.
    """
    said = _QUOTED.sub(" ", words)
    unreal = (_QUESTION, RELAYS) if read_state_changes(said) else (_QUESTION, RELAYS, _UNREAL)
    return strength_of(said, is_owners=True) != "explicit" or any(
        one.search(said) for one in unreal
    )


def _act(words: str, is_errand: bool) -> SpeechAct | None:
    said = _QUOTED.sub(" ", words)
    is_calm = not _TROUBLE.search(said)
    found: tuple[tuple[FactKind, float, object], ...] = (
        ("correction", 0.95, _CORRECTS.search(said)),
        ("rule", 0.95, _ORDERS.search(said) or (not is_errand and _FORBIDS.match(said))),
        ("preference", 0.85, _PREFERS.match(said)),
        ("decision", 0.85, _DECIDES.match(said)),
        ("state_change", 0.85, read_state_changes(said)),
        ("rule", 0.9, is_calm and _LAYS_DOWN.search(said)),
        ("fact", 0.8, is_calm and _declares(said)),
    )
    return next((SpeechAct(kind, worth, words) for kind, worth, is_one in found if is_one), None)


def _declares(said: str) -> bool:
    """Returns whether the words state something durable about a concrete subject."""
    found = _DECLARES.match(said)
    if not found or ERRAND.match(said) or _NO_SUBJECT.search(found["subject"]):
        return False
    return bool(
        found["owns"]
        or re.search(_NOT, found["value"])
        or specifics_in(found["value"])
        or _NAME.search(said)
    )
