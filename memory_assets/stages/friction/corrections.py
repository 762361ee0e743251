"""What a person has to say again: the same correction, or the same wish, in one session after another.

Every sentence that a person types after an agent has begun to work may correct it, unless it asks, nods or sends on an errand.
Sentences that say the same are grouped by their embeddings. A group is a friction where most of it corrects: it denies,
forbids, lays down how things are to be, or says that it was said before. Wishes are read from clauses ("…, make meaningful
commits, …"), of first turns as well: nothing went wrong, so they have to come nearly word for word, in three sessions.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from memory_assets.schema.protocols import Embedder
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.exchanges import owner_sentences
from memory_assets.stages.distill.rules.owner_says import cue_of, is_question
from memory_assets.stages.distill.rules.phrasing import with_apostrophes
from memory_assets.stages.friction.finding import (
    RULES_SECTION,
    Finding,
    Occurrence,
    agents_md,
    minutes_between,
    most_common_session,
    sessions_in,
)
from memory_assets.stages.friction.groups import cluster, similarities
from memory_assets.stages.friction.week import Said, Week
from memory_assets.text.words import stems_of

SAME = 0.4
"""Mean likeness of sentences that say the same in other words."""

SHARED_WEIGHT = 0.5
"""What shared words count beside the cosine: a small model finds all short instructions alike."""

FEWEST_SESSIONS, FEWEST_SAYINGS = 2, 3
"""Two sessions alone are chance; with a line of MEMORY.md that says it, or words that say it was said before, they are not."""

MOST_CHARS = 240
CORRECTING_SHARE = 0.5
ALREADY_SAID = 0.6
"""Likeness to a line of MEMORY.md from which the line says the same."""

SAME_WISH, WISHING_SESSIONS = 0.6, 3
"""Likeness of clauses that wish for the same, and the sessions that they come in."""

FEWEST_WISHED = 2
"""Content words of a wish; one alone ("fix tests") says what to do now and not how things are done."""

_AGAIN = re.compile(
    r"\bagain\b|\bI (?:keep|kept) (?:saying|telling)|\bI(?:'ve| have)? (?:said|told|asked|mentioned)\b|\bas (?:always"
    r"|everywhere|I said|before)\b"
    r"|\b(?:you )?forgot\b|\bhow (?:often|many times)\b|\blike (?:everything|everywhere) else\b|\bonce more\b"
    r"|\bstill (?:not|doing|using)\b",
    re.I,
)
_LAYS_DOWN = re.compile(
    r"\b(?:never|always|every|everything|must|have to|has to|not allowed|do(?:n'?t| not)|only|stop)\b|\bno\b"
    r"|\bin this (?:project|code ?base|repo)\b"
    r"|\b(?:we|all|is|are|go(?:es)?|belongs?|lives?)\b.*\b(?:in|on|as)\b",
    re.I,
)
_OPENING = re.compile(
    r"^(?:(?:no|nope)[,.:!;]+\s*|(?:again|please|sorry|ok(?:ay)?|and|also|but|so|well|hmm|wait|two things|one thing"
    r"|I told you(?: to)?"
    r"|I(?:'ve| have) told you)\b[\s,:.!-]*)+",
    re.I,
)
_OF_THE_MOMENT = re.compile(
    r"^(?:\d+|[a-h])[.)]\s|\b(?:I|I'(?:m|d|ll|ve)|my|me|let's|lets|maybe|would|could|now|currently|yet|here it is)\b|[:,]$",
    re.I,
)
"""Speaks of the one who types or of the moment, and is no rule."""

_CLAUSE_ENDS = re.compile(r"[,;:]\s+|\s+-\s+|(?<=[.?!])\s+")
_CONDITION = re.compile(r"(?:if|when|whenever|before|after|once|as soon as|for)\b", re.I)
_ASKS_FOR = re.compile(
    r"^(?:(?:yes|yep|yeah|ok(?:ay)?|and|also|then|now|please|can you|could you|would you|let's|lets|just"
    r"|make sure(?: to)?|always)[,\s]+)+",
    re.I,
)
_IMPERATIVE = re.compile(
    r"(?:add|address|annotate|ask|avoid|be|before|do(?! (?:an?|the)\b)|don'?t|explain|follow|give|if you|when|whenever"
    r"|include|inspect|keep|leave|make|mention|name|note|put|prefer"
    r"|say|separate|skip|split|squash|stay|tell|use|verify|wait|write|never|only|no)\b",
    re.I,
)
"""Says how something is done; what is to be looked at, run or opened is an errand."""

_LEANS = re.compile(r"^(?:why (?:did|do|are) )?you\b|\b(?:it|this|that|them)\b", re.I)
"""Says what went wrong rather than how it is to be, or leans on what was said before."""

_ASIDE = re.compile(
    r",? (?:I (?:keep saying (?:it|that|this)|have said (?:that|this|it) before|said so)|as (?:I said|always)|again"
    r"|please)\b",
    re.I,
)


@dataclass(frozen=True)
class Instruction:
    """One sentence that tells an agent how it is to be."""

    turn: Said
    before: Said | None
    """The person's turn before it: since then the agent worked on what is corrected."""
    words: str
    is_correcting: bool
    is_again: bool
    """It says that it was said before."""


