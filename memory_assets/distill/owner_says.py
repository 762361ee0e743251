"""Finds what the owner laid down: rules, preferences, corrections, decisions and facts, soft questions included.

Takes exchanges; gives candidates with the owner as author. A turn is short and leans on what was said before it, so a
fact keeps the owner's words and adds what the assistant understood by them, which is where the names stand.
"""

import re
from collections.abc import Sequence

from memory_assets.distill import cues
from memory_assets.distill.approvals import find_proposal, numbered_answers
from memory_assets.distill.candidates import FACT_CHARS, START_CONFIDENCE, Candidate, FactKind
from memory_assets.distill.exchanges import Exchange, Reply, Row
from memory_assets.distill.items import strength_of
from memory_assets.distill.passages import Passage, find_passages, own_words
from memory_assets.distill.words import specifics_in, stems_of
from memory_assets.records import Strength

WORDS_CHARS = 210
"""Of the owner's words a fact keeps this much, so that what they came to still fits."""

SELF_CONTAINED = 4
"""A rule with this many content words, a name among them, needs nobody to explain it."""

LEAST_EXPLAINED = 25

APPROVAL_WORDS = 14
"""A longer turn that begins with "yes" says something of its own."""

PER_SPECIFIC, MOST_SPECIFICS = 0.02, 5
REQUEST_SPECIFIC = 0.03
"""A request that names exact things says how they are to be; one that names none is an errand."""

CONCEDED = 0.12
"""The assistant gave in: a soft question was a correction."""

ASKED = -0.15
"""A question that looks like a correction, and that nobody took for one."""

HEDGED, THIN = -0.06, -0.15

_CONTRACTIONS = re.compile(
    r"\b((?:do|does|did|is|are|was|were|have|has|had|wo|ca|could|should|would)n|(?:i(?=m))|(?:that|what|there)(?=s)"
    r"|they(?=re))(t|m|s|re)\b",
    re.I,
)

_SAYS: dict[FactKind, str] = {
    "rule": "The owner wants",
    "preference": "The owner wants",
    "correction": "The owner corrected",
    "decision": "The owner decided",
}


