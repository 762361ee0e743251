"""Writes the narrative of a segment without a model: one to three sentences taken from it.

Takes the messages of a segment; gives what the owner asked first, and what came of it last.
"""

from collections.abc import Sequence

from memory_assets.stages.distill.items import clock_times_in, entities_of, found_in, sentiment_of
from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.candidates import START_CONFIDENCE, Candidate
from memory_assets.stages.distill.rules.exchanges import Exchange, Row, read_exchanges
from memory_assets.stages.distill.rules.passages import find_passages, own_words
from memory_assets.stages.distill.rules.quotes import quote_from
from memory_assets.text.words import specifics_in

ASKED_CHARS = 160
OUTCOME_CHARS = 240
SAYS_WHAT = 4
"""Shorter turns ("yes", "continue") do not say what it was about."""

EMPTY = "Work without words."


def narrate(messages: Sequence[Row]) -> str:
    """Returns the narrative of the segment."""
    exchanges = read_exchanges(messages)
    turns = [e.said for e in exchanges if e.said]
    asked = next((said for said in turns if len(said.split()) >= SAYS_WHAT), next(iter(turns), ""))
    parts = [f"The owner: “{_cut(cues.FILLER.sub('', asked), ASKED_CHARS)}”"] if asked else []
    if outcome := _outcome(exchanges):
        parts.append(_cut(outcome, OUTCOME_CHARS))
    return " ".join(parts) or EMPTY


def narrative_candidate(own: Sequence[Row], narrative: str, segment: int) -> Candidate:
    """Returns the narrative of a segment with these messages as a candidate, with the words it rests on."""
    spoken = [row for row in own if row["kind"] == "text" and row["author"] in ("owner", "assistant")] or list(own)
    asked = next((row for row in spoken if row["is_user_turn"]), spoken[0])
    evidence = [asked] if asked is spoken[-1] else [asked, spoken[-1]]
    told, invented = found_in(clock_times_in(narrative), [row["text"] for row in own])
    return Candidate(
        text=narrative,
        kind="narrative",
        priority="low",
        author="assistant",
        strength="inferred",
        usefulness=0.5,
        confidence=START_CONFIDENCE["inferred"],
        event_at=max(row["event_at"] for row in own),
        lines=tuple(row["line"] for row in evidence),
        message_ids=tuple(row["message_id"] for row in evidence),
        quote=quote_from(evidence[-1]["text"], narrative),
        segment=segment,
        sentiment=sentiment_of(narrative),
        entities=entities_of(narrative),
        clock_times=told,
        ungrounded_times=invented,
    )


def _outcome(exchanges: Sequence[Exchange]) -> str:
    """Returns the fullest sentence of the last reply that states something."""
    for exchange in reversed(exchanges):
        for reply in reversed(exchange.replies):
            stated = [own_words(reply.sentences[passage.first].text) for passage in find_passages(reply.sentences)]
            if stated:
                return max(stated, key=lambda text: (specifics_in(text), -stated.index(text)))
    return ""


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + "…"
