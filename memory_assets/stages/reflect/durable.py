"""Decides whether words of the owner hold in general: a rule, a preference, a decision or a
statement, and no errand.

Takes a memory's text, or a sentence as it was typed. The grammar is that of the rules observer
(`distill/rules/grammar.py`); what a model words in the third person is durable if it is filed as a
rule or a preference and does more than report.
"""

from typing import NamedTuple

from memory_assets.schema.protocols import Row
from memory_assets.stages.distill.rules.grammar import acts_in
from memory_assets.stages.embed.merge import NORMS
from memory_assets.stages.reflect.present import what_holds
from memory_assets.text.patterns import patterns_beside
from memory_assets.text.sentences import split_sentences

_PATTERNS = patterns_beside(__file__)
_AGREED = _PATTERNS["agreed"]

_STANDING = _PATTERNS["standing"]
"""Says outright that it lasts, or had to be repeated."""


class Said(NamedTuple):
    """A sentence of a memory, and the words in it that lay down or state something; without such
    words it is other talk.
    """

    sentence: str
    words: tuple[str, ...]


def own_words(memory_text: str) -> str:
    """Returns what a memory says, without who said or approved it."""
    text = memory_text.strip()
    quoted = _PATTERNS["said"].match(text)
    if quoted:
        return quoted["said"].strip()
    agreed = _AGREED.search(text)
    if agreed and agreed.start() > len(agreed["said"]) / 2:
        return text[: agreed.start()].rstrip(" :")
    return text


def answer_in(memory_text: str) -> str | None:
    """Returns the words by which the owner approved what the memory says; None if it does not quote
    any.
    """
    agreed = _AGREED.search(memory_text.strip())
    return agreed["said"] if agreed else None


def sentences_of(memory_text: str) -> list[Said]:
    """Returns the sentences of a memory."""
    sentences: list[Said] = []
    for sentence in split_sentences(own_words(memory_text)):
        acts = acts_in(sentence, is_named=False)
        sentences.append(Said(sentence, tuple(act.words for act in acts)))
    return sentences


def is_durable(memory: Row) -> bool:
    """Returns whether a memory or a proposal is a durable statement of the owner."""
    is_norm = memory["category"] in NORMS and what_holds(own_words(memory["text"])) != ""
    return memory["author"] == "owner" and (
        is_norm or any(sentence.words for sentence in sentences_of(memory["text"]))
    )


def is_standing_order(sentence: str) -> bool:
    """Returns whether a sentence of the owner is unmistakably meant to last."""
    return _STANDING.search(sentence.replace("’", "'")) is not None
