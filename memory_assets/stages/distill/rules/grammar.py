"""Finds what a sentence of the owner lays down: orders, corrections, wishes, decisions, changes.

Takes a sentence that the owner typed; returns its speech acts. An order is a standing adverb or a
modal verb with a verb and a concrete object. A correction puts one thing in the place of another.
What may hold for one thing or for the moment only has a `doubt`: a person decides about it.
Questions, errands, guesses, reports, words of others, and words without their referent are none.
"""

import re
from typing import NamedTuple

from memory_assets.english import openings
from memory_assets.english.asking import is_question
from memory_assets.english.changes import read_state_changes, states_change
from memory_assets.english.errands import TASK, is_errand, without_content
from memory_assets.english.hedges import is_doubtful
from memory_assets.english.negation import CONTRAST, contrasts, excludes_forever
from memory_assets.english.passing import is_of_the_moment, is_passing_state
from memory_assets.english.pointers import DEFINITE, is_whole, stands_alone
from memory_assets.english.reports import is_relayed, reports_trouble
from memory_assets.english.standing import (
    ALWAYS,
    BASE,
    is_of_all,
    lasts,
    orders_always,
    orders_each_time,
    recurs,
)
from memory_assets.stages.distill.rules.candidates import FactKind
from memory_assets.text.sentences import plain
from memory_assets.text.words import specifics_in, stems_of

LEAST_NAMED = 3
"""Content words, exact names counted once more, that a text needs to say what it is about."""

LONGEST_WISH = 100
"""Characters of a sentence that may lay something down though it orders nothing."""

ONE_THING = "it may be meant for one thing only"
A_WISH = "it may be a wish for the moment"


class SpeechAct(NamedTuple):
    """What a sentence does, what that is worth to a later session (0 to 1), the words that do it,
    and why it may be no rule.
    """

    kind: FactKind
    worth: float
    words: str
    doubt: str = ""


_ASIDE = re.compile(
    r"(?i)(?:[,;]\s*(?:and |but |so )?|\s+(?:and|but|so) )"
    r"(?=please\b|(?:did|do|is|are|why)\b[^,;]*\?$)"
)
"""Where an errand or a question follows a statement."""

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
_CHOOSE = r"(?:use|prefer|call|name|put|keep|write|go with|stick (?:to|with)|stay|switch|poll)"
_CORRECTS = re.compile(
    rf"(?i)(?:^|[,;:.] )(?:let'?s )?{_CHOOSE}\b[^;]{{1,60}}?{CONTRAST}"
    rf"|^(?:instead of|rather than|not(?! now)|(?:never|don'?t|do not) {_CHOOSE}) [^,;.]+[,;.] "
    rf"(?:but |just )?{_CHOOSE}\b"
)
_BAN = (
    r"(?:do not|don'?t)(?: ever)? (?!worry|forget|mind|know|think|see|want|like|need)\w+"
    r"|avoid|stop \w+ing|no more"
)
_FORBIDS = re.compile(rf"(?i)^(?:{_BAN}) (?P<one>{DEFINITE})?")
_LABEL = re.compile(r"(?i)^(?:one more about )?\w+: (?=\w+ \w+ )")
"""Names what a statement is about: "And times: we store UTC only"."""

_IN_ALL = re.compile(r"(?i)\b(?:in|for|from|into|with) [a-z]+s\b")
"""A kind of place: "in tests"."""

