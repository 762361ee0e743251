"""Sends open questions to a model and stores every answer before it is parsed.

Takes questions and the answer store. Afterwards each question is answered, cut or refused in the store, or its error is
returned. Questions are sent in parallel, or as a batch. A wrong key or model name stops everything at once, an overload after
the requests in progress; answers that came by then are stored, so the next run sends only the rest.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar

from memory_assets.errors import ModelBusyError, ModelError, ModelRequestError, ModelSetupError
from memory_assets.schema.progress import track
from memory_assets.schema.protocols import Model, ModelRequest
from memory_assets.stages.distill.model.answers import AnswerKey, AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.batches import BatchedQuestion, BatchQueue
from memory_assets.stages.distill.model.earlier import EarlierMemory
from memory_assets.stages.distill.model.questions import Images, ObserverQuestion, QuestionStatus, next_attempt, status_of

ATTEMPTS = 2
"""A question whose answer was cut is sent a second time, with more room."""


@dataclass(frozen=True)
class ModelAsker:
    """A model with what is needed to ask it."""

    model: Model
    answers: AnswerStore
    clock: Callable[[], datetime]
    at_once: int = 4
    earlier: Callable[[ObserverQuestion], Sequence[EarlierMemory]] = field(default=lambda _: ())
    images: Callable[[ObserverQuestion], Images] = field(default=lambda _: {})

    def ask_all(self, statuses: Iterable[QuestionStatus]) -> dict[str, ModelError]:
        """Asks the open questions in parallel; returns the error of each question without an answer, by key name."""
        problems: dict[str, ModelError] = {}
        waiting = self._still_open(statuses, problems)
        for _ in range(ATTEMPTS):
            problems |= ask_each(list(map(next_attempt, waiting)), self._ask, self.at_once, self.model.name)
            waiting = self._still_open(waiting, problems)
        return problems

    def ask_in_batches(self, statuses: Iterable[QuestionStatus], queue: BatchQueue) -> dict[str, ModelError]:
        """Asks the open questions as a batch, after collecting the batches of earlier runs."""
        problems: dict[str, ModelError] = {}
        waiting = list(statuses)
        queue.collect(self.answers.write)
        for _ in range(ATTEMPTS):
            waiting = self._still_open(waiting, problems)
            if waiting:
                queue.submit([BatchedQuestion(q.key, *self._prepare(q)) for q in map(next_attempt, waiting)])
                problems |= queue.collect(self.answers.write)
        for problem in problems.values():
            if isinstance(problem, ModelSetupError | ModelBusyError):
                raise problem
        return problems

    def _still_open(self, statuses: Iterable[QuestionStatus], problems: Mapping[str, ModelError]) -> list[QuestionStatus]:
        again = (status_of(status.question, self.answers) for status in statuses if status.state == "open")
        return [status for status in again if status.state == "open" and problem_of(status.question, problems) is None]

    def _ask(self, question: ObserverQuestion) -> None:
        """Asks one question and stores the answer; without images if the model does not accept them."""
        shown_ids, request = self._prepare(question)
        try:
            answer = self.model.ask(request)
        except ModelRequestError:
            if not request.images:
                raise
            answer = self.model.ask(question.request(self.earlier(question)))
        self.answers.write(StoredAnswer(question.key, answer, self.clock(), shown_ids))

    def _prepare(self, question: ObserverQuestion) -> tuple[tuple[str, ...], ModelRequest]:
        """Returns the ids of the earlier memories that are shown, and the request."""
        earlier = self.earlier(question)
        images = self.images(question) if question.has_images else {}
        return tuple(memory.id for memory in earlier), question.request(earlier, images)


class Keyed(Protocol):
    """A question whose answer is stored under a key."""

    @property
    def key(self) -> AnswerKey:
        """The inputs of its answer."""
        ...


Q = TypeVar("Q", bound=Keyed)


def ask_each(questions: Sequence[Q], ask: Callable[[Q], None], at_once: int, model: str) -> dict[str, ModelError]:
    """Asks questions in parallel; returns the error of each question without an answer, by key name.

    A wrong key or an overload stops the remaining questions and is raised.
    """
    problems: dict[str, ModelError] = {}
    is_over = threading.Event()

    def ask_one(question: Q) -> None:
        if not is_over.is_set():
            try:
                ask(question)
            except (ModelSetupError, ModelBusyError):
                is_over.set()
                raise

    with ThreadPoolExecutor(max_workers=at_once) as pool:  # requests in progress are paid for: their answers are stored
        running = {pool.submit(ask_one, question): question for question in questions}
        for done in track(as_completed(running), f"Asking {model}", total=len(running)):
            error = done.exception()
            if isinstance(error, ModelError) and not isinstance(error, ModelSetupError | ModelBusyError):
                problems[running[done].key.name] = error
            elif error is not None:
                is_over.set()
                raise error
    return problems


def problem_of(question: ObserverQuestion, problems: Mapping[str, ModelError]) -> ModelError | None:
    """Returns why the question has no answer, from either attempt."""
    return problems.get(question.key.name) or problems.get(question.wider.key.name)
