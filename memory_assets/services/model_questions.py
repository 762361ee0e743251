"""The questions to a model about days of a store: which are open, what they would cost, and asking them.

The asset `observer_answers` and `memory model cost` both use it, so they count the same questions. One process asks at a time,
so that no question is paid twice, without holding the store's own lock.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, partial
from typing import Protocol

import filelock
import polars as pl

from memory_assets.errors import ModelError, ModelSetupError
from memory_assets.schema.frames import frame_of
from memory_assets.schema.progress import track
from memory_assets.schema.protocols import Image, Model, ModelAnswer
from memory_assets.services.prices import cost_of, estimate_of, price_of, prices_of
from memory_assets.stages.capture.formats.images import images_in
from memory_assets.stages.distill.model.answer_rows import answer_row
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.model.asking import POLL_SECONDS, BatchQueue, ModelAsker, problem_of
from memory_assets.stages.distill.model.established import EstablishedFact, find_established
from memory_assets.stages.distill.model.material import EarlierMemory, earlier_memories, pick_earlier
from memory_assets.stages.distill.model.questions import Images, ObserverQuestion, QuestionStatus, plan_questions, status_of
from memory_assets.store.archive import Range
from memory_assets.store.settings import RULES
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder

ANSWER_TOKENS = 1_100
"""Output tokens per answer before any was stored: the mean of thirteen recorded answers, 4,400 characters."""

FEWEST_IN_A_BATCH = 20
"""Fewer questions are asked one by one, even in a backfill: a batch may take an hour."""

MOST_IMAGES = 20
MOST_IMAGE_BYTES = 3_500_000
"""The Messages API accepts 5 MB of base64 per image."""


@dataclass(frozen=True)
class DayCost:
    """The cost of a day's questions; prices in US dollars, None where the model's price is unknown."""

    day: date
    windows: int
    calls: int
    answered: int
    """Calls with a stored answer, which cost nothing."""
    input_tokens: int
    output_tokens: int
    usd: float | None
    usd_in_batches: float | None


@dataclass(frozen=True)
class Costs:
    """The calls and cost of a backfill, by day."""

    model: str
    has_price: bool
    days: tuple[DayCost, ...]
    spent_usd: float
    """Price of all stored answers."""


class Estimated(Protocol):
    """A question with an estimated size."""

    def estimated_tokens(self) -> int:
        """Returns the estimated number of input tokens."""
        ...


@dataclass(frozen=True)
class Consultation:
    """The questions about a store to a model, which is not needed to count them."""

    store: Store
    model_name: str
    any_prompt: bool = False
    """Accept stored answers of another prompt or model about the same messages."""

    @cached_property
    def answers(self) -> AnswerStore:
        """The stored answers."""
        return AnswerStore(self.store.answers)

    def standings(self, day: str, sessions: Collection[str] | None = None) -> list[QuestionStatus]:
        """Returns the state of each question about the day's windows, of all sessions by default, by window and call."""
        settings = self.store.settings
        windows, messages = self.store.tables.read("windows"), self.store.tables.read("messages", [day])
        observed = windows.filter((pl.col("status") == "observed") & (pl.col("day").cast(pl.String) == day)).sort("window_id")
        observed = observed if sessions is None else observed.filter(pl.col("session_id").is_in(list(sessions)))
        by_window = {window_id: own.sort("ordinal") for (window_id,), own in messages.group_by("window_id")}
        how = (self.model_name, settings.zone, settings.observer_prompt)
        return [
            status_of(question, self.answers, any_prompt=self.any_prompt)
            for window in observed.iter_rows(named=True)
            if (own := by_window.get(window["window_id"])) is not None
            for question in plan_questions(window, own, *how)
        ]

    def costs(self, days: Iterable[str]) -> Costs:
        """Returns the cost of asking about each day; raises `ModelSetupError` if no model is configured."""
        if self.model_name == RULES:
            raise ModelSetupError(
                "MEMORY_MODEL is 'rules': no model is used and nothing is paid. Name a model, as in "
                "`memory model cost --model claude-haiku-4-5`, to estimate its cost."
            )
        found = tuple(self._cost(day, self.standings(day)) for day in track(list(days), "Counting questions"))
        has_price = price_of(self.model_name, self._prices) is not None
        return Costs(self.model_name, has_price, found, sum(self._price(kept.answer) or 0.0 for kept in self.answers.every()))

    def rows(self, day: str, problems: Mapping[str, ModelError]) -> pl.DataFrame:
        """Returns the day's rows of `observer_answers` from the stored answers."""
        on, standings = date.fromisoformat(day), self.standings(day)
        rows = [answer_row(one, on, problem_of(one.question, problems), self._price) for one in standings]
        return frame_of("observer_answers", rows)

    def _price(self, answer: ModelAnswer) -> float | None:
        return cost_of(answer, self._prices)

    def _estimate(self, questions: Sequence[Estimated], *, in_batches: bool) -> float | None:
        return estimate_of(self.model_name, *self._tokens(questions), self._prices, in_batches=in_batches)

    def check_budget(self, questions: Sequence[Estimated], *, in_batches: bool) -> None:
        """Raises `ModelSetupError` if the questions would cost more than the settings allow for one run."""
        most = self.store.settings.model_most_usd
        usd = self._estimate(questions, in_batches=in_batches)
        if usd is not None and usd > most:
            raise ModelSetupError(
                f"Asking {self.model_name} {len(questions)} questions would cost about ${usd:.2f}; MEMORY_MODEL_MOST_USD "
                f"allows ${most:.2f} for one run. `memory model cost` lists the days; raise the limit, or take fewer days."
            )

    def _cost(self, day: str, standings: Sequence[QuestionStatus]) -> DayCost:
        waiting = [standing.question for standing in standings if standing.state == "open"]
        return DayCost(
            date.fromisoformat(day),
            len({standing.question.window_id for standing in standings}),
            len(standings),
            len(standings) - len(waiting),
            *self._tokens(waiting),
            self._estimate(waiting, in_batches=False),
            self._estimate(waiting, in_batches=True),
        )

    def _tokens(self, questions: Sequence[Estimated]) -> tuple[int, int]:
        """Returns the estimated input and output tokens."""
        return sum(question.estimated_tokens() for question in questions), len(questions) * self._usual_answer

    @cached_property
    def _usual_answer(self) -> int:
        """The mean output of this model's stored answers."""
        counts = [kept.answer.output_tokens for kept in self.answers.every() if kept.key.model == self.model_name]
        return round(sum(counts) / len(counts)) if counts else ANSWER_TOKENS

    @cached_property
    def _prices(self):
        return prices_of(self.store.settings)


