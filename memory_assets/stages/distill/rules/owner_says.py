"""Finds what the owner stated: rules, preferences, corrections, decisions and facts, including soft questions.

Takes exchanges; returns candidates with the owner as author. Words that are clear on their own become the fact. Words that
depend on context are quoted behind the assistant's explanation, which has the names.
"""

from collections.abc import Sequence

from memory_assets.schema.records import Strength
from memory_assets.stages.distill.items import strength_of
from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.approvals import find_proposals, numbered_answers, picked_labels
from memory_assets.stages.distill.rules.assistant_says import TextPassage, find_passages, strip_address
from memory_assets.stages.distill.rules.candidates import FACT_CHARS, START_CONFIDENCE, Candidate, FactKind
from memory_assets.stages.distill.rules.exchanges import AssistantReply, Exchange, Row
from memory_assets.stages.distill.rules.phrasing import explain, is_self_contained, phrase, strip_filler, strip_tag_question
from memory_assets.text.words import specifics_in, stems_of

WORDS_CHARS = 210
"""Most characters of a stretch; longer turns are split."""

LEAST_EXPLAINED = 25

APPROVAL_WORDS = 14
"""A longer turn that begins with "yes" is a statement, not an approval."""

APPROVED = 0.67
"""Base usefulness of an approved proposal."""

MESSAGES_BACK = 3
"""The owner may pick an option of an earlier message, after a question in between."""

PER_SPECIFIC, MOST_SPECIFICS = 0.02, 5
REQUEST_SPECIFIC = 0.03
"""A request that names exact things specifies them; one that names none is a one-off task."""

CONCEDED = 0.12
"""The assistant conceded: a soft question was a correction."""

ASKED = -0.15
"""A question that looks like a correction and that the assistant did not take for one."""

ASKS = ("soft question", *(cue.name for cue in cues.OWNER_CUES if cue.kind == "correction"))
"""Cues that also match plain questions."""

NAMED, NAMED_BEFORE = 0.2, 0.5
"""Least share of the owner's words in an explanation that follows the turn, and in one that precedes it."""

ANSWERS = 0.1
"""The turn answers a question of the assistant."""

HEDGED, THIN = -0.06, -0.15

CUT = -0.15
"""The text had to be shortened."""

TROUBLE = -0.2
"""A report of trouble is a one-off task, however strongly it is worded."""


