"""Makes self-contained passages of an assistant's message: one or two sentences that say something on their own.

Takes the sentences of a message; gives texts of at most 300 characters. What cannot stand alone (a pronoun without
its referent, narration, a question, an offer) is dropped here; what a passage is worth is judged elsewhere.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.candidates import FACT_CHARS
from memory_assets.text.sentences import Sentence
from memory_assets.text.words import specifics_in

SHORTEST = 40
"""Below this a sentence names no subject."""

LONG_ENOUGH = 110
"""A sentence of this length says enough alone."""

MOST_SENTENCES = 2
"""More than these make a paragraph, not a fact."""

ANNOUNCES_WORDS = 9
"""A longer line before a list says something itself."""

LEAD_CHARS, TITLE_WORDS = 70, 4
"""A longer title is a sentence; one with more words and no name in it says nothing."""

_GENERIC_LEAD = re.compile(
    r"^(?:(?:here(?:'s| is| are)|what(?:'s| i| was| it)?|quick|the|a|key|main|brief|final|full|two|three|four|five|all"
    r"|new|other|some)\b ?)*"
    r"(?:summary|changes?|changed|added|files?|result|status|verif\w+|done|updated|next|notes?|details?|overview"
    r"|fix(?:es|ed)?|what|list|removed|kept|tests?|things|points?|branch state|implementation|commits?|findings?|description"
    r"|options?|problems?|issues?|questions?|observations?|recommendations?|rationale|background|context|conclusions?|plan|tradeoffs?"
    r"|trade-offs?|pros|cons|caveats?|why|how|when|where|then|if|my|i|we|not|parts|design|review comments?|concerns?|steps?)\b",
    re.I,
)

_FRAGMENT = re.compile(
    r"^…|^(?:are|is|was|were|be|been|being|has|have|had|because|that|who|whose|where|while|than|of|as|with|using|for|by|from|into)\b"
    r"|\s\|\s|\[tool(?:Call|Result)\b|\b(?:and|or|the|a|that|is|are|covers|includes|with|to|of|so|because)$"
)
"""Half a sentence, a row of a table, or a call: nothing that can be read alone."""

_LABEL = re.compile(r"[A-Z][a-z]+(?:[ ,](?:`[^`]{1,40}`|[^—.:`]){0,40})? — ")
"""A bullet that begins with what it is called; what it belongs to stands above it."""

_ASIDE = re.compile(r" ?\([^()`]*\)")
_YOUR = re.compile(r"(?<![\w'`./-])(?:your|yours)(?: own)?(?![\w'`/-])", re.I)


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
    bare = cues.NOTE.sub("", cues.ADDRESS.sub("", text.removesuffix(":")))
    bare = cues.FIRST_PERSON.sub("", bare)
    is_word = bare != text and bare.partition(" ")[0].isalpha()
    return bare[:1].upper() + bare[1:] if is_word else bare


def told(text: str) -> str:
    """Returns the text as told to somebody who was not there: "your" is the owner's, asides to the reader go."""
    bare = _ASIDE.sub(lambda aside: "" if cues.SPEAKS.search(aside[0]) else aside[0], text)
    return _YOUR.sub(lambda found: "The owner's" if found[0][0] == "Y" else "the owner's", bare)


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
    text = told(_with_lead(text, sentence))
    if not SHORTEST <= len(text) <= FACT_CHARS or cues.SPEAKS.search(text) or _FRAGMENT.search(text):
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
    if not lead or len(lead) > LEAD_CHARS or cues.REPORTS_DONE.search(lead):
        return text
    is_label = (
        sentence.place == "bullet" and bool(_LABEL.match(text)) and not cues.NARRATION.match(lead) and not lead.endswith("?")
    )
    fits = len(lead) + len(text) + 2 <= FACT_CHARS
    return f"{lead}: {text}" if fits and (is_label or _says_what(lead)) else text


def _says_what(lead: str) -> bool:
    """Says whether a title names its subject: exact names do, or a few words that are not a title of anything."""
    if (
        _GENERIC_LEAD.match(lead)
        or cues.NARRATION.match(lead)
        or cues.ADDRESS.match(lead)
        or cues.LOOSE_START.match(lead)
        or lead.endswith("?")
    ):
        return False
    return specifics_in(lead) > 0 or len(lead.split()) <= TITLE_WORDS
