"""Puts open questions to a model and stores every answer before anybody reads it.

Takes questions and the answer store; afterwards each question is answered, cut or refused in the store, or its problem
is returned. Several are asked at a time, or all in one batch. A key or a name that is wrong ends it at once, an overload
when the questions under way have ended; what was answered by then is kept, so the next run asks only for the rest.
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
from memory_assets.stages.distill.model.answers import AnswerKey, AnswerStore, KeptAnswer
from memory_assets.stages.distill.model.batches import BatchDesk, HandedIn
from memory_assets.stages.distill.model.earlier import Remembered
from memory_assets.stages.distill.model.questions import Images, Question, Standing, next_attempt, standing_of

ATTEMPTS = 2
"""A question is put once, and once more with more room where its answer was cut."""


@dataclass(frozen=True)
class Asker:
    """A model with all that it takes to ask it."""

    model: Model
    answers: AnswerStore
    clock: Callable[[], datetime]
    at_once: int = 4
    earlier: Callable[[Question], Sequence[Remembered]] = field(default=lambda _: ())
    images: Callable[[Question], Images] = field(default=lambda _: {})

    def ask_all(self, standings: Iterable[Standing]) -> dict[str, ModelError]:
        """Asks what is open, several at a time; returns, by the name of its key, why a question has no answer."""
        problems: dict[str, ModelError] = {}
        waiting = [standing for standing in standings if standing.state == "open"]
        for _ in range(ATTEMPTS):
            problems |= ask_each([next_attempt(standing) for standing in waiting], self._ask, self.at_once, self.model.name)
            waiting = self._still_open(waiting, problems)
        return problems

    def ask_in_batches(self, standings: Iterable[Standing], desk: BatchDesk) -> dict[str, ModelError]:
        """Asks what is open as a batch, after finishing what an earlier run handed in."""
        problems: dict[str, ModelError] = {}
        waiting = [standing for standing in standings if standing.state == "open"]
        desk.collect(self.answers.write)
        for _ in range(ATTEMPTS):
            waiting = self._still_open(waiting, problems)
            if waiting:
                desk.submit([HandedIn.of(question, *self._prepared(question)) for question in map(next_attempt, waiting)])
                problems |= desk.collect(self.answers.write)
        for problem in problems.values():
            if isinstance(problem, ModelSetupError | ModelBusyError):
                raise problem
        return problems

    def _still_open(self, standings: Sequence[Standing], problems: Mapping[str, ModelError]) -> list[Standing]:
        again = [standing_of(standing.question, self.answers) for standing in standings]
        return [s for s in again if s.state == "open" and problem_of(s.question, problems) is None]

    def _ask(self, question: Question) -> None:
        """Asks one question and stores the answer; without its pictures where the model cannot see."""
        request, shown_ids = self._prepared(question)
        try:
            answer = self.model.ask(request)
        except ModelRequestError:
            if not request.images:
                raise
            answer = self.model.ask(question.request(self.earlier(question)))
        self.answers.write(KeptAnswer(question.key, answer, self.clock(), shown_ids))

    def _prepared(self, question: Question) -> tuple[ModelRequest, tuple[str, ...]]:
        """Returns what the model is sent, and the ids of the earlier memories in it."""
        earlier = self.earlier(question)
        images = self.images(question) if question.has_images else {}
        return question.request(earlier, images), tuple(memory.id for memory in earlier)


class Named(Protocol):
    """A question whose answer is stored under a key."""

    @property
    def key(self) -> AnswerKey:
        """What its answer is made from."""
        ...


Q = TypeVar("Q", bound=Named)


def ask_each(questions: Sequence[Q], ask: Callable[[Q], None], at_once: int, model: str) -> dict[str, ModelError]:
    """Asks several at a time; returns, by the name of its key, why a question has no answer.

    Where asking as things stand is useless (a wrong key, an overload) the rest is not asked, and the error is raised.
    """
    problems: dict[str, ModelError] = {}
    is_over = threading.Event()

    def put(question: Q) -> None:
        if not is_over.is_set():
            try:
                ask(question)
            except (ModelSetupError, ModelBusyError):
                is_over.set()
                raise

    with ThreadPoolExecutor(max_workers=at_once) as pool:  # those under way are paid for: their answers are kept
        running = {pool.submit(put, question): question for question in questions}
        for done in track(as_completed(running), f"Asking {model}", total=len(running)):
            error = done.exception()
            if isinstance(error, ModelError) and not isinstance(error, ModelSetupError | ModelBusyError):
                problems[running[done].key.name] = error
            elif error is not None:
                is_over.set()
                raise error
    return problems


def problem_of(question: Question, problems: Mapping[str, ModelError]) -> ModelError | None:
    """Returns why the question has no answer, whichever attempt told."""
    return problems.get(question.key.name) or problems.get(question.wider.key.name)