def find_owner_facts(exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates of all turns of the owner, in order."""
    found: list[Candidate] = []
    for number, exchange in enumerate(exchanges):
        if exchange.message and exchange.owner_sentences:
            earlier = exchanges[max(number - MESSAGES_BACK, 0) : number]
            before = [e.replies[-1] for e in reversed(earlier) if e.replies]
            last = before[0] if before else None
            answers = _answers(exchange, exchange.message, last) if last else []
            found += answers or _approvals(exchange, exchange.message, before) or _statements(exchange, exchange.message, last)
    return found


def cue_of(sentence: str) -> cues.Cue | None:
    """Returns the cue of the owner's sentence; none for one-off tasks, plain questions and words of somebody else."""
    sentence = strip_tag_question(sentence)
    if len(stems_of(sentence)) < 2 or cues.RELAYS.search(sentence) or cues.ASKS_WHY.search(sentence):
        return None
    found = next((cue for cue in cues.OWNER_CUES if cue.pattern.search(sentence)), None)
    if found is None or (found.kind == "decision" and cues.ONE_OFF.match(sentence)):
        return None
    if cues.QUESTION.search(sentence) and found.name in cues.STATED_ONLY:
        return cues.SOFT_QUESTION if cues.SOFT_QUESTION.pattern.search(sentence) else None
    return found


def is_question(sentence: str) -> bool:
    """Returns whether the sentence is a question; a statement with "right?" behind it is not."""
    return bool(cues.QUESTION.search(strip_tag_question(sentence)))


def _statements(exchange: Exchange, message: Row, before: AssistantReply | None) -> list[Candidate]:
    """Returns a candidate for each stretch of the turn that has a cue; a short turn is one stretch."""
    stretches: list[tuple[str, cues.Cue | None]] = [("", None)]
    marked = [(sentence, cue_of(sentence)) for sentence in exchange.owner_sentences]
    has_statement = any(cue and not is_question(sentence) for sentence, cue in marked)
    for sentence, cue in marked:
        if is_question(sentence) and (cue is None or has_statement):
            continue
        text, best = stretches[-1]
        if text and len(text) + len(sentence) + 2 > WORDS_CHARS:
            text, best = "", None
            stretches.append((text, best))
        text = f"{text}{'' if text[-1:] in ('', '.', '!', '?', ',') else ','} {sentence}".strip()
        stretches[-1] = text, cue if cue and (best is None or cue.worth > best.worth) else best
    found = [_candidate(words, cue, exchange, message, before) for words, cue in stretches if cue]
    return [candidate for candidate in found if candidate]


def _candidate(words: str, cue: cues.Cue, exchange: Exchange, message: Row, before: AssistantReply | None) -> Candidate | None:
    strength = strength_of(words, is_owners=True)
    is_conceded = any(_concedes(reply) for reply in exchange.replies[:1])
    is_answer = before is not None and before.message["text"].rstrip().endswith("?")
    text, source = _text(words, cue, exchange, before)
    if not text:
        return None
    usefulness = cue.worth + PER_SPECIFIC * min(specifics_in(text), MOST_SPECIFICS)
    usefulness += REQUEST_SPECIFIC * min(specifics_in(words), MOST_SPECIFICS) * (cue.name == "asks for")
    usefulness += ASKED * (not is_conceded and cue.name in ASKS and bool(cues.UNSURE.search(words)))
    usefulness += HEDGED * (strength != "explicit") + CONCEDED * is_conceded + THIN * (len(stems_of(text)) < 5)
    usefulness += CUT * (text.endswith("…”"))
    usefulness += TROUBLE * bool(cues.TROUBLE.search(words))
    usefulness += ANSWERS * (is_answer and not words.endswith("?"))
    kind: FactKind = "correction" if is_conceded and cue.name == "soft question" else cue.kind
    return _from_owner(text, kind, usefulness, message, source, words, strength)


def _from_owner(
    text: str, kind: FactKind, usefulness: float, message: Row, source: Row | None, quote: str, strength: Strength = "explicit"
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
    )


def _text(words: str, cue: cues.Cue, exchange: Exchange, before: AssistantReply | None) -> tuple[str, Row | None]:
    """Returns the fact and the message that explains it: the owner's words if they are clear, else their explanation.

    The fact is empty if the words depend on context that no message explains.
    """
    said = strip_filler(words)
    if not (is_self_contained(said) and strength_of(said, is_owners=True) == "explicit"):
        explained, source = _explanation(words, exchange, before, FACT_CHARS - len(explain("", said, cue.kind)))
        if explained:
            return explain(explained, said, cue.kind), source
        is_clear = specifics_in(said) or is_self_contained(said) or not cues.LOOSE_START.match(said)
        if said.endswith("?") or not is_clear:
            return "", None
    return phrase(said, cue.kind, FACT_CHARS), None


def _explanation(words: str, exchange: Exchange, before: AssistantReply | None, room: int) -> tuple[str, Row | None]:
    """Returns how the assistant explains the owner's words, in at most `room` characters, and the message that does.

    Replies take precedence; the message before the turn counts too if it has most of the words.
    """
    stems = stems_of(words)
    best: tuple[float, str, Row | None] = (float("-inf"), "", None)
    earlier = [before] if before else []
    for number, reply in enumerate([*exchange.replies, *earlier]):
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
            if score > best[0]:
                best = (score, text, reply.message)
    return best[1:]


def _concedes(reply: AssistantReply) -> bool:
    return bool(cues.CONCEDES.search(reply.message["text"][:400]))


def _fitting(passage: TextPassage, reply: AssistantReply, room: int) -> str:
    """Returns the passage without its address to the owner, or its first sentence if the passage is too long."""
    for text in (passage.text, strip_address(reply.sentences[passage.first].text)):
        bare = cues.ADDRESS.sub("", text).strip()
        if LEAST_EXPLAINED <= len(bare) <= room and not cues.SPEAKS.search(bare):
            return bare[:1].upper() + bare[1:] if bare != text else bare
    return ""


def _answers(exchange: Exchange, message: Row, before: AssistantReply) -> list[Candidate]:
    """Returns a decision for each numbered question that the owner answered."""
    found = []
    for question, answer in numbered_answers(exchange.said, before):
        text = f"{question.rstrip('?: ')}: the owner decided “{answer.rstrip('.')}”."
        if len(text) <= FACT_CHARS and not cues.QUESTION.search(answer):
            worth = 0.68 + PER_SPECIFIC * min(specifics_in(text), MOST_SPECIFICS)
            found.append(_from_owner(text, "decision", worth, message, before.message, answer))
    return found


def _approvals(exchange: Exchange, message: Row, before: Sequence[AssistantReply]) -> list[Candidate]:
    """Returns a decision for each proposal that a short approval accepts, except for one-off tasks."""
    said = exchange.said
    if len(said.split()) > APPROVAL_WORDS or (cues.EMPTY_PROPOSAL.search(said) and not picked_labels(said)):
        return []
    found = []
    for proposal in find_proposals(said, before, FACT_CHARS - len(explain("", said))):
        worth = APPROVED + 0.04 * min(specifics_in(proposal.words), 5) + 0.05 * (len(stems_of(proposal.words)) >= 8)
        text, source = explain(proposal.text, said), proposal.reply.message
        found.append(_from_owner(text, "decision", worth, message, source, proposal.words))
    return found
