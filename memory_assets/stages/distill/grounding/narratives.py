"""Removes from a model's text what somebody else than the owner ordered or decided."""

from collections.abc import Sequence

from memory_assets.stages.distill.grounding.fact_evidence import Grounding
from memory_assets.stages.distill.grounding.owners_words import split_sentences
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.rules.instructions import is_directive


def without_orders(text: str, messages: Sequence[Row]) -> str:
    """Returns the text without sentences that order or decide something that the owner did not
    say.
    """
    sentences = split_sentences(text)
    if not any(map(is_directive, sentences)):
        return text
    grounding = Grounding(messages)

    def _is_owners(sentence: str) -> bool:
        evidence = grounding.find(sentence)
        return evidence is not None and evidence.author == "owner" and not evidence.fault

    return " ".join(s for s in sentences if not is_directive(s) or _is_owners(s))


def without_quoted(text: str, messages: Sequence[Row]) -> str:
    """Returns the sentences of a model's text that no quoted material brought in and that give no
    order of somebody else.
    """
    grounding = Grounding(messages)
    sentences = [part for part in split_sentences(text) if not grounding.is_planted(part)]
    return without_orders(" ".join(sentences), messages)
