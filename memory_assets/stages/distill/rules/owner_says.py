"""Finds what the owner laid down: rules, preferences, corrections, decisions and facts, soft questions included.

Takes exchanges; gives candidates with the owner as author. Words that stand alone are the fact; words that lean on what
was said before them stand behind what the assistant understood by them, which is where the names are.
"""

from collections.abc import Sequence

from memory_assets.schema.records import Strength
from memory_assets.stages.distill.items import strength_of
from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.approvals import find_proposals, numbered_answers, picked_labels
from memory_assets.stages.distill.rules.candidates import FACT_CHARS, START_CONFIDENCE, Candidate, FactKind
from memory_assets.stages.distill.rules.exchanges import Exchange, Reply, Row
from memory_assets.stages.distill.rules.passages import Passage, find_passages, own_words
from memory_assets.stages.distill.rules.phrasing import explain, phrase, stands_alone, without_nod, without_tag
from memory_assets.text.words import specifics_in, stems_of

WORDS_CHARS = 210
"""A longer stretch of a turn is two."""

LEAST_EXPLAINED = 25

APPROVAL_WORDS = 14
"""A longer turn that begins with "yes" says something of its own."""

APPROVED = 0.67
"""What the owner went along with is worth keeping when it names anything at all."""

MESSAGES_BACK = 3
"""An option may be picked from one of the last messages: people ask something else in between."""

PER_SPECIFIC, MOST_SPECIFICS = 0.02, 5
REQUEST_SPECIFIC = 0.03
"""A request that names exact things says how they are to be; one that names none is an errand."""

CONCEDED = 0.12
"""The assistant gave in: a soft question was a correction."""

ASKED = -0.15
"""A question that looks like a correction, and that nobody took for one."""

ASKS = ("soft question", *(cue.name for cue in cues.OWNER_CUES if cue.kind == "correction"))
"""What may be a plain question, whatever it looks like."""

NAMED, NAMED_BEFORE = 0.2, 0.5
"""Share of the owner's words that an explanation has; of what was said before they must have been taken up."""

ANSWERS = 0.1
"""The assistant had asked: what the owner says decides something."""

HEDGED, THIN = -0.06, -0.15

CUT = -0.15
"""A sentence that has to be cut is no fact yet."""

TROUBLE = -0.2
"""What does not work today is an errand, however strongly it is put."""


