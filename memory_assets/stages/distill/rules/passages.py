"""Extracts passages from an assistant's message: one or two sentences that are clear on their own, at most 300 characters.

Sentences that depend on context (a pronoun without its referent, narration, questions, offers) are dropped. How useful a
passage is, is decided elsewhere.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.candidates import FACT_CHARS
from memory_assets.text.sentences import Sentence
from memory_assets.text.words import specifics_in

SHORTEST = 40
"""Shorter sentences name no subject."""

LONG_ENOUGH = 110
"""A sentence of this length needs no second one."""

MOST_SENTENCES = 2

ANNOUNCES_WORDS = 9
"""A line before a list with at least this many words is a statement."""

LEAD_CHARS, TITLE_WORDS = 70, 4
"""Longer titles are sentences; a title with more words must contain a name."""

_GENERIC_LEAD = re.compile(
    r"(?i)^(?:(?:here(?:'s| is| are)|what(?:'s| i| was| it)?|quick|the|a|key|main|brief|final|full|two|three|four|five|all|new"
    r"|other|some)\b ?)*(?:summary|changes?|changed|added|files?|result|status|verif\w+|done|updated|next|notes?|details?"
    r"|overview|fix(?:es|ed)?|what|list|removed|kept|tests?|things|points?|branch state|implementation|commits?|findings?"
    r"|description|options?|problems?|issues?|questions?|observations?|recommendations?|rationale|background|context"
    r"|conclusions?|plan|tradeoffs?|trade-offs?|pros|cons|caveats?|why|how|when|where|then|if|my|i|we|not|parts|design"
    r"|review comments?|concerns?|steps?)\b"
)

_FRAGMENT = re.compile(
    r"^…|^(?:are|is|was|were|be|been|being|has|have|had|because|that|who|whose|where|while|than|of|as|with|using|for|by|from"
    r"|into)\b|\s\|\s|\[tool(?:Call|Result)\b|\b(?:and|or|the|a|that|is|are|covers|includes|with|to|of|so|because)$"
)
"""Part of a sentence, a row of a table, or a tool call."""

_LABEL = re.compile(r"[A-Z][a-z]+(?:[ ,](?:`[^`]{1,40}`|[^—.:`]){0,40})? — ")
"""A bullet that begins with a label; the line above it names the subject."""

_ASIDE = re.compile(r" ?\([^()`]*\)")
_YOUR = re.compile(r"(?<![\w'`./-])(?:your|yours)(?: own)?(?![\w'`/-])", re.I)


@dataclass(frozen=True, slots=True)
class TextPassage:
    """A text that is clear on its own, and the number of its first sentence."""

    text: str
    first: int
    is_bullet: bool


def find_passages(sentences: Sequence[Sentence]) -> list[TextPassage]:
    """Returns the passages of a message in order; neighbours may overlap."""
    places = (n for n, s in enumerate(sentences) if s.place not in ("quote", "code", "table") and is_statement(s.text))
    return [passage for number in places if (passage := _passage(sentences, number))]


def is_statement(text: str) -> bool:
    """Returns whether the sentence is a statement: no announcement, question, offer or status report."""
    if text.endswith("?") or cues.NARRATION.match(text) or cues.PLANS.search(text):
        return False
    is_announcement = text.endswith(":") and len(text.split()) < ANNOUNCES_WORDS
    return not is_announcement and not (len(text) < 120 and cues.STATUS.search(text))


def strip_address(text: str) -> str:
    """Returns the sentence without an address to the reader before it and without a leading "I"."""
    bare = cues.NOTE.sub("", cues.ADDRESS.sub("", text.removesuffix(":")))
    bare = cues.FIRST_PERSON.sub("", bare)
    is_word = bare != text and bare.partition(" ")[0].isalpha()
    return bare[:1].upper() + bare[1:] if is_word else bare


def in_third_person(text: str) -> str:
    """Returns the text with "the owner's" for "your", and without asides to the reader."""
    bare = _ASIDE.sub(lambda aside: "" if cues.SPEAKS.search(aside[0]) else aside[0], text)
    return _YOUR.sub(lambda found: "The owner's" if found[0][0] == "Y" else "the owner's", bare)


def _passage(sentences: Sequence[Sentence], number: int) -> TextPassage | None:
    """Returns the passage that begins with the sentence, completed from its neighbours; none if it is unclear on its own."""
    sentence = sentences[number]
    text, first = strip_address(sentence.text), number
    if cues.LOOSE_START.match(text):
        before = sentences[number - 1] if number else None
        if before is None or before.block not in (sentence.block, sentence.block - 1) or not is_statement(before.text):
            return None
        text, first = f"{strip_address(before.text)} {sentence.text}", number - 1
        if cues.LOOSE_START.match(text) or len(text) > FACT_CHARS:
            return None
    for after in sentences[number + 1 : number + MOST_SENTENCES]:
        fits = len(text) < LONG_ENOUGH and len(text) + len(after.text) + 1 <= FACT_CHARS
        if not fits or after.block != sentence.block or not is_statement(after.text):
            break
        text = f"{text} {after.text}"
    text = in_third_person(_with_lead(text, sentence))
    if not SHORTEST <= len(text) <= FACT_CHARS or cues.SPEAKS.search(text) or _FRAGMENT.search(text):
        return None
    return TextPassage(text, first, sentence.place == "bullet")


def _with_lead(text: str, sentence: Sentence) -> str:
    """Returns the text, with the title above it as a prefix if that names the subject."""
    lead = sentence.lead.strip(" :—-")
    if not 0 < len(lead) <= LEAD_CHARS or len(lead) + len(text) + 2 > FACT_CHARS:
        return text
    if lead.endswith("?") or cues.REPORTS_DONE.search(lead) or cues.NARRATION.match(lead):
        return text
    is_labelled = sentence.place == "bullet" and bool(_LABEL.match(text))
    return f"{lead}: {text}" if is_labelled or _names_subject(lead) else text


def _names_subject(lead: str) -> bool:
    """Returns whether a title names its subject: it has an exact name, or few words that are not generic."""
    if any(pattern.match(lead) for pattern in (_GENERIC_LEAD, cues.ADDRESS, cues.LOOSE_START)):
        return False
    return specifics_in(lead) > 0 or len(lead.split()) <= TITLE_WORDS