def find_owner_facts(exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates of all turns of the owner, in order."""
    found = []
    for number, exchange in enumerate(exchanges):
        if exchange.message is None or not exchange.owner_sentences:
            continue
        before = exchanges[number - 1].closing if number else None
        answers = _answers(exchange, before) if before else []
        approval = _approval(exchange, before) if before and not answers else None
        found += answers or ([approval] if approval else _statements(exchange))
    return found


def cue_of(sentence: str) -> cues.Cue | None:
    """Returns what the owner's sentence is, if it is worth keeping: errands, plain questions and bare approvals are not."""
    if len(stems_of(sentence)) < 2:
        return None
    found = next((cue for cue in cues.OWNER_CUES if cue.words.search(sentence)), None)
    if found is None or (found.kind == "decision" and cues.ONE_OFF.match(sentence)):
        return None
    if cues.QUESTION.search(sentence) and found.name in cues.STATED_ONLY:
        return cues.SOFT_QUESTION if cues.SOFT_QUESTION.words.search(sentence) else None
    return found


def _statements(exchange: Exchange) -> list[Candidate]:
    """Returns a candidate for each stretch of the turn that a cue marks; a short turn is one stretch."""
    marked = [(sentence, cue_of(sentence)) for sentence in exchange.owner_sentences]
    stretches: list[tuple[str, cues.Cue]] = []
    open_text, open_cue = "", None
    for sentence, cue in marked:
        if open_text and len(open_text) + len(sentence) + 2 > WORDS_CHARS:
            stretches += [(open_text, open_cue)] if open_cue else []
            open_text, open_cue = "", None
        open_text = f"{open_text}{'' if open_text[-1:] in ('', '.', '!', '?', ',') else ','} {sentence}".strip()
        if cue and (open_cue is None or cue.worth > open_cue.worth):
            open_cue = cue
    stretches += [(open_text, open_cue)] if open_cue else []
    return [_candidate(words, cue, exchange) for words, cue in stretches]


def _candidate(words: str, cue: cues.Cue, exchange: Exchange) -> Candidate:
    assert exchange.message is not None
    strength = strength_of(words, is_owners=True)
    is_conceded = any(cues.CONCEDES.search(reply.message["text"][:400]) for reply in exchange.replies[:1])
    text, source = _text(words, cue, exchange)
    usefulness = cue.worth + PER_SPECIFIC * min(specifics_in(text), MOST_SPECIFICS)
    usefulness += REQUEST_SPECIFIC * min(specifics_in(words), MOST_SPECIFICS) * (cue.name == "asks for")
    usefulness += ASKED * (not is_conceded and cue.kind == "correction" and bool(cues.UNSURE.search(words)))
    usefulness += HEDGED * (strength != "explicit") + CONCEDED * is_conceded + THIN * (len(stems_of(text)) < 5)
    kind: FactKind = "correction" if is_conceded and cue.name == "soft question" else cue.kind
    return _from_owner(text, kind, strength, usefulness, exchange.message, source, words)


def _from_owner(
    text: str, kind: FactKind, strength: Strength, usefulness: float, message: Row, source: Row | None, quote: str
) -> Candidate:
    evidence = [message, *([source] if source else [])]
    return Candidate(
        text=text,
        kind=kind,
        priority="high" if kind in ("rule", "correction", "decision") and strength == "explicit" else "medium",
        author="owner",
        strength=strength,
        usefulness=min(max(usefulness, 0.0), 1.0),
        confidence=START_CONFIDENCE[strength],
        event_at=message["event_at"],
        lines=tuple(row["line"] for row in evidence),
        message_ids=tuple(row["message_id"] for row in evidence),
        quote=quote,
        segment=0,
    )


def _text(words: str, cue: cues.Cue, exchange: Exchange) -> tuple[str, Row | None]:
    """Returns the fact: a rule that says enough in the owner's words alone, else with what they came to."""
    said = with_apostrophes(cues.FILLER.sub("", words))
    said = said if len(said) <= WORDS_CHARS else said[:WORDS_CHARS].rsplit(" ", 1)[0] + "…"
    is_plain = cue.kind in ("rule", "correction") and not cues.QUESTION.search(said) and specifics_in(said) >= 1
    quoted = f"{_SAYS.get(cue.kind, 'The owner said')}: “{said.rstrip('.')}”"
    explained, source = _understood(words, exchange, FACT_CHARS - len(quoted) - 3)
    if is_plain and len(stems_of(said)) >= SELF_CONTAINED and not explained:
        return _sentence(said), None
    return (f"{quoted} — {explained}", source) if explained else (quoted, None)


def with_apostrophes(words: str) -> str:
    """Returns the words with the apostrophes that people leave out when they type; "dont" must read as a denial."""
    return _CONTRACTIONS.sub(lambda found: f"{found[1]}'{found[2]}", words)


def _sentence(words: str) -> str:
    bare = words.strip().rstrip(".!,;")
    return bare[:1].upper() + bare[1:] + "."


def _understood(words: str, exchange: Exchange, room: int) -> tuple[str, Row | None]:
    """Returns what the replies say the owner's words came to, in at most so many characters, and the message that says it."""
    stems = stems_of(words)
    best: tuple[float, str, Row] | None = None
    for number, reply in enumerate(exchange.replies):
        for place, passage in enumerate(find_passages(reply.sentences)):
            text = _fitting(passage, reply, room)
            overlap = len(stems & stems_of(text)) / max(len(stems), 1)
            is_first = place == 0 and (number == 0 or reply.is_closing)
            if not text or (overlap < 0.2 and not (is_first and len(stems) < 14)):
                continue
            score = overlap + 0.05 * min(specifics_in(text), 6) + 0.1 * is_first + 0.1 * reply.is_closing
            score -= 0.25 * bool(cues.OPTION.search(text)) + 0.2 * bool(cues.HEDGE.search(text)) + 0.15 * (len(text) < 50)
            if best is None or score > best[0]:
                best = (score, text, reply.message)
    return (best[1], best[2]) if best else ("", None)


def _fitting(passage: Passage, reply: Reply, room: int) -> str:
    """Returns the passage without its nod to the owner, or its first sentence where the whole is too long."""
    for text in (passage.text, own_words(reply.sentences[passage.first].text)):
        bare = cues.ADDRESS.sub("", text)
        if LEAST_EXPLAINED <= len(bare) <= room:
            return bare[:1].upper() + bare[1:] if bare != text else bare
    return ""


def _answers(exchange: Exchange, before: Reply) -> list[Candidate]:
    """Returns a decision for each numbered question that the owner answered."""
    found = []
    assert exchange.message is not None
    for question, answer in numbered_answers(exchange.said, before):
        text = f"{question.rstrip('?: ')}: the owner decided “{answer.rstrip('.')}”."
        if len(text) <= FACT_CHARS and not cues.QUESTION.search(answer):
            worth = 0.68 + PER_SPECIFIC * min(specifics_in(text), MOST_SPECIFICS)
            found.append(_from_owner(text, "decision", "explicit", worth, exchange.message, before.message, answer))
    return found


def _approval(exchange: Exchange, before: Reply) -> Candidate | None:
    """Returns the decision that a short approval makes of the proposal before it, if it proposes more than an errand."""
    said = exchange.said
    if len(said.split()) > APPROVAL_WORDS or not cues.APPROVAL.match(said) or exchange.message is None:
        return None
    ending = f" (the owner: “{said.rstrip('.')}”)"
    proposal = find_proposal(said, before, FACT_CHARS - len(ending))
    if proposal is None:
        return None
    worth = 0.62 + 0.04 * min(specifics_in(proposal), 5) + 0.05 * (len(stems_of(proposal)) >= 8)
    return _from_owner(proposal.rstrip() + ending, "decision", "explicit", worth, exchange.message, before.message, proposal)
