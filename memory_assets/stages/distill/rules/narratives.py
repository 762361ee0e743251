"""Writes the narrative of a segment without a model: the first request of the owner and the last result."""

from collections.abc import Sequence

from memory_assets.stages.distill.items import items_of, quote_from
from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.candidates import START_CONFIDENCE, Candidate
from memory_assets.stages.distill.rules.exchanges import Exchange, Row, parse_exchanges
from memory_assets.stages.distill.rules.passages import find_passages, strip_address
from memory_assets.text.words import specifics_in

ASKED_CHARS = 160
OUTCOME_CHARS = 240

SAYS_WHAT = 4
"""Turns with fewer words ("yes", "continue") name no subject."""

EMPTY = "Work without words."


def narrate(messages: Sequence[Row]) -> str:
    """Returns the narrative of the segment."""
    exchanges = parse_exchanges(messages)
    turns = [e.said for e in exchanges if e.said]
    asked = next((said for said in turns if len(said.split()) >= SAYS_WHAT), next(iter(turns), ""))
    request = f"The owner: “{_cut(cues.FILLER.sub('', asked), ASKED_CHARS)}”" if asked else ""
    return " ".join(filter(None, (request, _cut(_outcome(exchanges), OUTCOME_CHARS)))) or EMPTY


def narrative_candidate(own: Sequence[Row], narrative: str, segment: int) -> Candidate:
    """Returns the narrative of a segment as a candidate; `own` are the messages of the segment."""
    spoken = [row for row in own if row["kind"] == "text" and row["author"] in ("owner", "assistant")] or list(own)
    asked = next((row for row in spoken if row["is_user_turn"]), spoken[0])
    evidence = [asked] if asked is spoken[-1] else [asked, spoken[-1]]
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
        quote=quote_from([evidence[-1]["text"]], narrative),
        segment=segment,
        **items_of(narrative, [row["text"] for row in own], narrative),
    )


def _outcome(exchanges: Sequence[Exchange]) -> str:
    """Returns the most specific statement of the last reply that has one."""
    for reply in (reply for exchange in reversed(exchanges) for reply in reversed(exchange.replies)):
        stated = [strip_address(reply.sentences[passage.first].text) for passage in find_passages(reply.sentences)]
        if stated:
            return max(stated, key=specifics_in)
    return ""


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + "…"