_FORBIDS_BEHIND = re.compile(rf"(?i)[;,:.–—] (?:{_BAN}) \S")
_NOTHING_OF = re.compile(
    r"(?i)^no (?!one\b|idea|problem|need|rush|worries)\w+(?:(?: \w+){0,3}!+$"
    r"|[^,;.]*,? (?:ever|anywhere)\b)"
)
_MODAL = r"(?:must|may (?:not|only)|can only|should(?:n'?t)?|shall|(?:needs?|has|have) to)"
_DEMANDS = re.compile(
    rf"(?i)^(?P<subject>(?:(?:in|for|on|when|if) [^,;]+, )?[^,;:(]*?) ?\b"
    rf"(?P<modal>{_MODAL}|needs?|gets?|may)(?P<how> (?:not|never|always|only))?(?= (?P<verb>\w+))"
)
_NORMATIVE = re.compile(rf"(?i)^{_MODAL}$")
_OF_A_KIND = re.compile(
    r"(?i)^(?:(?:each|every|all|any|no(?:body)?|only|there) "
    r"|(?!i |we |you |(?:the|this|that|my|your|it|he|she) )[^,;:(]*?s )"
)
_OF_ALL = re.compile(r"(?i)^(?:each|every|all|only)\b")
_PASSES = re.compile(r"(?i)^(?:work|pass|hurry)$")
_ONE_TASK = re.compile(rf"(?i)^(?:{TASK})$")
_PERSON = re.compile(r"(?i)^(?:i|we|you|they|he|she|it)\b")
_OF_MANY = (
    r"(?:all|every|no|each|any)\b|(?!(?:an?|the|to|you|it|this|that|some|my|your)\b)"
    r"(?:\w+ ){0,2}\w+s\b"
)
_PREFERS = re.compile(
    r"(?i)^(?:i|we)(?:'d| would)? (?:really )?(?:prefer(?! if\b| you\b)|rather"
    rf"|(?:would )?only want|(?:don'?t |do not )?want (?={_OF_MANY}))\b(?! to\b) ?\S"
)
_WISHES = re.compile(
    r"(?i)^(?:(?:i|we)(?:'d| would)? (?:want(?! an? )|like|(?:don'?t|do not) (?:want|like)|not \w+)"
    rf"|(?:let'?s|we(?:'| wi)ll) (?:not )?(?={_CHOOSE})|make sure|{_CHOOSE}(?! case| is"
    rf"| {DEFINITE}))\b(?!.* \byou\b)"
)
_DECIDES = re.compile(r"(?i)^(?:i|we|the team)(?: have|'ve)? (?:decided|agreed|chose)\b")
_STATES = re.compile(
    rf"(?i)^[^,;:]*\b(?:is|are|may|we|nobody) (?:also )?{ALWAYS} \w|^[\w` -]+s {ALWAYS} {BASE}"
    r"|^(?:nobody|no one|only [\w` ]+?(?= may| can| must)) \w+"
    r"|^[^,;:]*\b(?:is|are) (?:forbidden|mandatory|not allowed)\b|.*\bis how we\b"
    r"|^(?:(?:in|for|on) [\w .`/-]+ )?we (?:only (?!have|need|got)\w+"
    r"|(?:also )?(?:(?:do not|don'?t) )?(?:use|support|deploy|store|stay|stick)\b) \S"
)
_OWNS = r"(?:owns|maintains|reviews|approves|(?:is|are) (?:responsible for|called|named|owned by))"
_IS = r"(?:(?:is|are)(?! \w+ing\b)|has|(?:listen|run|live|go|use|expect|arrive|stay)s?)"
_DECLARES = re.compile(
    r"(?i)^(?P<subject>(?:(?:the|our) )?(?:[\w`./@:+-]+ ){0,2}?[\w`./@:+-]+) "
    rf"(?:(?P<owns>{_OWNS})|(?:also |only |now )?{_IS})\b (?!actually)(?P<value>.+)$"
)
_NO_SUBJECT = re.compile(
    r"(?i)\b(?:i|you|he|she|it|they|there|that|this|what|who|where|how|why|if|and|but|main|first"
    r"|second|of|an?|actually)\b|\S the\b"
)
_EXACT = re.compile(
    r"`[^`]+`|\b\d+\b|\w/|\S[@:]\S|\w\.\w{2,4}\b|(?<=[a-z,] )(?!\w+day\b)[A-Z][a-z]+"
)


def act_in(sentence: str, *, is_task: bool = False, is_named: bool = True) -> SpeechAct | None:
    """Returns the speech act of the sentence, if it has one; `is_task` if the turn begins with a
    request for one task.

    Without `is_named` also one whose words do not say what they are about.
    """
    whole = plain(sentence)
    head = _ASIDE.split(whole, maxsplit=1)[0]
    words = openings.strip_opening(head if len(stems_of(head)) > 1 else whole)
    bare = openings.strip_repetition(words)
    is_meant = is_whole(bare) and not _is_unreal(bare) and (is_clear(bare) or not is_named)
    if not is_meant:
        return None
    act = _act(bare, is_task=is_task, is_reply=openings.denies_before(whole))
    is_choice = re.match(rf"(?i){_CHOOSE}\b", bare)
    if bare != words and (is_choice or act):
        return SpeechAct("rule", 1.0, bare)  # nothing is worth more than what had to be repeated
    return act


def is_clear(words: str) -> bool:
    """Returns whether the words are a whole sentence that names what it is about."""
    named = len(stems_of(words)) + min(specifics_in(words), 1) + bool(_NOTHING_OF.match(words))
    return named >= LEAST_NAMED and stands_alone(words)


def _is_unreal(words: str) -> bool:
    """Returns whether the words ask, suppose, doubt, pass on what somebody else said, or hold for
    the moment only.
    """
    bare = _QUOTED.sub(" ", words)
    if is_doubtful(bare) or is_question(bare) or is_relayed(bare):
        return True
    is_condition = re.match(r"(?i)if\b", bare) and not orders_always(bare)
    return bool(is_condition) or (is_of_the_moment(bare) and not states_change(bare))


def _act(words: str, *, is_task: bool, is_reply: bool) -> SpeechAct | None:
    bare = without_content(_QUOTED.sub(" ", words))
    return (
        _correction(words, bare, is_reply=is_reply)
        or _order(words, bare, is_task=is_task)
        or _resolution(words, bare)
        or _statement(words, bare)
        or _wish(words, bare, is_reply=is_reply)
    )


