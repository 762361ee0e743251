"""Consults a model about days of a store: what is open, what it would cost, and the asking itself.

The asset `observer_answers` asks through it, and `memory model cost` counts through it, so both speak of the same questions.
One process asks at a time, so that no question is paid twice; the store's own lock stays free meanwhile.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Protocol

import filelock
import polars as pl

from memory_assets.errors import ModelError, ModelSetupError
from memory_assets.schema.frames import frame_of
from memory_assets.schema.progress import track
from memory_assets.schema.protocols import Image, Model, ModelAnswer
from memory_assets.services.prices import cost_of, estimate_of, prices_of
from memory_assets.stages.capture.formats.images import images_in
from memory_assets.stages.distill.model.answer_rows import answer_row
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.model.asking import ModelAsker, problem_of
from memory_assets.stages.distill.model.batches import POLL_SECONDS, BatchQueue
from memory_assets.stages.distill.model.earlier import EarlierMemory, earlier_memories, pick_earlier
from memory_assets.stages.distill.model.questions import Images, ObserverQuestion, QuestionStatus, plan_questions, status_of
from memory_assets.store.archive import Range
from memory_assets.store.settings import RULES
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder

ANSWER_TOKENS = 1_100
"""What an answer takes where none was seen yet: the mean of thirteen recorded answers, 4,400 characters."""

FEWEST_IN_A_BATCH = 20
"""Fewer questions are asked one by one even in a backfill: a batch may take an hour."""

MOST_IMAGES = 20
MOST_IMAGE_BYTES = 3_500_000
"""The Messages API takes 5 MB of base64 a picture."""


@dataclass(frozen=True)
class Cost:
    """What a day's questions would take; prices in US dollars, empty where the model's is unknown."""

    day: date
    windows: int
    calls: int
    answered: int
    """Calls that a stored answer settles: they cost nothing."""
    input_tokens: int
    output_tokens: int
    usd: float | None
    usd_in_batches: float | None


@dataclass(frozen=True)
class Costs:
    """What a backfill would call and cost, day by day."""

    model: str
    has_price: bool
    days: tuple[Cost, ...]
    spent_usd: float
    """Price of all answers in the store so far."""


class Estimated(Protocol):
    """A question whose size is known before it is asked."""

    def estimated_tokens(self) -> int:
        """Returns about how many tokens are sent."""
        ...


@dataclass(frozen=True)
class Consultation:
    """A store and the name of the model that is, or would be, asked."""

    store: Store
    model_name: str
    any_prompt: bool = False
    """What another prompt or model said of the same messages is good enough."""

    @cached_property
    def answers(self) -> AnswerStore:
        """The raw answers of the store."""
        return AnswerStore(self.store.answers)

    def standings(self, day: str) -> list[QuestionStatus]:
        """Returns how the questions about the day's windows stand, by window and call."""
        settings = self.store.settings
        windows, messages = self.store.tables.read("windows"), self.store.tables.read("messages", [day])
        observed = windows.filter((pl.col("status") == "observed") & (pl.col("day").cast(pl.String) == day)).sort("window_id")
        by_window = {window_id: own for (window_id,), own in messages.group_by("window_id", maintain_order=True)}
        return [
            status_of(question, self.answers, any_prompt=self.any_prompt)
            for window in observed.iter_rows(named=True)
            if (own := by_window.get(window["window_id"])) is not None
            for question in plan_questions(
                window, own.sort("ordinal"), self.model_name, settings.zone, settings.observer_prompt
            )
        ]

    def costs(self, days: Iterable[str]) -> Costs:
        """Returns what asking about each day would take; raises `ModelSetupError` where no model is named."""
        if self.model_name == RULES:
            raise ModelSetupError(
                "MEMORY_MODEL is 'rules': nobody is asked and nothing is paid. Name a model, as in "
                "`memory model cost --model claude-haiku-4-5`, to see what it would take."
            )
        found = [self._cost(day, self.standings(day)) for day in track(list(days), "Counting questions")]
        return Costs(
            self.model_name, self._price(ModelAnswer("", self.model_name, 1, 1)) is not None, tuple(found), self.spent()
        )

    def spent(self) -> float:
        """Returns the price of all answers so far, in US dollars, those of models without a known price left out."""
        return sum(self._price(kept.answer) or 0.0 for kept in self.answers.every())

    def rows(self, day: str, problems: Mapping[str, ModelError]) -> pl.DataFrame:
        """Returns the day's rows of `observer_answers` from what is stored now."""
        rows = [
            answer_row(standing, date.fromisoformat(day), problem_of(standing.question, problems), self._price)
            for standing in self.standings(day)
        ]
        return frame_of("observer_answers", rows)

    def _price(self, answer: ModelAnswer) -> float | None:
        return cost_of(answer, self._prices)

    def price_of(self, questions: Sequence[Estimated], *, in_batches: bool) -> float | None:
        """Returns about what the questions would cost in US dollars; nothing where the model's price is unknown."""
        sent, told = self._tokens(questions)
        return estimate_of(self.model_name, sent, told, self._prices, in_batches=in_batches)

    def check_budget(self, questions: Sequence[Estimated], *, in_batches: bool) -> None:
        """Raises `ModelSetupError` where the questions would cost more than the settings allow for one run."""
        most = self.store.settings.model_most_usd
        usd = self.price_of(questions, in_batches=in_batches)
        if usd is not None and usd > most:
            raise ModelSetupError(
                f"Asking {self.model_name} {len(questions)} questions would cost about ${usd:.2f}; MEMORY_MODEL_MOST_USD "
                f"allows ${most:.2f} for one run. `memory model cost` lists the days; raise the limit, or take fewer days."
            )

    def _cost(self, day: str, standings: Sequence[QuestionStatus]) -> Cost:
        waiting = [standing.question for standing in standings if standing.state == "open"]
        return Cost(
            date.fromisoformat(day),
            len({standing.question.window_id for standing in standings}),
            len(standings),
            len(standings) - len(waiting),
            *self._tokens(waiting),
            self.price_of(waiting, in_batches=False),
            self.price_of(waiting, in_batches=True),
        )

    def _tokens(self, questions: Sequence[Estimated]) -> tuple[int, int]:
        """Returns about how many tokens would be sent and answered."""
        return sum(question.estimated_tokens() for question in questions), len(questions) * self._usual_answer

    @cached_property
    def _usual_answer(self) -> int:
        """Mean output of this model so far."""
        told = [kept.answer.output_tokens for kept in self.answers.every() if kept.key.model == self.model_name]
        return round(sum(told) / len(told)) if told else ANSWER_TOKENS

    @cached_property
    def _prices(self):
        return prices_of(self.store.settings)


