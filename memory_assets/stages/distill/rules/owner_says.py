"""Finds what the owner laid down, stated or approved, and the objections that the assistant conceded, in the owner's words.

Takes exchanges; returns candidates with the owner as author. A fact is the sentence as it was typed, without the words that
only open a turn. Words that do not say what they are about ("don't do that for tests") are joined with the owner's sentence
before, or with the statement of the assistant that has most of their words, or dropped. So are a yes that says more than yes,
and a turn that the next reply concedes: "do we need the retry at all then?" – "You're right, the retry is not needed, as …".

A label picks an option only if the message before offered options with labels of that form, once, and the turn is nothing but
the pick. A plain yes approves the one proposal of the message, or the first of two if the second only points back ("want me to
do that?"). One-off tasks (commit, push, fix this) are not decisions, nor are short offers.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from memory_assets.stages.distill.rules.assistant_says import SPEAKS, is_statement
from memory_assets.stages.distill.rules.candidates import FACT_CHARS, START_CONFIDENCE, Candidate, candidate_of
from memory_assets.stages.distill.rules.exchanges import AssistantReply, Exchange, Row
from memory_assets.stages.distill.rules.grammar import (
    ERRAND,
    LEAST_NAMED,
    SpeechAct,
    acts_in,
    is_clear,
    is_whole,
    strip_opening,
)
from memory_assets.text.sentences import plain, split_sentences
from memory_assets.text.words import shared, stems_of

APPROVED, CONCEDED = 0.8, 0.85
"""Worth of a proposal that the owner approved, and of an objection that the assistant conceded."""

LEAST_PROPOSED = 5
"""Content words of a proposal that says how something is to be done; shorter ones are errands."""

SAME_SUBJECT, FEWEST_COMMON = 0.4, 2
"""Share of the shorter text's stems, and their number, from which words and a statement are about the same thing."""

_PICK = re.compile(
    r"(?i)^(?:(?:yes|ok(?:ay)?|let'?s)[, ]+)*(?:(?:go with|do|take) )?(?:option )?(?P<label>[\da-h])[,.)]*(?: please)?[.!]*$"
)
_YES = re.compile(r"(?i)^(?:(?:yes|yeah|yep|ok(?:ay)?|sure|agreed|go ahead|(?:let'?s )?do (?:it|this|that)|please)[,.! ]*)+")
_LABEL = r"[\s>#*-]*(?:option )?[(]?(?P<label>\d|[A-H])[.):]+"
_OPTION = re.compile(rf"(?im)^{_LABEL}\s*(?P<text>\S.*(?:\n(?![ \t]*$|{_LABEL.replace('?P<label>', '?:')}).+)*)")
_PROPOSES = re.compile(
    r"(?i)^(?:(?:my|the) (?:\w+ )?recommendation(?: is|:)|i(?:'d| would)? (?:recommend|suggest|propose)|i'd(?! (?:like|love|say"
    r"|be|not)\b)|(?:if you want,? )?i can|(?:should|shall) (?:i|we)|want me|would you like me)(?: to| that we| we)?:? (?=\S)"
)
_ONE_OFF = re.compile(
    r"(?i)^(?:commit|push|merge|open|run|fix|check|look|review|test|wait|stop|create|apply|add (?:\w+ )*tests?)\b"
)
_CONCEDES = re.compile(
    r"(?i)^(?:(?:yes|yeah|ah|oh)\b[,.!—– -]+)*(?:you(?:'re| are) (?:\w+ )?(?:right|correct)|(?:good|fair) (?:point|catch|call)"
    r"|agreed|exactly|correct|that(?:'s| is) (?:right|fair|true)|i (?:was wrong|misread|misunderstood))\b(?: that)?[ ,.:;!–—-]*"
)


