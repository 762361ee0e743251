"""Splits a model's fact that states several claims into facts of one claim each.

Takes facts with any number of sentences; a fact of one claim can be merged, contradicted, replaced
and forgotten alone. A sentence becomes a fact of its own if it is clear without the ones before it:
it names something, and no pronoun or connective refers back. What follows a semicolon belongs to
its sentence: with the recorded answers, facts that were split there too had six of a hundred more
claims that nobody had labelled.
"""

import re
from dataclasses import replace
from itertools import pairwise

from memory_assets.stages.distill.model.parser import ParsedAnswer, ParsedFact
from memory_assets.text.words import specifics_in, stems_of

FEWEST_STEMS = 4
"""A sentence with fewer content words is a remark about the one before it."""

_ENCLOSED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|\([^()]*\)|\[[^\[\]]*\]")
_END = re.compile(r"[.!?][\"”`)\]]?\s+")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|vs|etc|cf|no|approx|incl|resp)|\b[A-Z])\.$")
_REFERS_BACK = re.compile(
    r"(?i)\b(?:it|its|they|them|their|this|these|those|he|she|his|her|both|which|former"
    r"|latter|the same|such|there|here|neither"
    r"|others?)\b|^(?:so|but|and|or|because|then|also|otherwise|instead|that|one|each|not|no"
    r"|see|via|with|without|for|to|as|by"
    r"|if|when|while|only)\b"
)
_NAMES_SOMETHING = re.compile(r"^(?:the )?(?:owner|user)\b|(?<!^)\b(?-i:[A-Z])[a-z]+|\w-\w", re.I)


def split_facts(answer: ParsedAnswer) -> ParsedAnswer:
    """Returns the answer with a fact for each claim; all else of a fact, such as its time and gate,
    goes with each.
    """

    def split(facts: tuple[ParsedFact, ...]) -> tuple[ParsedFact, ...]:
        return tuple(
            replace(fact, text=claim) for fact in facts for claim in find_claims(fact.text)
        )

    return replace(
        answer, segments=tuple(replace(one, facts=split(one.facts)) for one in answer.segments)
    )


def find_claims(text: str) -> list[str]:
    """Returns the claims of the text in order; together they are the text."""
    claims: list[str] = []
    for sentence in _sentences(text):
        if claims and not _is_clear_alone(sentence):
            claims[-1] += f" {sentence}"
        else:
            claims.append(sentence)
    return claims


def _sentences(text: str) -> list[str]:
    """Returns the sentences; quoted and bracketed text is not cut."""
    enclosed = [found.span() for found in _ENCLOSED.finditer(text)]
    cuts = [
        found.end()
        for found in _END.finditer(text)
        if not any(start < found.start() < end - 1 for start, end in enclosed)
        and not _ABBREVIATION.search(text[: found.start() + 1])
    ]
    return [
        part for start, end in pairwise([0, *cuts, len(text)]) if (part := text[start:end].strip())
    ]


def _is_clear_alone(sentence: str) -> bool:
    names = specifics_in(sentence) or _NAMES_SOMETHING.search(sentence)
    return (
        len(stems_of(sentence)) >= FEWEST_STEMS
        and bool(names)
        and not _REFERS_BACK.search(sentence)
    )
