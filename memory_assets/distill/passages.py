"""Makes self-contained passages of an assistant's message: one or two sentences that say something on their own.

Takes the sentences of a message; gives texts of at most 300 characters. What cannot stand alone (a pronoun without
its referent, narration, a question, an offer) is dropped here; what a passage is worth is judged elsewhere.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_assets.distill import cues
from memory_assets.distill.candidates import FACT_CHARS
from memory_assets.distill.sentences import Sentence

SHORTEST = 40
"""Below this a sentence names no subject."""

LONG_ENOUGH = 110
"""A sentence of this length says enough alone."""

MOST_SENTENCES = 2
"""More than these make a paragraph, not a fact."""

ANNOUNCES_WORDS = 9
"""A longer line before a list says something itself."""

_GENERIC_LEAD = re.compile(
    r"^(?:(?:here(?:'s| is| are)|what(?:'s| i| was| it)?|quick|the|a|key|main|brief|final|full|two|three|four|five|all"
    r"|new|other|some)\b ?)*"
    r"(?:summary|changes?|changed|added|files?|result|status|verif\w+|done|updated|next|notes?|details?|overview"
    r"|fix(?:es|ed)?|what|list|removed|kept|tests?|things|points?|branch state|implementation|commits?)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that stands alone, the number of its first sentence, and how many it has."""

    text: str
    first: int
    count: int
    is_bullet: bool


def find_passages(sentences: Sequence[Sentence]) -> list[Passage]:
    """Returns the passages that a message holds, in order; neighbours may overlap."""
    found = []
    for number, sentence in enumerate(sentences):
        if sentence.place in ("quote", "code", "table") or not is_statement(sentence.text):
            continue
        if passage := _passage(sentences, number):
            found.append(passage)
    return found


def is_statement(text: str) -> bool:
    """Says whether the sentence states something, rather than announcing work, asking, offering or reporting for duty."""
    if (
        text.endswith("?")
        or cues.NARRATION.match(text)
        or cues.PLANS.search(text)
        or (text.endswith(":") and len(text.split()) < ANNOUNCES_WORDS)
    ):
        return False
    return not (cues.STATUS.search(text) and len(text) < 120)


def own_words(text: str) -> str:
    """Returns the sentence without the nod to the reader before it and without a leading "I"."""
    bare = text.removesuffix(":")
    bare = cues.ADDRESS.sub("", bare)
    bare = cues.FIRST_PERSON.sub("", bare if len(bare) >= SHORTEST else text)
    is_word = bare != text and bare.partition(" ")[0].isalpha()
    return bare[:1].upper() + bare[1:] if is_word else bare


def _passage(sentences: Sequence[Sentence], number: int) -> Passage | None:
    """Returns the passage that begins with the sentence, completed from its neighbours; nothing if it cannot stand alone."""
    sentence = sentences[number]
    text, first = own_words(sentence.text), number
    if cues.LOOSE_START.match(text):
        before = sentences[number - 1] if number else None
        if before is None or before.block not in (sentence.block, sentence.block - 1) or not is_statement(before.text):
            return None
        text, first = f"{own_words(before.text)} {sentence.text}", number - 1
        if cues.LOOSE_START.match(text) or len(text) > FACT_CHARS:
            return None
    text, last = _completed(text, sentences, number)
    text = _with_lead(text, sentence)
    if not SHORTEST <= len(text) <= FACT_CHARS:
        return None
    return Passage(text, first, last - first + 1, sentence.place == "bullet")


def _completed(text: str, sentences: Sequence[Sentence], number: int) -> tuple[str, int]:
    """Returns the text with the next sentences of its paragraph, as long as they belong to it and fit."""
    last = number
    while last + 1 < len(sentences) and last - number + 1 < MOST_SENTENCES:
        after = sentences[last + 1]
        fits = len(text) + len(after.text) + 1 <= FACT_CHARS
        if not fits or len(text) >= LONG_ENOUGH or after.block != sentences[number].block or not is_statement(after.text):
            break
        text, last = f"{text} {after.text}", last + 1
    return text, last


def _with_lead(text: str, sentence: Sentence) -> str:
    """Returns the text behind the title or line that leads to it, when that says what the text is about."""
    lead = sentence.lead.strip(" :—-")
    if not lead or len(lead) > 70 or _GENERIC_LEAD.match(lead) or cues.NARRATION.match(lead) or lead.endswith("?"):
        return text
    return f"{lead}: {text}" if len(lead) + len(text) + 2 <= FACT_CHARS else text
