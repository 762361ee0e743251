"""Lets a model put the first results of a search into the order in which they help with the
question.

The search has the answer more often among its first thirty results than among the few that are
returned. Where a model is configured, and the setting `rerank` is not off, it is shown these in few
words and names those that help. Its answer is used only if it names nothing but results that it was
shown; the results that it does not name follow in their order. It has the time that the rewrite of
the question left until the deadline. Its material is masked and fenced, without results of projects
that may not be sent. If it fails, the order stays, and a note says why.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory_assets.schema.protocols import ModelAnswer, ModelRequest
from memory_assets.stages.distill.model.material import fenced, read_prompt
from memory_assets.stages.recall.query import AnswerDependencies, as_sent, ask_model
from memory_assets.stages.recall.results import Cost, Recalled, cost_of_call, one_line

RERANKED = 30
"""Results that the model is shown."""

CHARS_A_RESULT = 400
ANSWER_TOKENS = 100
NOTE = "The results were not reranked: {}."

_ORDER = re.compile(r"<order>([\d,\s]*)</order>")


@dataclass
class Reranker:
    """Reranks the results of one search; has the cost afterwards, and why the order stayed."""

    question: str
    dependencies: AnswerDependencies
    until: float
    """The end of the deadline, by the monotonic clock."""
    is_used: bool = False
    cost: Cost = field(default_factory=Cost)
    note: str | None = None

    def rank(self, results: Sequence[Recalled]) -> list[Recalled]:
        """Returns the results in the model's order, or as they are."""
        found, model = list(results), self.dependencies.model
        may_send = self.dependencies.may_send
        first = enumerate(found[:RERANKED])
        places = [place for place, one in first if may_send(one.project)]
        if model is None or not self.dependencies.reranks or len(places) < 2:
            return found
        shown = [found[place] for place in places]

        def check(answer: ModelAnswer) -> str | None:
            is_order = parse_order(answer, len(shown)) is not None
            return None if is_order else "did not answer with numbers of results"

        request = request_of(self.question, shown)
        seconds = self.until - time.monotonic()
        reply = ask_model(request, self.dependencies, check, seconds)
        self.cost = Cost(model_calls=reply.calls)
        if reply.answer:
            self.cost = cost_of_call(reply.answer, self.dependencies.price(reply.answer))
        if reply.problem or reply.answer is None:
            self.note = NOTE.format(f"{model.name} {reply.problem}")
            return found
        self.is_used = True
        order = parse_order(reply.answer, len(shown)) or []
        order += [number for number in range(len(shown)) if number not in order]
        for place, number in zip(places, order, strict=True):
            found[place] = shown[number]
        return found


def parse_order(answer: ModelAnswer, count: int) -> list[int] | None:
    """Returns the places of the named results from 0, best first, each once; None where it names
    anything else.
    """
    named = _ORDER.search(answer.text)
    if named is None or answer.stop_reason not in ("end_turn", "stop_sequence"):
        return None
    numbers = [int(number[:4]) for number in re.findall(r"\d+", named[1])]
    if not all(1 <= number <= count for number in numbers):
        return None
    return [number - 1 for number in dict.fromkeys(numbers)]


def request_of(question: str, results: Sequence[Recalled]) -> ModelRequest:
    """Returns the request to the model."""
    lines = (
        f"[{number}] ({one.kind}, {one.event_at:%Y-%m-%d}) "
        f"{one_line(as_sent(one.text), CHARS_A_RESULT)}"
        for number, one in enumerate(results, start=1)
    )
    material = [fenced("results", "\n".join(lines)), fenced("question", as_sent(question))]
    return ModelRequest(read_prompt("recall", "rerank"), "\n\n".join(material), ANSWER_TOKENS)
