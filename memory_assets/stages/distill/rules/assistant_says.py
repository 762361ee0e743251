"""Finds what the assistant established: causes and fixes, changes of state, how things work, pitfalls.

Takes exchanges; returns candidates with the assistant as author. Its messages are cut into passages: one or two sentences that
are clear on their own, at most 300 characters. Sentences that depend on context (a pronoun without its referent, narration,
questions, offers) are dropped. Usefulness comes from what a passage names and explains, its position, and the owner's answer;
the assistant's tone is ignored.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_assets.stages.distill.items import strength_of
from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.candidates import FACT_CHARS, START_CONFIDENCE, Candidate, FactKind
from memory_assets.stages.distill.rules.exchanges import AssistantReply, Exchange
from memory_assets.text.sentences import Sentence
from memory_assets.text.words import specifics_in, stems_of

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

# Weights of usefulness: fitted on labelled sessions, validated on held-out sessions, and rounded.
BASE = 0.33
WORTH = 0.2
PER_SPECIFIC, MOST_SPECIFICS = 0.02, 5
PER_CODE, MOST_CODE = 0.045, 4
NAMES_A_PLACE = 0.07
SECOND_CUE = 0.04
INFORMATIVE, RICH, LENGTH = 110, 180, 0.06
CLOSING, SUMMARY_BULLET = 0.03, 0.04
SHORT_REPLY, SHORT_SENTENCES = 0.08, 4
LONG_REPLY, LONG_SENTENCES = -0.06, 40
ASKED_CHARS = 4_000
ANSWERS = 0.25
"""Times the share of a passage's words that occur in the owner's turn."""

NEXT_IN_MESSAGE = 0.015
"""Penalty per rank among the passages of a message: long explanations hold many true but useless sentences."""

ACCEPTED, REJECTED = 0.04, -0.1
HEDGED, OPTIONAL, STATUS, ADDRESSED = -0.15, -0.2, -0.12, -0.06

PROPOSING, ASKING, TO_DO = -0.05, -0.04, -0.2
"""A message that proposes or ends with a question describes options; imperatives in it are not decided."""

DID, NAME_FIRST, TITLED = 0.05, 0.04, -0.04
"""Finished work and texts that begin with a name gain, texts that need a title lose."""

_TITLED = re.compile(r"[^.`]{3,60}: ")
_PLACE = re.compile(r"\w/\w|\w\.[a-z]{2,4}\b|:\d{2,4}\b")
_SPEAKER_WORDS = frozenset({"you", "your", "you're", "you'll", "i'd", "i'll", "i", "i'm", "me", "my"})


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


def find_statements(exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates of all replies, in order."""
    found = []
    for number, exchange in enumerate(exchanges):
        answer = exchanges[number + 1].said if number + 1 < len(exchanges) else ""
        asked = exchange.message["text"][:ASKED_CHARS] if exchange.message else ""
        for reply in exchange.replies:
            own = [_candidate(passage, reply, asked, answer) for passage in find_passages(reply.sentences)]
            for place, c in enumerate(sorted(own, key=lambda c: -c.usefulness)):
                found.append(replace(c, usefulness=max(c.usefulness - NEXT_IN_MESSAGE * place, 0.0)))
    return found


def _candidate(passage: TextPassage, reply: AssistantReply, asked: str, answer: str) -> Candidate:
    matched = [cue for cue in cues.ASSISTANT_CUES if cue.pattern.search(passage.text)]
    kind: FactKind = matched[0].kind if matched else "fact"
    strength = strength_of(passage.text, is_owners=False)
    confidence = START_CONFIDENCE["implied" if strength == "explicit" else "inferred"]  # only the assistant vouches for it
    is_approved = bool(answer and cues.APPROVAL.match(answer))
    return Candidate(
        text=passage.text,
        kind=kind,
        priority="high" if kind == "root_cause" else "medium",
        author="assistant",
        strength=strength,
        usefulness=_usefulness(passage, matched, reply, asked, answer),
        confidence=round(min(confidence + 0.1 * is_approved, 1.0), 2),
        event_at=reply.message["event_at"],
        lines=(reply.message["line"],),
        message_ids=(reply.message["message_id"],),
        quote=reply.sentences[passage.first].text,
    )


def _usefulness(passage: TextPassage, matched: list[cues.Cue], reply: AssistantReply, asked: str, answer: str) -> float:
    text, stems, count = passage.text, stems_of(passage.text), len(reply.sentences)
    message = reply.message["text"]
    asks = message.rstrip().endswith("?")
    is_address = any(word.strip(".,;:!?`'\"") in _SPEAKER_WORDS for word in text.lower().split())
    score = BASE + WORTH * max((cue.worth for cue in matched), default=0.3)
    score += PER_SPECIFIC * min(specifics_in(text), MOST_SPECIFICS) + PER_CODE * min(text.count("`") // 2, MOST_CODE)
    score += NAMES_A_PLACE * bool(_PLACE.search(text)) + SECOND_CUE * (len({cue.kind for cue in matched}) > 1)
    score += CLOSING * reply.is_closing + SUMMARY_BULLET * (reply.is_closing and passage.is_bullet)
    score += LENGTH * (len(text) >= INFORMATIVE) + LENGTH * (len(text) >= RICH)
    score += SHORT_REPLY * (count <= SHORT_SENTENCES)
    score += LONG_REPLY * min(count, LONG_SENTENCES) / LONG_SENTENCES
    score += ANSWERS * len(stems & stems_of(asked)) / max(len(stems), 1)
    score += HEDGED * bool(cues.HEDGE.search(text)) + OPTIONAL * bool(cues.OPTION.search(text))
    score += PROPOSING * bool(cues.PROPOSES.search(message))
    score += ASKING * asks + TO_DO * (asks and bool(cues.TO_DO.match(text)))
    score += DID * bool(cues.DID.match(text)) + NAME_FIRST * text.startswith("`") + TITLED * bool(_TITLED.match(text))
    score += STATUS * bool(cues.STATUS.search(text)) + ADDRESSED * is_address
    if reply.is_closing and answer:
        score += REJECTED if cues.REJECTS.match(answer) else ACCEPTED * bool(cues.APPROVAL.match(answer))
    return min(max(score, 0.0), 1.0)