def find_corrections(
    week: Week,
    embedder: Embedder,
    entries: Sequence[str],
    *,
    owner: str,
    ruled_out: Collection[str] = (),
    retyped: Collection[str] = (),
) -> list[Finding]:
    """Returns what the owner had to say in two sessions or more.

    `entries` are the lines of MEMORY.md; `ruled_out` names programs whose misuse is told already, `retyped` the messages of
    requests that are wanted as skills.
    """
    sessions = [turns for turns in week.said_by_session().values() if turns[0].session.person == owner]
    said = [one for turns in sessions for one in _instructions(turns) if not _speaks_of(one.words, ruled_out)]
    corrected = [_finding(group, embedder, entries) for group in _groups(said, SAME, embedder)]
    found = [finding for finding in corrected if finding]
    told = {id for finding in found for id in finding.message_ids} | set(retyped)
    wishes = [one for turns in sessions for one in _wishes(turns) if one.turn.message_id not in told]
    wished = [_wish(group, embedder, entries) for group in _groups(wishes, SAME_WISH, embedder)]
    return found + [finding for finding in wished if finding]


def _groups(said: Sequence[Instruction], least: float, embedder: Embedder) -> list[list[Instruction]]:
    if not said:
        return []
    texts = [one.words for one in said]
    return [[said[n] for n in group] for group in cluster(likeness(texts, embedder.encode(texts)), least)]


def likeness(texts: Sequence[str], vectors: np.ndarray) -> np.ndarray:
    """Returns how alike all pairs of sentences are: the cosine, and the shared words beside it."""
    stems = [stems_of(text) for text in texts]
    shared = np.array([[len(a & b) / max(min(len(a), len(b)), 1) for b in stems] for a in stems])
    return (1 - SHARED_WEIGHT) * similarities(vectors) + SHARED_WEIGHT * np.minimum(shared, 1.0)


def _instructions(turns: Sequence[Said]) -> Iterator[Instruction]:
    before: Said | None = None
    for turn in turns:
        if not turn.is_owner:
            continue
        if before is not None:
            for sentence in owner_sentences(turn.text):
                if words := _worded(sentence):
                    yield Instruction(turn, before, words, _is_correcting(sentence), bool(_AGAIN.search(turn.text)))
        before = turn


def _wishes(turns: Sequence[Said]) -> Iterator[Instruction]:
    before: Said | None = None
    for turn in turns:
        if turn.is_owner:
            clauses = (clause for sentence in owner_sentences(turn.text) for clause in _clauses(sentence))
            for clause in clauses:
                words = _ASKS_FOR.sub("", clause.strip()).rstrip("?!. ")
                wished = _worded(f"{words}.") if len(stems_of(words)) >= FEWEST_WISHED and _IMPERATIVE.match(words) else ""
                if wished:
                    yield Instruction(turn, before, wished, is_correcting=False, is_again=False)
            before = turn