@dataclass(frozen=True)
class Consultant:
    """A model that is asked what a consultation leaves open."""

    consultation: Consultation
    model: Model
    backfill: bool = False
    """Months may wait for a batch; a session that just ended may not."""
    wait: Callable[[float], None] = field(default=time.sleep)
    poll_seconds: float = POLL_SECONDS

    def ask(self, days: Sequence[str]) -> dict[str, ModelError]:
        """Asks about the days; returns, by the name of its key, why a question has no answer.

        Raises `ModelSetupError` where nothing can be asked as things stand, or where it would cost more than the settings
        allow, and `ModelBusyError` where asking later may help. What was answered by then is stored.
        """
        folder = make_folder(self.consultation.answers.root)
        with filelock.FileLock(folder / "asking.lock", mode=0o600):
            waiting = [s for day in days for s in self.consultation.standings(day) if s.state == "open"]
            in_batches = self._in_batches(len(waiting))
            self.consultation.check_budget([standing.question for standing in waiting], in_batches=in_batches)
            if in_batches:
                clock = self.consultation.store.settings.clock
                desk = BatchQueue(folder / "batches", self.model, clock, self.wait, self.poll_seconds)
                return self._asker.ask_in_batches(waiting, desk)
            return self._asker.ask_all(waiting)

    @cached_property
    def _asker(self) -> ModelAsker:
        settings = self.consultation.store.settings
        return ModelAsker(
            self.model, self.consultation.answers, settings.clock, settings.model_at_once, self._earlier, self._images
        )

    def _in_batches(self, waiting: int) -> bool:
        wish = self.consultation.store.settings.model_batches
        return wish == "always" or (wish == "auto" and self.backfill and waiting >= FEWEST_IN_A_BATCH)

    @cached_property
    def _remembered(self) -> list[EarlierMemory]:
        return earlier_memories(self.consultation.store.tables.read("memories"))

    def _earlier(self, question: ObserverQuestion) -> list[EarlierMemory]:
        return pick_earlier(self._remembered, question.call.messages, question.project, question.person)

    def _images(self, question: ObserverQuestion) -> Images:
        """Returns the pictures of the messages, but those that the Messages API would not take."""
        found: dict[str, list[Image]] = {}
        for message in question.call.messages:
            room = MOST_IMAGES - sum(map(len, found.values()))
            place = self.consultation.store.archive.find(message["resource_id"]) if message["image_count"] else None
            if place is not None:
                line = self._line(place, message["byte_from"], message["byte_to"])
                found[message["message_id"]] = [image for image in images_in(line) if len(image.data) <= MOST_IMAGE_BYTES][
                    :room
                ]
        return found

    def _line(self, place: Range, byte_from: int, byte_to: int) -> bytes:
        return self.consultation.store.archive.read(place.source_id, place.generation, byte_from, byte_to)
