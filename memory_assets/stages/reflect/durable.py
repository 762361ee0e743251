"""Decides whether words of the owner are durable: a rule, preference, decision or statement, not a
request for one task.

Takes the text of a memory, or a sentence as it was typed. Sentences in the owner's own words are
judged by the grammar of the rules observer (`distill/rules/grammar.py`). A text that a model wrote
in the third person is durable if its category is a rule or a preference, and if it does not only
report what was done.
"""

from typing import NamedTuple

from memory_assets.english.changes import read_changes
from memory_assets.schema.protocols import Row
from memory_assets.stages.distill.rules.grammar import act_in
from memory_assets.stages.embed.merge import NORMS
from memory_assets.stages.reflect.present import what_holds
from memory_assets.text.patterns import patterns_beside
from memory_assets.text.sentences import split_sentences

_PATTERNS = patterns_beside(__file__)
_AGREED = _PATTERNS["agreed"]

_REASON = _PATTERNS["reason"]


class Said(NamedTuple):
    """A sentence of a memory, with its words that order, decide or state something."""

    sentence: str
    words: str
    """Empty if the sentence does none of this."""


def own_words(memory_text: str) -> str:
    """Returns the content of a memory's text, without the note who said or approved it."""
    text = memory_text.strip()
    quoted = _PATTERNS["said"].match(text)
    if quoted:
        return quoted["said"].strip()
    agreed = _AGREED.search(text)
    if agreed and agreed.start() > len(agreed["said"]) / 2:
        return text[: agreed.start()].rstrip(" :")
    return text


def answer_in(memory_text: str) -> str | None:
    """Returns the owner's words of approval that the memory quotes; None if it quotes none."""
    agreed = _AGREED.search(memory_text.strip())
    return agreed["said"] if agreed else None


def sentences_of(memory_text: str) -> list[Said]:
    """Returns the sentences of a memory."""
    sentences: list[Said] = []
    for sentence in split_sentences(own_words(memory_text)):
        act = act_in(sentence, is_named=False)
        sentences.append(Said(sentence, act.words if act else ""))
    return sentences


def is_durable(memory: Row) -> bool:
    """Returns whether a memory or a proposal is a durable statement of the owner."""
    if memory["author"] != "owner":
        return False
    is_norm = memory["category"] in NORMS and what_holds(own_words(memory["text"])) != ""
    return is_norm or any(sentence.words for sentence in sentences_of(memory["text"]))


def is_passing(memory_text: str) -> bool:
    """Returns whether a memory only reports what was done once.

    A reason, or what is used now instead of something else, lasts.
    """
    words = own_words(memory_text)
    return not what_holds(words) and not _REASON.search(words) and not read_changes(words)