def _correction(words: str, bare: str, *, is_reply: bool) -> SpeechAct | None:
    is_choice = _CORRECTS.search(bare) is not None
    is_contrast = contrasts(bare) and not is_errand(bare) and is_reply
    is_exclusion = excludes_forever(bare) and not is_errand(bare) and not _PERSON.match(bare)
    if is_choice or is_contrast or is_exclusion:
        return SpeechAct("correction", 0.95, words)
    return None


def _order(words: str, bare: str, *, is_task: bool) -> SpeechAct | None:
    if is_errand(bare) and not (lasts(bare) or recurs(bare)):
        return None
    is_lasting = orders_always(bare) or lasts(bare) or orders_each_time(bare)
    if is_lasting or _NOTHING_OF.match(bare):
        return SpeechAct("rule", 0.95, words)
    ban = None if is_task else _ban(words, bare)
    return ban or _demand(words, bare)


def _ban(words: str, bare: str) -> SpeechAct | None:
    """Returns what the words forbid; one thing at hand may be meant for this task only."""
    if _FORBIDS_BEHIND.search(bare):
        return SpeechAct("rule", 0.95, words)
    ban = _FORBIDS.match(bare)
    if ban is None:
        return None
    is_limited = _EXACT.search(bare) is not None or _IN_ALL.search(bare) is not None
    is_one = ban["one"] is not None and not is_limited
    return SpeechAct("rule", 0.7 if is_one else 0.95, words, ONE_THING if is_one else "")


def _demand(words: str, bare: str) -> SpeechAct | None:
    """Returns the rule that a modal verb lays down, or None."""
    demand = _DEMANDS.match(bare)
    if demand is None or _PASSES.match(demand["verb"]) or _is_task(demand, bare):
        return None
    subject = demand["subject"]
    is_normative = _NORMATIVE.match(demand["modal"]) is not None
    is_lasting = demand["how"] in (" never", " always", " only")
    if not (is_normative or _OF_ALL.match(subject)):
        return None
    if _OF_A_KIND.match(f"{subject} ") or is_lasting:
        return SpeechAct("rule", 0.95, words)
    is_of_agent = subject.lower() == "you" or _PERSON.match(subject) is None
    if is_of_agent and demand["modal"].lower() == "must":
        return SpeechAct("rule", 0.9, words)
    return SpeechAct("rule", 0.65, words, ONE_THING)


def _is_task(demand: re.Match[str], bare: str) -> bool:
    """Returns whether the words demand one task of somebody, or report trouble."""
    is_of_person = _PERSON.match(demand["subject"]) is not None
    is_once = _ONE_TASK.match(demand["verb"]) is not None and not is_of_all(bare)
    is_mine = re.match(r"(?i)(?:i|it|no)$", demand["subject"]) is not None
    return is_mine or (is_of_person and is_once) or reports_trouble(demand["subject"])


def _resolution(words: str, bare: str) -> SpeechAct | None:
    if _DECIDES.match(bare):
        return SpeechAct("decision", 0.85, words)
    if read_state_changes(bare) or (states_change(bare) and not reports_trouble(bare)):
        return SpeechAct("state_change", 0.85, words)
    return SpeechAct("preference", 0.85, words) if _PREFERS.match(bare) else None


def _statement(words: str, bare: str) -> SpeechAct | None:
    """Returns how things are done, or what they are; the same words may report trouble."""
    bare = _LABEL.sub("", bare)
    if reports_trouble(bare) or is_passing_state(bare):
        return None
    if _STATES.match(bare) or recurs(bare):
        return SpeechAct("rule", 0.9, words)
    return SpeechAct("fact", 0.8, words) if _declares(bare) else None


def _wish(words: str, bare: str, *, is_reply: bool) -> SpeechAct | None:
    """Returns what may lay something down though it orders nothing."""
    is_wish = _WISHES.match(bare) is not None
    is_task = is_errand(bare) and not bare.lower().startswith("let")
    if is_task or is_passing_state(bare):
        return None
    says_how = _OF_ALL.search(bare) is not None or contrasts(bare) or is_reply
    is_brief = len(bare) <= LONGEST_WISH and not _PERSON.match(bare)
    is_general = says_how and is_brief and not reports_trouble(bare)
    return SpeechAct("preference", 0.5, words, A_WISH) if is_wish or is_general else None


def _declares(bare: str) -> bool:
    """Returns whether the words state something exact about a named subject."""
    declaration = _DECLARES.match(bare)
    if declaration is None or is_errand(bare) or _NO_SUBJECT.search(declaration["subject"]):
        return False
    return bool(declaration["owns"] or _EXACT.search(declaration["value"]))