@dataclass(frozen=True)
class Consultant:
    """Asks a model the open questions of a consultation."""

    consultation: Consultation
    model: Model
    backfill: bool = False
    """Whether the answers may wait for a batch, unlike those about a session that just ended."""
    wait: Callable[[float], None] = field(default=time.sleep)
    poll_seconds: float = POLL_SECONDS

    def ask(self, days: Sequence[str]) -> dict[str, ModelError]:
        """Asks about the days; returns the errors of unanswered questions by the name of their key.

        Raises `ModelSetupError` if the model cannot be asked or would cost more than the settings allow, `ModelBusyError` if
        asking later may help. Answers received until then are stored.
        """
        folder = make_folder(self.consultation.answers.root)
        with filelock.FileLock(folder / "asking.lock", mode=0o600):
            waiting = [s for day in days for s in self.consultation.standings(day) if s.state == "open"]
            settings, is_large = self.consultation.store.settings, self.backfill and len(waiting) >= FEWEST_IN_A_BATCH
            in_batches = settings.model_batches == "always" or (settings.model_batches == "auto" and is_large)
            self.consultation.check_budget([standing.question for standing in waiting], in_batches=in_batches)
            clock, answers = settings.clock, self.consultation.answers
            shown = (self._earlier, self._images, partial(self._established, self._sessions(waiting)))
            asker = ModelAsker(self.model, answers, clock, settings.model_at_once, *shown)
            if in_batches:
                desk = BatchQueue(folder / "batches", self.model, clock, self.wait, self.poll_seconds)
                return asker.ask_in_batches(waiting, desk)
            return asker.ask_all(waiting)

    @cached_property
    def _remembered(self) -> list[EarlierMemory]:
        return earlier_memories(self.consultation.store.tables.read("memories"))

    def _sessions(self, waiting: Sequence[QuestionStatus]) -> dict[str, list[ObserverQuestion]]:
        """Returns all questions about the sessions with open ones, in the order of the sessions' parts."""
        sessions = {status.question.session_id for status in waiting}
        windows = self.consultation.store.tables.read("windows").filter(pl.col("session_id").is_in(list(sessions)))
        days = sorted(day.isoformat() for day in windows["day"].drop_nulls().unique())
        found = [one.question for day in days for one in self.consultation.standings(day, sessions)]
        ordered = sorted(found, key=lambda question: question.place)
        return {session: [one for one in ordered if one.session_id == session] for session in sessions}

    def _established(
        self, sessions: Mapping[str, Sequence[ObserverQuestion]], question: ObserverQuestion
    ) -> list[EstablishedFact]:
        before = [one for one in sessions[question.session_id] if one.place < question.place]
        return find_established(before, self.consultation.answers)

    def _earlier(self, question: ObserverQuestion) -> list[EarlierMemory]:
        return pick_earlier(self._remembered, question.call.messages, question.project, question.person)

    def _images(self, question: ObserverQuestion) -> Images:
        """Returns the images of the messages that the Messages API accepts."""
        found: dict[str, list[Image]] = {}
        for message in question.call.messages:
            room = MOST_IMAGES - sum(map(len, found.values()))
            place = self.consultation.store.archive.find(message["resource_id"]) if message["image_count"] else None
            if place is not None:
                images = images_in(self._line(place, message["byte_from"], message["byte_to"]))
                small = [image for image in images if len(image.data) <= MOST_IMAGE_BYTES]
                found[message["message_id"]] = small[:room]
        return found

    def _line(self, place: Range, byte_from: int, byte_to: int) -> bytes:
        return self.consultation.store.archive.read(place.source_id, place.generation, byte_from, byte_to)
