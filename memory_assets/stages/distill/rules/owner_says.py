"""Finds what the owner laid down, stated or picked, in the owner's words; an option that was
picked, in the assistant's.

Takes exchanges; returns candidates with the owner as author. A fact is the sentence as it was
typed, without the words that only open a turn. Words that do not say what they are about ("it must
never be renamed") are kept with the owner's sentence before, if that is clear, else dropped: the
search over what was said finds them. So is what repeats the assistant's words.

A label picks an option only if the message before offered options with labels of that form, once,
and the turn is nothing but the pick. A yes to an offer to do something is an errand, and so is an
option that begins as one (commit, push, fix this).
"""

import re
from collections.abc import Iterator, Sequence

from memory_assets.stages.distill.rules.assistant_says import SPEAKS
from memory_assets.stages.distill.rules.candidates import FACT_CHARS, Candidate, candidate_of
from memory_assets.stages.distill.rules.exchanges import AssistantReply, Exchange, Row
from memory_assets.stages.distill.rules.grammar import (
    ERRAND,
    LEAST_NAMED,
    acts_in,
    is_clear,
    stands_alone,
    strip_opening,
)
from memory_assets.text.sentences import plain, split_sentences
from memory_assets.text.words import squeezed, stems_of

PICKED = 0.8
"""Worth of an option that the owner picked."""

PICK = re.compile(
    r"(?i)^(?:(?:yes|ok(?:ay)?|let'?s)[, ]+)*(?:(?:go with|do|take) )?(?:option "
    r")?(?P<label>[\da-h])[,.)]*(?: please)?[.!]*$"
)
"""A turn that is nothing but the label of an option."""

_LABEL = r"[\s>#*-]*(?:option )?[(]?(?P<label>\d|[A-H])[.):]+"
_OPTION = re.compile(
    rf"(?im)^{_LABEL}\s*(?P<text>\S.*(?:\n(?![ \t]*$|{_LABEL.replace('?P<label>', '?:')}).+)*)"
)


def find_owner_facts(exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates of all turns of the owner, in order."""
    found: list[Candidate] = []
    for before, exchange in zip([None, *exchanges], exchanges, strict=False):
        if exchange.said and (turn := exchange.message):
            found += [
                one
                for reply in (before.replies[-1:] if before else ())
                for one in _picked(exchange.said, turn, reply)
            ]
            shown = [
                plain(squeezed(reply.message["text"]))
                for reply in (before.replies if before else ())
            ]
            found += [
                one
                for one in _laid_down(exchange, turn)
                if not any(one.quote in text for text in shown)
            ]
    return [candidate for candidate in found if len(candidate.text) <= FACT_CHARS]


def _picked(said: str, turn: Row, before: AssistantReply) -> Iterator[Candidate]:
    """Yields the option that the turn picks, in the assistant's words."""
    pick = PICK.match(said)
    words = _options(before.message["text"]).get(pick["label"].upper(), "") if pick else ""
    if is_clear(words) and not ERRAND.match(words) and not SPEAKS.search(words):
        shown = f"{words[:1].upper()}{words[1:].rstrip('.')} (approved by the owner: “{said}”)."
        yield candidate_of("decision", PICKED, shown, words, turn, before.message)


def _options(text: str) -> dict[str, str]:
    """Returns the first sentence of each option by its label; empty unless the message asks for a
    choice of one list.
    """
    found = [
        (one["label"].upper(), plain(" ".join(one["text"].split())))
        for one in _OPTION.finditer(text.replace("**", ""))
    ]
    labels = "".join(label for label, _ in found)
    asks = re.search(r"\?|(?i:\b(?:options|recommend)\b)", text)
    is_offer = len(labels) > 1 and "12345678ABCDEFGH".find(labels) in (0, 8) and asks
    return {label: split_sentences(option)[0] for label, option in found} if is_offer else {}


def _laid_down(exchange: Exchange, turn: Row) -> Iterator[Candidate]:
    is_errand, previous = bool(ERRAND.match(strip_opening(exchange.said))), ""
    for sentence in exchange.owner_sentences:
        for act in acts_in(sentence, is_errand=is_errand, is_named=False):
            if is_clear(act.words) or (act.kind == "state_change" and stands_alone(act.words)):
                yield candidate_of(act.kind, act.worth, phrase(act.words), act.words, turn)
            elif act.kind != "fact" and not is_errand and is_clear(previous):
                yield candidate_of(act.kind, act.worth, f"{previous} {sentence}", sentence, turn)
        previous = "" if sentence.endswith("?") else sentence


def phrase(words: str) -> str:
    """Returns the words as a sentence; as a quotation if they are very few, or in the first
    person.
    """
    said = words.rstrip(" .,;:!")
    shown = f"{said[:1].upper()}{said[1:]}" if re.match(r"[a-z']+[:, ]", said) else said
    return (
        f"The owner said: “{said}”."
        if len(stems_of(said)) < LEAST_NAMED or re.match(r"(?i)i\b", said)
        else f"{shown}."
    )
