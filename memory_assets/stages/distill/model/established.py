"""What the earlier parts of a session established, according to their stored answers: shown with
the next part.

The next part may revise it (`[replaces: mem_…]`); the earlier fact is then held as overturned. Ids
follow from window and text, so that a fact has the same id when it is shown and when it is stored.
"""

from collections.abc import Iterable, Sequence

from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.model.material import ShownFact, without_citations
from memory_assets.stages.distill.model.parser import parse_answer
from memory_assets.stages.distill.model.questions import ObserverQuestion, status_of
from memory_assets.text.words import count_tokens, text_hash

MOST_TOKENS = 2_000
"""Budget of established facts in a question, the latest first."""

ID_DIGITS = 12


def established_id(window_id: str, text: str) -> str:
    """Returns the id of a fact of a window."""
    return f"mem_{text_hash(f'{window_id}/{text}')[:ID_DIGITS]}"


def find_established(before: Sequence[ObserverQuestion], answers: AnswerStore) -> list[ShownFact]:
    """Returns what the answers to these questions allow, in order; the latest of it that fits the
    budget.
    """
    found = [fact for question in before for fact in _facts(question, answers)]
    left, kept = MOST_TOKENS, list[ShownFact]()
    for fact in reversed(found):
        left -= count_tokens(fact.text) + ID_DIGITS
        if left < 0:
            break
        kept.append(fact)
    return kept[::-1]


def _facts(question: ObserverQuestion, answers: AnswerStore) -> Iterable[ShownFact]:
    kept = status_of(question, answers, any_prompt=True).kept
    for fact in parse_answer(without_citations(kept.answer.text)).facts if kept else ():
        if fact.gate == "allow":
            yield ShownFact(established_id(question.window_id, fact.text), fact.text)
