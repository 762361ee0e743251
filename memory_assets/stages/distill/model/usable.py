"""Decides whether an answer of the observer can be used: it has facts, or says in the agreed form
that there are none.

An answer is not usable if it is empty, a refusal in words, or mostly unsupported by the transcript.
The plain bullets of a small model are facts, if the transcript supports one of them. The model is
asked once more for an answer that cannot be used; after that the rules observe those messages, and
a check names the question.
"""

import re
from collections.abc import Sequence

from memory_assets.stages.distill.grounding.fact_evidence import Grounding
from memory_assets.stages.distill.model import parser
from memory_assets.stages.distill.rules.exchanges import Row

FEWEST_JUDGED = 4
"""With fewer facts, single ones without support are no sign of a bad answer."""

LEAST_SUPPORTED = 0.5
"""Smallest share of facts that the transcript supports."""

IS_EMPTY = "The answer is empty."
IS_PROSE = "The answer has no facts in any form that can be read: a refusal, or prose."
IS_UNSUPPORTED = "Most facts of the answer have no support in the transcript."

_SAYS_NOTHING = re.compile(r"<\s*observations\s*/?>|\bhasMemory\b|^\s*\{|^\s*\[\s*\]", re.I)
"""How an answer says that nothing is worth keeping."""


def fault_of(text: str, messages: Sequence[Row]) -> str:
    """Returns why the complete answer about the messages cannot be used; empty if it can."""
    if not text.strip():
        return IS_EMPTY
    answer = parser.parse_answer(text)
    if answer.path == "raw":
        return IS_PROSE
    if not answer.facts:
        return "" if _SAYS_NOTHING.search(text) or answer.segments else IS_PROSE
    return _fault_of_facts(answer, messages)


def _fault_of_facts(answer: parser.ParsedAnswer, messages: Sequence[Row]) -> str:
    facts = [fact for fact in answer.facts if fact.gate != "discard"]
    is_plain_list = answer.path == "list" and not is_judged(answer)
    is_short = len(facts) < FEWEST_JUDGED
    if is_short and not is_plain_list:
        return ""
    supported = _count_supported(facts, messages)
    if is_plain_list and not supported:
        return IS_PROSE
    return "" if is_short or supported >= LEAST_SUPPORTED * len(facts) else IS_UNSUPPORTED


def is_judged(answer: parser.ParsedAnswer) -> bool:
    """Returns whether the model gave a verdict on any of its facts."""
    return any(fact.gate for fact in answer.facts)


def _count_supported(facts: Sequence[parser.ParsedFact], messages: Sequence[Row]) -> int:
    grounding = Grounding(messages)
    evidence = [grounding.find(fact.text) for fact in facts]
    return len([each for each in evidence if each and not each.fault])