def find_owner_facts(exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates of all turns of the owner, in order."""
    found: list[Candidate] = []
    for before, exchange in zip([None, *exchanges], exchanges, strict=False):
        if exchange.said and (turn := exchange.message):
            last = before.replies[-1:] if before else ()
            found += [one for reply in last for one in _approved(exchange.said, turn, reply)]
            found += _laid_down(exchange, turn, (*last, *exchange.replies))
            found += _conceded(exchange, turn)
    return [candidate for candidate in found if len(candidate.text) <= FACT_CHARS]


def _approved(said: str, turn: Row, before: AssistantReply) -> Iterator[Candidate]:
    """Yields the proposal that the turn approves: in the assistant's words, or, if it says more than yes, in the owner's."""
    pick, more = _PICK.match(said), _YES.sub("", said)
    words = _options(before.message["text"]).get(pick["label"].upper(), "") if pick else "" if more else _proposed(before)
    if is_clear(words) and not _ONE_OFF.match(words) and not SPEAKS.search(words):
        shown = f"{words[:1].upper()}{words[1:].rstrip('.')} (approved by the owner: “{said}”)."
        yield candidate_of("decision", APPROVED, shown, words, turn, before.message)
    elif more and more != said and not (pick or said.endswith("?") or _ONE_OFF.match(more)):
        yield from _join(SpeechAct("decision", APPROVED, said), turn, _nearest(more, [before]))


def _proposed(before: AssistantReply) -> str:
    """Returns the proposal that a yes approves, or nothing."""
    texts = [strip_opening(sentence.text) for sentence in before.sentences]
    found = [_PROPOSES.sub("", text).rstrip("?.:") for text in texts if _PROPOSES.match(text)]
    is_one = len(found) == 1 or (len(found) == 2 and not is_clear(found[1]) and not _ONE_OFF.match(found[1]))
    return found[0] if is_one and len(stems_of(found[0])) >= LEAST_PROPOSED else ""


def _options(text: str) -> dict[str, str]:
    """Returns the first sentence of each option by its label; empty unless the message asks for a choice of one list."""
    found = [(one["label"].upper(), plain(" ".join(one["text"].split()))) for one in _OPTION.finditer(text.replace("**", ""))]
    labels = "".join(label for label, _ in found)
    asks = re.search(r"\?|(?i:\b(?:options|recommend)\b)", text)
    is_offer = len(labels) > 1 and "12345678ABCDEFGH".find(labels) in (0, 8) and asks
    return {label: split_sentences(option)[0] for label, option in found} if is_offer else {}


def _laid_down(exchange: Exchange, turn: Row, near: Sequence[AssistantReply]) -> Iterator[Candidate]:
    is_errand, previous = bool(ERRAND.match(strip_opening(exchange.said))), ""
    for sentence in exchange.owner_sentences:
        for act in acts_in(sentence, is_errand=is_errand, is_named=False):
            if is_clear(act.words):
                yield candidate_of(act.kind, act.worth, phrase(act.words), act.words, turn)
            elif act.kind != "fact" and not is_errand and is_clear(previous):
                yield candidate_of(act.kind, act.worth, f"{previous} {sentence}", sentence, turn)
            elif act.kind != "fact":
                yield from _join(act, turn, _nearest(act.words, near))
        previous = "" if sentence.endswith("?") else sentence


def _conceded(exchange: Exchange, turn: Row) -> Iterator[Candidate]:
    """Yields the turn, if the first reply concedes it, with what the reply says behind that, else with what restates it."""
    words = " ".join(sentence for sentence in exchange.owner_sentences if not ERRAND.match(strip_opening(sentence)))
    first = next((reply for reply in exchange.replies[:1] if _CONCEDES.match(reply.message["text"])), None)
    if first is None or len(stems_of(words)) < FEWEST_COMMON or not is_whole(words):
        return
    rest = _CONCEDES.sub("", first.sentences[0].text)
    said = f"{rest[:1].upper()}{rest[1:]}"
    stated = (said, first.message) if is_statement(said) else _nearest(words, exchange.replies)
    yield from _join(SpeechAct("correction", CONCEDED, words), turn, stated)


def _nearest(words: str, replies: Iterable[AssistantReply]) -> tuple[str, Row] | None:
    """Returns the statement of the replies that has most of the words, and its message."""
    stated = [(s.text, reply.message) for reply in replies for s in reply.sentences if is_statement(s.text)]
    near = [one for one in stated if len(stems_of(one[0]) & stems_of(words)) >= FEWEST_COMMON]
    best = max(near, key=lambda one: shared(one[0], words), default=None)
    return best if best and shared(best[0], words) >= SAME_SUBJECT else None


def _join(act: SpeechAct, turn: Row, stated: tuple[str, Row] | None) -> Iterator[Candidate]:
    """Yields the fact that consists of the owner's words and the statement, if there is one."""
    if stated:
        found = candidate_of(act.kind, act.worth, f"“{act.words}” – {stated[0]}", act.words, turn, stated[1])
        yield replace(found, strength="implied", confidence=START_CONFIDENCE["implied"])


def phrase(words: str) -> str:
    """Returns the words as a sentence; as a quotation if they are very few, or in the first person."""
    said = words.rstrip(" .,;:!")
    shown = f"{said[:1].upper()}{said[1:]}" if re.match(r"[a-z']+[:, ]", said) else said
    return f"The owner said: “{said}”." if len(stems_of(said)) < LEAST_NAMED or re.match(r"(?i)i\b", said) else f"{shown}."
