"""Finds what the owner laid down or stated, in the owner's words.

Takes exchanges; returns candidates with the owner as author. A fact is the sentence as it was
typed, without the words that only open a turn, with the exception that the next sentence makes.
Words that do not say what they are about ("it must never be renamed") are kept with the owner's
sentence before, if that is clear, else dropped. So is what repeats the assistant's words. A rule
that may have been pasted, or may hold for one thing only, has a doubt.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from memory_assets.english.errands import is_errand
from memory_assets.english.languages import language_of
from memory_assets.english.openings import strip_opening
from memory_assets.english.pointers import stands_alone
from memory_assets.english.standing import orders_elsewhere
from memory_assets.stages.distill.rules.candidates import FACT_CHARS, Candidate, candidate_of
from memory_assets.stages.distill.rules.exchanges import Exchange, Row
from memory_assets.stages.distill.rules.grammar import LEAST_NAMED, SpeechAct, act_in, is_clear
from memory_assets.text.sentences import plain
from memory_assets.text.words import squeezed, stems_of

PERHAPS_PASTED = "perhaps pasted"
"""Doubt about a rule in a part of a turn that somebody else may have written."""

NOT_ENGLISH = "it is not in English, which is all that rules understand"

_WORTH_OF_PASTED = 0.4
_WORTH_ELSEWHERE = 0.6
_EXCEPTION = re.compile(r"(?i)^(?:unless|except|only (?:if|when)|but (?:not|only)|if|when) ")
"""Begins a sentence that limits the rule before it."""


def find_owner_facts(exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates of all turns of the owner, in order."""
    candidates: list[Candidate] = []
    for previous, exchange in zip([None, *exchanges], exchanges, strict=False):
        if exchange.message is None:
            continue
        replies = previous.replies if previous else ()
        shown = [plain(squeezed(reply.message["text"])) for reply in replies]
        turn = exchange.message
        typed = (*_laid_down(exchange, turn), *_not_in_english(exchange, turn))
        for candidate in (*typed, *_pasted(exchange)):
            is_repeated = any(candidate.quote in text for text in shown)
            if len(candidate.text) <= FACT_CHARS and not is_repeated:
                candidates.append(candidate)
    return candidates


def _laid_down(exchange: Exchange, turn: Row) -> Iterator[Candidate]:
    is_task = is_errand(strip_opening(exchange.said))
    previous = ""
    sentences = exchange.owner_sentences
    for sentence, following in zip_longest(sentences, sentences[1:], fillvalue=""):
        act = act_in(sentence, is_task=is_task, is_named=False)
        text = _text_of(act, sentence, previous, is_task=is_task) if act else ""
        if act and text:
            is_limited = _EXCEPTION.match(following) and not following.endswith("?")
            whole = f"{text} {following}" if is_limited else text
            yield candidate_of(act.kind, act.worth, whole, act.words, turn, doubt=act.doubt)
        previous = "" if sentence.endswith("?") else sentence


def _not_in_english(exchange: Exchange, turn: Row) -> Iterator[Candidate]:
    """Yields the sentences in other languages that say always or never."""
    for sentence in exchange.owner_sentences:
        is_asked = sentence.endswith(("?", "？"))
        is_foreign = language_of(sentence) != "en"
        if is_foreign and orders_elsewhere(sentence) and not is_asked:
            words = strip_opening(sentence)
            yield candidate_of(
                "rule", _WORTH_ELSEWHERE, phrase(words), words, turn, doubt=NOT_ENGLISH
            )


def _text_of(act: SpeechAct, sentence: str, previous: str, *, is_task: bool) -> str:
    """Returns the act as a text that says what it is about; empty if none does."""
    is_change = act.kind == "state_change" and stands_alone(act.words)
    if is_clear(act.words) or is_change:
        return phrase(act.words)
    is_explained = act.kind != "fact" and not act.doubt and not is_task and is_clear(previous)
    return f"{previous} {sentence}" if is_explained else ""


def _pasted(exchange: Exchange) -> Iterator[Candidate]:
    """Yields the rules in parts that are not plainly typed."""
    for sentence in exchange.doubtful_sentences:
        act = act_in(sentence)
        is_order = act is not None and act.kind in ("rule", "correction") and not act.doubt
        if act and is_order and exchange.message:
            yield candidate_of(
                act.kind, _WORTH_OF_PASTED, phrase(act.words), act.words, exchange.message,
                doubt=PERHAPS_PASTED,
            )  # fmt: skip


def phrase(words: str) -> str:
    """Returns the words as a sentence; as a quotation if they are very few, or in the first
    person.
    """
    bare = words.rstrip(" .,;:!")
    shown = f"{bare[:1].upper()}{bare[1:]}" if re.match(r"[a-z']+[:, ]", bare) else bare
    is_quoted = len(stems_of(bare)) < LEAST_NAMED or re.match(r"(?i)i\b", bare)
    if is_quoted:
        return f"The owner said: “{bare}”."
    return shown if shown.endswith("。") else f"{shown}."
