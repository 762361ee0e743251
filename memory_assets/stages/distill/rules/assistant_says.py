"""Finds what the assistant established: causes and fixes, changes of state, how things work, pitfalls.

Takes exchanges; returns candidates with the assistant as author. Usefulness comes from what a passage names and explains, its
position, and the owner's answer; the assistant's tone is ignored.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from memory_assets.stages.distill.items import strength_of
from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.candidates import START_CONFIDENCE, Candidate, FactKind
from memory_assets.stages.distill.rules.exchanges import AssistantReply, Exchange
from memory_assets.stages.distill.rules.passages import TextPassage, find_passages
from memory_assets.text.words import specifics_in, stems_of

# Weights of usefulness: fitted on labelled sessions, validated on held-out sessions, and rounded.
BASE = 0.33
WORTH = 0.2
PER_SPECIFIC, MOST_SPECIFICS = 0.02, 5
PER_CODE, MOST_CODE = 0.045, 4
NAMES_A_PLACE = 0.07
SECOND_CUE = 0.04
LONG_ENOUGH, RICH, LENGTH = 110, 180, 0.06
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
    score += LENGTH * (len(text) >= LONG_ENOUGH) + LENGTH * (len(text) >= RICH)
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
