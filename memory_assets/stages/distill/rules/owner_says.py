"""Finds what the owner laid down, stated or approved, in their own words.

Takes exchanges; returns candidates with the owner as author. A fact is the sentence as it was typed, without the words that
only open a turn; a wish in the first person names the owner instead.
"""

import re
from collections.abc import Iterator, Sequence

from memory_assets.stages.distill.rules.approvals import find_approved
from memory_assets.stages.distill.rules.candidates import FACT_CHARS, Candidate, candidate_of
from memory_assets.stages.distill.rules.exchanges import Exchange
from memory_assets.stages.distill.rules.grammar import ERRAND, LEAST_NAMED, SpeechAct, acts_in, is_question, strip_opening
from memory_assets.text.words import stems_of

APPROVED = 0.8
"""Worth of a proposal that the owner approved."""

_WISH = re.compile(
    r"(?i)^i(?P<would>'d| would)?(?P<not> (?:really )?(?:don'?t|do not))? (?P<how>(?:really|only|always|much) )?"
    r"(?P<verb>want|prefer|favou?r|like|rather)\b"
)


def find_owner_facts(exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates of all turns of the owner, in order."""
    found: list[Candidate] = []
    for before, exchange in zip([None, *exchanges], exchanges, strict=False):
        if turn := exchange.message:
            for reply in before.replies[-1:] if before else ():
                approved = find_approved(exchange.said, reply)
                found += [candidate_of("decision", APPROVED, text, words, turn, reply.message) for text, words in approved]
            found += [candidate_of(a.kind, a.worth, phrase(a.words), a.words, turn) for a in _acts(exchange.owner_sentences)]
    return [candidate for candidate in found if len(candidate.text) <= FACT_CHARS]


def phrase(words: str) -> str:
    """Returns the words as a sentence, with the owner named in place of a first person that wishes, or if they are very few."""
    said = _WISH.sub(_in_third_person, words.rstrip(" .,;:!"))
    shown = f"{said[:1].upper()}{said[1:]}" if re.match(r"[a-z']+[:, ]", said) else said
    return f"{shown}." if len(stems_of(said)) >= LEAST_NAMED else f"The owner said: “{said}”."


def _in_third_person(wish: re.Match[str]) -> str:
    verb = f"{wish['how'] or ''}{wish['verb'].lower()}"
    return f"The owner does not {verb}" if wish["not"] else f"The owner would {verb}" if wish["would"] else f"The owner {verb}s"


def _acts(sentences: Sequence[str]) -> Iterator[SpeechAct]:
    """Yields the acts of a turn; a rule about "it" is joined to the sentence before, which says what it is."""
    before, is_errand = "", bool(sentences and ERRAND.match(strip_opening(sentences[0])))
    for sentence in sentences:
        yield from acts_in(sentence, is_errand=is_errand)
        if sentence.lower().startswith(("it ", "they ")) and before and not is_question(before) and not is_errand:
            yield from (act for act in acts_in(f"{before} {sentence}") if act.kind == "rule")
        before = sentence
