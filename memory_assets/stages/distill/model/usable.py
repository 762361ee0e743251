"""Decides whether an answer of the observer can be used: it has facts, or says in the agreed form
that there are none.

An answer is not usable if it is empty, a refusal in words, or mostly unsupported by the transcript.
The model is then asked once more; after that the rules observe those messages, and a check names
the question.
"""

import re
from collections.abc import Sequence

from memory_assets.stages.distill.grounding.fact_evidence import Grounding
from memory_assets.stages.distill.model.parser import ParsedAnswer, parse_answer
from memory_assets.stages.distill.rules.exchanges import Row

FEWEST_JUDGED = 4
"""With fewer facts, single ones without support are no sign of a bad answer."""

MOST_UNSUPPORTED = 0.5
"""Largest share of facts without support."""

IS_EMPTY = "The answer is empty."
IS_PROSE = "The answer has no facts in any form that can be read: a refusal, or prose."
IS_UNSUPPORTED = "Most facts of the answer have no support in the transcript."

_SAYS_NOTHING = re.compile(r"<\s*observations\s*/?>|\bhasMemory\b|^\s*\{|^\s*\[\s*\]", re.I)
"""How an answer says that nothing is worth keeping."""


def fault_of(text: str, messages: Sequence[Row]) -> str:
    """Returns why the complete answer about the messages cannot be used; empty if it can."""
    if not text.strip():
        return IS_EMPTY
    answer = parse_answer(text)
    if answer.path == "raw" or (
        answer.path == "list" and not any(fact.gate for fact in answer.facts)
    ):
        return IS_PROSE
    if not answer.facts:
        return "" if _SAYS_NOTHING.search(text) or answer.segments else IS_PROSE
    return IS_UNSUPPORTED if _is_unsupported(answer, messages) else ""


def _is_unsupported(answer: ParsedAnswer, messages: Sequence[Row]) -> bool:
    facts = [fact for fact in answer.facts if fact.gate != "discard"]
    if len(facts) < FEWEST_JUDGED:
        return False
    grounding = Grounding(messages)
    found = (grounding.find(fact.text) for fact in facts)
    return sum(
        evidence is None or bool(evidence.fault) for evidence in found
    ) > MOST_UNSUPPORTED * len(facts)