def find_owner_facts(exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates of all turns of the owner, in order."""
    found: list[Candidate] = []
    for number, exchange in enumerate(exchanges):
        if exchange.message is None or not exchange.owner_sentences:
            continue
        earlier = exchanges[max(number - MESSAGES_BACK, 0) : number]
        before = [e.closing for e in reversed(earlier) if e.closing]
        found += (
            (_answers(exchange, before[0]) if before else [])
            or _approvals(exchange, before)
            or _statements(exchange, before[0] if before else None)
        )
    return found


def cue_of(sentence: str) -> cues.Cue | None:
    """Returns what the owner's sentence is, if it is worth keeping: errands, plain questions and bare approvals are not."""
    sentence = without_tag(sentence)
    if len(stems_of(sentence)) < 2 or cues.RELAYS.search(sentence) or cues.ASKS_WHY.search(sentence):
        return None
    found = next((cue for cue in cues.OWNER_CUES if cue.words.search(sentence)), None)
    if found is None or (found.kind == "decision" and cues.ONE_OFF.match(sentence)):
        return None
    if cues.QUESTION.search(sentence) and found.name in cues.STATED_ONLY:
        return cues.SOFT_QUESTION if cues.SOFT_QUESTION.words.search(sentence) else None
    return found


def is_question(sentence: str) -> bool:
    """Says whether the sentence asks; a "right?" behind a statement does not."""
    return bool(cues.QUESTION.search(without_tag(sentence)))


def _statements(exchange: Exchange, before: Reply | None) -> list[Candidate]:
    """Returns a candidate for each stretch of the turn that a cue marks; a short turn is one stretch."""
    stretches: list[tuple[str, cues.Cue]] = []
    open_text, open_cue = "", None
    marked = [(sentence, cue_of(sentence)) for sentence in exchange.owner_sentences]
    says_something = any(cue and not is_question(sentence) for sentence, cue in marked)
    for sentence, cue in marked:
        if is_question(sentence) and (cue is None or says_something):
            continue
        if open_text and len(open_text) + len(sentence) + 2 > WORDS_CHARS:
            stretches += [(open_text, open_cue)] if open_cue else []
            open_text, open_cue = "", None
        open_text = f"{open_text}{'' if open_text[-1:] in ('', '.', '!', '?', ',') else ','} {sentence}".strip()
        if cue and (open_cue is None or cue.worth > open_cue.worth):
            open_cue = cue
    stretches += [(open_text, open_cue)] if open_cue else []
    found = [_candidate(words, cue, exchange, before) for words, cue in stretches]
    return [candidate for candidate in found if candidate]


def _candidate(words: str, cue: cues.Cue, exchange: Exchange, before: Reply | None) -> Candidate | None:
    assert exchange.message is not None
    strength = strength_of(words, is_owners=True)
    is_conceded = any(_concedes(reply) for reply in exchange.replies[:1])
    is_answer = before is not None and before.message["text"].rstrip().endswith("?")
    told = _text(words, cue, exchange, before)
    if told is None:
        return None
    text, source = told
    usefulness = cue.worth + PER_SPECIFIC * min(specifics_in(text), MOST_SPECIFICS)
    usefulness += REQUEST_SPECIFIC * min(specifics_in(words), MOST_SPECIFICS) * (cue.name == "asks for")
    usefulness += ASKED * (not is_conceded and cue.name in ASKS and bool(cues.UNSURE.search(words)))
    usefulness += HEDGED * (strength != "explicit") + CONCEDED * is_conceded + THIN * (len(stems_of(text)) < 5)
    usefulness += CUT * (text.endswith("…”"))
    usefulness += TROUBLE * bool(cues.TROUBLE.search(words))
    usefulness += ANSWERS * (is_answer and not words.endswith("?"))
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


def _text(words: str, cue: cues.Cue, exchange: Exchange, before: Reply | None) -> tuple[str, Row | None] | None:
    """Returns the fact and the message that explains it: the owner's words where they stand alone, else what they came to.

    Nothing where words lean on something that nobody explains.
    """
    said = without_nod(words)
    is_clear = stands_alone(said) and strength_of(said, is_owners=True) == "explicit"
    if is_clear:
        return phrase(said, cue.kind, FACT_CHARS), None
    explained, source = _understood(words, exchange, before, FACT_CHARS - len(explain("", said, cue.kind)))
    if explained:
        return explain(explained, said, cue.kind), source
    if said.endswith("?"):
        return None
    is_heard = specifics_in(said) or stands_alone(said) or not cues.LOOSE_START.match(said)
    return (phrase(said, cue.kind, FACT_CHARS), None) if is_heard else None


def _understood(words: str, exchange: Exchange, before: Reply | None, room: int) -> tuple[str, Row | None]:
    """Returns what the assistant says the owner's words come to, in at most so many characters, and the message that says it.

    The replies come first; what the owner answered to explains as well, where it has most of the words.
    """
    stems = stems_of(words)
    best: tuple[float, str, Row] | None = None
    answered = [before] if before else []
    for number, reply in enumerate([*exchange.replies, *answered]):
        is_before = reply is before
        for place, passage in enumerate(find_passages(reply.sentences)):
            text = _fitting(passage, reply, room)
            overlap = len(stems & stems_of(text)) / max(len(stems), 1)
            is_first = place == 0 and not is_before and (number == 0 or reply.is_closing)
            is_conceding = place == 0 and number == 0 and not is_before and _concedes(reply)
            if not text or (overlap < (NAMED_BEFORE if is_before else NAMED) and not is_conceding):
                continue
            score = overlap + 0.05 * min(specifics_in(text), 6) + 0.1 * is_first + 0.1 * (reply.is_closing and not is_before)
            score -= 0.25 * bool(cues.OPTION.search(text)) + 0.2 * bool(cues.HEDGE.search(text)) + 0.15 * (len(text) < 50)
            if best is None or score > best[0]:
                best = (score, text, reply.message)
    return (best[1], best[2]) if best else ("", None)


def _concedes(reply: Reply) -> bool:
    return bool(cues.CONCEDES.search(reply.message["text"][:400]))


def _fitting(passage: Passage, reply: Reply, room: int) -> str:
    """Returns the passage without its nod to the owner, or its first sentence where the whole is too long."""
    for text in (passage.text, own_words(reply.sentences[passage.first].text)):
        bare = cues.ADDRESS.sub("", text).strip()
        if LEAST_EXPLAINED <= len(bare) <= room and not cues.SPEAKS.search(bare):
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


def _approvals(exchange: Exchange, before: Sequence[Reply]) -> list[Candidate]:
    """Returns the decisions that a short approval makes of the proposals before it, if they propose more than an errand."""
    said = exchange.said
    is_errand = cues.EMPTY_PROPOSAL.search(said) and not picked_labels(said)
    if len(said.split()) > APPROVAL_WORDS or is_errand or exchange.message is None:
        return []
    found = []
    for proposal in find_proposals(said, before, FACT_CHARS - len(explain("", said))):
        worth = APPROVED + 0.04 * min(specifics_in(proposal.words), 5) + 0.05 * (len(stems_of(proposal.words)) >= 8)
        text, source = explain(proposal.text, said), proposal.reply.message
        found.append(_from_owner(text, "decision", "explicit", worth, exchange.message, source, proposal.words))
    return found
