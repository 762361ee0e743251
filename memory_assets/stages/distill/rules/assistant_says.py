"""Finds what the assistant established: causes with their fix, changes of state, how things work, what bites.

Takes exchanges; gives candidates with the assistant as author. The assistant's tone counts for nothing: usefulness
comes from what a passage names and explains, from where it stands, and from what the owner answered.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from memory_assets.stages.distill.items import strength_of
from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.candidates import START_CONFIDENCE, Candidate, FactKind
from memory_assets.stages.distill.rules.exchanges import Exchange, Reply
from memory_assets.stages.distill.rules.passages import Passage, find_passages
from memory_assets.text.words import specifics_in, stems_of

# How usefulness is made up; the weights were fitted on labelled sessions, checked on sessions left out, and rounded.
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
"""Times the share of a passage's words that the owner's turn has: what was asked for is worth more than what was not."""

NEXT_IN_MESSAGE = 0.015
"""The second-best passage of a message is worth a little less, and so on: long explanations hold many true, idle sentences."""

ACCEPTED, REJECTED = 0.04, -0.1
HEDGED, OPTIONAL, STATUS, ADDRESSED = -0.15, -0.2, -0.12, -0.06

PROPOSING, ASKING, TO_DO = -0.05, -0.04, -0.2
"""A message that proposes, or ends with a question, tells what could be; what is to be done in it is not decided."""

DID, NAME_FIRST, TITLED = 0.05, 0.04, -0.04
"""What was done, or begins with a name, stands; what needs a title before it says less."""

_TITLED = re.compile(r"[^.`]{3,60}: ")
_PLACE = re.compile(r"\w/\w|\w\.[a-z]{2,4}\b|:\d{2,4}\b")


def find_statements(exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates of all replies, in order."""
    found = []
    for number, exchange in enumerate(exchanges):
        answer = exchanges[number + 1].said if number + 1 < len(exchanges) else ""
        asked = exchange.message["text"][:ASKED_CHARS] if exchange.message else ""
        for reply in exchange.replies:
            found += _by_worth([_candidate(passage, reply, asked, answer) for passage in find_passages(reply.sentences)])
    return found


def _by_worth(candidates: list[Candidate]) -> list[Candidate]:
    """Returns the candidates of one message, the most useful first, each worth a little less than alone."""
    ranked = sorted(candidates, key=lambda c: -c.usefulness)
    return [replace(c, usefulness=max(c.usefulness - NEXT_IN_MESSAGE * place, 0.0)) for place, c in enumerate(ranked)]


def _candidate(passage: Passage, reply: Reply, asked: str, answer: str) -> Candidate:
    matched = [cue for cue in cues.ASSISTANT_CUES if cue.words.search(passage.text)]
    kind: FactKind = matched[0].kind if matched else "fact"
    strength = strength_of(passage.text, is_owners=False)
    usefulness = _usefulness(passage, matched, reply, asked, answer)
    message = reply.message
    return Candidate(
        text=passage.text,
        kind=kind,
        priority="high" if kind == "root_cause" else "medium",
        author="assistant",
        strength=strength,
        usefulness=usefulness,
        confidence=_confidence(strength, answer),
        event_at=message["event_at"],
        lines=(message["line"],),
        message_ids=(message["message_id"],),
        quote=reply.sentences[passage.first].text,
        segment=0,
    )


def _usefulness(passage: Passage, matched: list[cues.Cue], reply: Reply, asked: str, answer: str) -> float:
    text = passage.text
    score = BASE + WORTH * max((cue.worth for cue in matched), default=0.3)
    score += PER_SPECIFIC * min(specifics_in(text), MOST_SPECIFICS) + PER_CODE * min(text.count("`") // 2, MOST_CODE)
    score += NAMES_A_PLACE * bool(_PLACE.search(text)) + SECOND_CUE * (len({cue.kind for cue in matched}) > 1)
    score += CLOSING * reply.is_closing + SUMMARY_BULLET * (reply.is_closing and passage.is_bullet)
    score += LENGTH * (len(text) >= LONG_ENOUGH) + LENGTH * (len(text) >= RICH)
    score += SHORT_REPLY * (len(reply.sentences) <= SHORT_SENTENCES)
    score += LONG_REPLY * min(len(reply.sentences), LONG_SENTENCES) / LONG_SENTENCES
    stems = stems_of(text)
    score += ANSWERS * len(stems & stems_of(asked)) / max(len(stems), 1)
    score += HEDGED * bool(cues.HEDGE.search(text)) + OPTIONAL * bool(cues.OPTION.search(text))
    score += PROPOSING * bool(cues.PROPOSES.search(reply.message["text"]))
    asks = reply.message["text"].rstrip().endswith("?")
    score += ASKING * asks + TO_DO * (asks and bool(cues.TO_DO.match(text)))
    score += DID * bool(cues.DID.match(text)) + NAME_FIRST * text.startswith("`") + TITLED * bool(_TITLED.match(text))
    score += STATUS * bool(cues.STATUS.search(text)) + ADDRESSED * _speaks_to_reader(text)
    if reply.is_closing and answer:
        score += REJECTED if cues.REJECTS.match(answer) else ACCEPTED * bool(cues.APPROVAL.match(answer))
    return min(max(score, 0.0), 1.0)


def _confidence(strength: str, answer: str) -> float:
    """Returns the start confidence: nobody but the assistant vouches for it, unless the owner went along."""
    start = START_CONFIDENCE["implied" if strength == "explicit" else "inferred"]
    return round(min(start + 0.1 * bool(answer and cues.APPROVAL.match(answer)), 1.0), 2)


def _speaks_to_reader(text: str) -> bool:
    words = text.lower().split()
    return any(
        word.strip(".,;:!?`'\"") in ("you", "your", "you're", "you'll", "i'd", "i'll", "i", "i'm", "me", "my") for word in words
    )
