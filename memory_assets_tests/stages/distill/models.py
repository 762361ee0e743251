"""A scripted model: a queue of answers, and a record of what it was asked; and answers as if it had been asked already."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

import polars as pl

from memory_assets.errors import ModelError
from memory_assets.schema.protocols import Batch, ModelAnswer, ModelRequest
from memory_assets.stages.distill.model.observer import Answered

START = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)


class ScriptedModel:
    """Gives the answers in order; the last one again and again. An error in their place is raised."""

    name = "scripted-1"

    def __init__(self, *answers: str | ModelError, stop_reasons: Iterable[str] = ()) -> None:
        self.answers = list(answers)
        self.stop_reasons = list(stop_reasons)
        self.asked: list[ModelRequest] = []
        self.handed_in: dict[str, dict[str, ModelRequest]] = {}
        self.polls_needed = 0
        """How often a batch is asked for before it has ended."""

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Returns the next answer."""
        answer = self._next(request)
        if isinstance(answer, ModelError):
            raise answer
        return answer

    def submit(self, requests: Mapping[str, ModelRequest]) -> Batch:
        """Takes a batch in."""
        batch_id = f"batch_{len(self.handed_in) + 1}"
        self.handed_in[batch_id] = dict(requests)
        return self._batch(batch_id, is_ended=False)

    def batch(self, batch_id: str) -> Batch:
        """Returns the batch, ended once it was asked for often enough."""
        self.polls_needed -= 1
        return self._batch(batch_id, is_ended=self.polls_needed < 0)

    def batches(self, since: datetime) -> Iterator[Batch]:
        """Yields all batches, the latest first."""
        return (
            self._batch(batch_id, is_ended=False)
            for batch_id in reversed(self.handed_in)
            if since <= START
        )

    def results(self, batch_id: str) -> Iterator[tuple[str, ModelAnswer | ModelError]]:
        """Yields the next answer for each question."""
        return iter(
            [(name, self._next(request)) for name, request in self.handed_in[batch_id].items()]
        )

    def _next(self, request: ModelRequest) -> ModelAnswer | ModelError:
        self.asked.append(request)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(found, ModelError):
            return found
        stop = self.stop_reasons.pop(0) if self.stop_reasons else "end_turn"
        return ModelAnswer(found, self.name, len(request.material) // 4, len(found) // 4, stop)

    def _batch(self, batch_id: str, *, is_ended: bool) -> Batch:
        state = "succeeded" if is_ended else "processing"
        return Batch(
            batch_id, START + timedelta(minutes=1), is_ended, {state: len(self.handed_in[batch_id])}
        )


def answered(
    frame: pl.DataFrame, *texts: str | None, model: str = "scripted-1"
) -> dict[str, list[Answered]]:
    """What the model said of each window of the messages: a text for each equal share of its messages."""
    found = {}
    for window_id, count in frame.group_by("window_id", maintain_order=True).len().iter_rows():
        bounds = [count * number // len(texts) for number in range(len(texts) + 1)]
        found[window_id] = [
            Answered(bounds[number], bounds[number + 1] - 1, model, "prompt1", text)
            for number, text in enumerate(texts)
        ]
    return found