def _clauses(sentence: str) -> list[str]:
    """Returns what the sentence asks for, one by one; what stands under a condition stays with it."""
    return [sentence] if _CONDITION.match(sentence) else _CLAUSE_ENDS.split(sentence)


def _worded(sentence: str) -> str:
    """Returns what the sentence tells to do, without how it begins; nothing where it asks, nods or is an errand."""
    words = _OPENING.sub("", with_apostrophes(sentence)).strip()
    if len(stems_of(words)) < 2 or len(words) > MOST_CHARS or is_question(sentence):
        return ""
    if cues.ONE_OFF.match(words) or cues.RELAYS.search(words) or cues.LOOSE_START.match(words):
        return ""
    if _OF_THE_MOMENT.search(_ASIDE.sub("", words)):
        return ""
    return words[:1].upper() + words[1:]


def _is_correcting(sentence: str) -> bool:
    cue = cue_of(sentence)
    is_cue = cue is not None and (cue.kind in ("rule", "correction") or cue.name == "dislikes")
    return is_cue or bool(_AGAIN.search(sentence) or _LAYS_DOWN.search(sentence))


def _speaks_of(words: str, programs: Collection[str]) -> bool:
    named = {word.strip(".,:;!?`'\"").lower() for word in words.split()}
    return bool(named & set(programs))


def _finding(group: Sequence[Instruction], embedder: Embedder, entries: Sequence[str]) -> Finding | None:
    occurrences = tuple(_occurrence(one) for one in group)
    correcting = [one for one in group if one.is_correcting]
    sessions = sessions_in(occurrences)
    if sessions < FEWEST_SESSIONS or len(correcting) < CORRECTING_SHARE * len(group):
        return None
    rule = _rule(correcting)
    is_known = _is_said(rule, embedder, entries)
    if not _LAYS_DOWN.search(rule) or sessions + is_known + any(one.is_again for one in group) < FEWEST_SAYINGS:
        return None
    return _asked_for(rule, occurrences, is_known=is_known)


def _wish(group: Sequence[Instruction], embedder: Embedder, entries: Sequence[str]) -> Finding | None:
    occurrences = tuple(_occurrence(one) for one in group)
    if sessions_in(occurrences) < WISHING_SESSIONS:
        return None
    rule = _rule(group)
    return _asked_for(rule, occurrences, is_known=_is_said(rule, embedder, entries))


def _asked_for(rule: str, occurrences: tuple[Occurrence, ...], *, is_known: bool) -> Finding:
    session = most_common_session(occurrences)
    return Finding(
        kind="repeated_correction",
        subject=rule,
        title="The same has to be said in session after session" + (", though MEMORY.md holds it" if is_known else ""),
        target=agents_md(session) if is_known else MEMORY_MD,
        section=RULES_SECTION,
        new=rule,
        occurrences=occurrences,
    )


def _rule(group: Sequence[Instruction]) -> str:
    """Returns the wording that says most plainly how it is to be; of equal ones the latest."""
    said = [_ASIDE.sub("", one.words).rstrip(" .!,;") + "." for one in group]
    plain = [
        (2 * bool(_LAYS_DOWN.search(words)) - 2 * bool(_LEANS.search(words)) + min(len(stems_of(words)), 8) / 8, at)
        for at, words in enumerate(said)
    ]
    return said[max(plain)[1]]


def _is_said(rule: str, embedder: Embedder, entries: Sequence[str]) -> bool:
    if not entries:
        return False
    texts = [rule, *entries]
    return bool(likeness(texts, embedder.encode(texts))[0, 1:].max() >= ALREADY_SAID)


def _occurrence(one: Instruction) -> Occurrence:
    since = one.before.at if one.before else one.turn.at
    return Occurrence(one.turn.session, (one.turn.message_id,), one.turn.at, minutes_between(since, one.turn.at))
