"""Finds the questions to a model about the sessions of a day, estimates their cost, and asks them.

The asset `observer_answers` and the command `memory model cost` both use it, so they count the same
questions. One process asks at a time, so that no question is paid twice; it does not hold the
store's lock meanwhile.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter

import filelock
import polars as pl

from memory_assets.errors import ModelSetupError
from memory_assets.harnesses.images import images_in
from memory_assets.schema.frames import frame_of
from memory_assets.schema.progress import track
from memory_assets.schema.protocols import Image, Model
from memory_assets.services.models.model_budget import Budget
from memory_assets.services.models.open_models import sendable
from memory_assets.stages.distill.model import asking, short_sessions
from memory_assets.stages.distill.model.answer_rows import answer_row, total_price
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.model.established import find_established
from memory_assets.stages.distill.model.material import (
    EarlierMemory,
    ShownFact,
    earlier_memories,
    pick_earlier,
)
from memory_assets.stages.distill.model.questions import (
    Images,
    ObserverQuestion,
    QuestionStatus,
    next_attempt,
    status_of,
)
from memory_assets.store.settings import AGENT, RULES, Role, harness_of
from memory_assets.store.store import SEND_SECONDS, Store
from memory_assets.text.files import make_folder

FEWEST_IN_A_BATCH = 20
"""Fewer questions are asked one by one, even in a backfill: a batch may take an hour."""

MOST_IMAGES = 20
"""Images in one question."""

MOST_IMAGE_BYTES = 3_500_000
"""The Messages API accepts 5 MB of base64 per image."""

CAME_TO_NOTHING = ("refused", "unusable", "failed")
"""States of a question that the model did not answer; the rules read these messages instead."""

SHORT_SESSIONS = "short sessions, several in a call"
"""Name of the step that asks about short sessions, in the list of costs."""


def asked_about(windows: pl.DataFrame) -> pl.DataFrame:
    """Returns the windows that a model is asked about: those of long sessions that are closed, and
    short sessions with a turn of the owner.
    """
    is_short = (pl.col("status") == "short") & (pl.col("user_turn_count") > 0)
    return windows.filter((pl.col("status") == "observed") | is_short)


def waiting_windows(store: Store) -> pl.DataFrame:
    """Returns the windows with a question that has no answer in the table, of all projects."""
    windows = asked_about(store.tables.read("windows").drop_nulls("day"))
    key = ["window_id", "call_count"]
    rows = store.tables.read("observer_answers", columns=[*key, "state"])
    counts = rows.filter(pl.col("state") != "failed").group_by(key).len()
    whole = counts.filter(pl.col("len") >= pl.col("call_count"))
    return windows.join(whole, on="window_id", how="anti")


@dataclass(frozen=True)
class DayCost:
    """The cost of a day's questions about long sessions; prices in US dollars, None where the
    model's price is unknown.
    """

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
class StepCost:
    """The open questions of another step than observing, with their price in US dollars; None where
    it is unknown.
    """

    step: str
    role: Role
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    is_each: bool = False
    """Whether it is one question that a person may ask, and no part of the sum."""


@dataclass(frozen=True)
class Costs:
    """The calls and cost of a backfill, by day."""

    model: str
    has_price: bool
    days: tuple[DayCost, ...]
    spent_usd: float
    """Price of all stored answers."""
    others: tuple[StepCost, ...] = ()
    """Short sessions, reflections, reviews and questions of people."""

    @property
    def calls(self) -> int:
        """Questions without an answer, those that people may ask aside."""
        others = sum(cost.calls for cost in self.others if not cost.is_each)
        return sum(day.calls - day.answered for day in self.days) + others

    @property
    def usd(self) -> float | None:
        """Price of these questions; None where a price is unknown."""
        others = (cost.usd for cost in self.others if not cost.is_each)
        return total_price([*(day.usd for day in self.days), *others])


@dataclass(frozen=True)
class Consultation:
    """The questions about a store to a model, known by its name alone: counting needs no more."""

    store: Store
    model_name: str
    any_prompt: bool = False
    """Accept stored answers of another prompt or model about the same messages."""

    @cached_property
    def answers(self) -> AnswerStore:
        """The stored answers."""
        return AnswerStore(self.store.answers)

    def statuses(self, day: str, sessions: Collection[str] | None = None) -> list[QuestionStatus]:
        """Returns the state of each question about the day's windows that may be sent, sorted by
        window and call; with `sessions`, of these alone.
        """
        settings = self.store.settings
        messages = self.store.tables.read("messages", [day])
        selected = sendable(asked_about(self.store.tables.read("windows")), settings)
        selected = selected.filter(pl.col("day").cast(pl.String) == day).sort("window_id")
        if sessions is not None:
            selected = selected.filter(pl.col("session_id").is_in(list(sessions)))
        groups = messages.sort("ordinal").group_by("window_id", maintain_order=True)
        by_window = {window_id: group for (window_id,), group in groups}
        how = (self.model_name, settings.zone, settings.observer_prompt)
        return [
            status_of(question, self.answers, any_prompt=self.any_prompt)
            for window in selected.iter_rows(named=True)
            if window["window_id"] in by_window
            for question in short_sessions.questions_about(
                window, by_window[window["window_id"]], *how
            )
        ]

    def costs(self, days: Iterable[str]) -> Costs:
        """Returns the cost of asking about each day; raises `ModelSetupError` if no model is
        configured.
        """
        if self.model_name == RULES:
            raise ModelSetupError(
                "MEMORY_MODEL is 'rules': no model is used and nothing is paid. Name a model, "
                "as in `memory model cost --model claude-haiku-4-5`, to estimate its cost."
            )
        short: list[QuestionStatus] = []
        costs: list[DayCost] = []
        for day in track(list(days), "Counting questions"):
            statuses = self.statuses(day)
            costs.append(self._cost(day, [s for s in statuses if not s.question.key.is_short]))
            short += [s for s in statuses if s.question.key.is_short and s.state == "open"]
        groups = short_sessions.group_questions(map(next_attempt, short))
        tokens, out = self.budget.sizes(groups)
        numbers = (len(groups), sum(tokens), out, self.budget.estimate(tokens, out=out))
        short_cost = StepCost(SHORT_SESSIONS, "observer", self.model_name, *numbers)
        spent = self.budget.spent_since(0)
        return Costs(self.model_name, self.budget.has_price, tuple(costs), spent, (short_cost,))

    def rows(self, day: str) -> pl.DataFrame:
        """Returns the day's rows of `observer_answers` from the stored answers."""
        statuses = self.statuses(day)
        if self.model_name == AGENT:  # the open ones wait for an agent
            statuses = [status for status in statuses if status.state != "open"]
        on = date.fromisoformat(day)
        rows = [answer_row(status, on, self.budget.price) for status in statuses]
        return frame_of("observer_answers", rows)

    def reopen(self, statuses: Iterable[QuestionStatus]) -> None:
        """Puts aside the answers of questions that came to nothing: they are asked again."""
        fruitless = (status for status in statuses if status.state in CAME_TO_NOTHING)
        for attempt in chain.from_iterable(status.attempts for status in fruitless):
            self.answers.put_aside(attempt)

    def _cost(self, day: str, statuses: Sequence[QuestionStatus]) -> DayCost:
        open_questions = [status.question for status in statuses if status.state == "open"]
        tokens = [question.estimated_tokens() for question in open_questions]
        return DayCost(
            date.fromisoformat(day),
            len({status.question.window_id for status in statuses}),
            len(statuses),
            len(statuses) - len(open_questions),
            sum(tokens),
            self.budget.output_tokens(len(tokens)),
            self.budget.estimate(tokens),
            self.budget.estimate(tokens, in_batches=harness_of(self.model_name) is None),
        )

    @property
    def can_batch(self) -> bool:
        """Whether questions may be sent in batches without a setting that asks for it: only the
        vendor's own server is known to accept batches.
        """
        return not harness_of(self.model_name) and not self.store.settings.url_of("observer")

    @cached_property
    def budget(self) -> Budget:
        """The prices of the model, and the limit of a run."""
        return Budget(self.store, self.model_name)


@dataclass(frozen=True)
class Consultant:
    """Asks a model the open questions of a consultation."""

    consultation: Consultation
    model: Model
    backfill: bool = False
    """Whether the answers may wait for a batch, unlike those about a session that just ended."""
    wait: Callable[[float], None] = field(default=time.sleep)
    poll_seconds: float = asking.POLL_SECONDS

    def ask(self, days: Sequence[str]) -> None:
        """Asks about the days; in a backfill also the questions again whose answers came to
        nothing.

        Raises `ModelSetupError` if the model cannot be asked or would cost more than the settings
        allow, `ModelBusyError` if asking later may help. Answers received until then are stored.
        """
        consultation = self.consultation
        clock = consultation.store.settings.clock
        folder = make_folder(consultation.answers.root)
        with filelock.FileLock(folder / "asking.lock", mode=0o600):
            statuses = list(chain.from_iterable(map(consultation.statuses, days)))
            waiting = [status for status in statuses if status.state == "open"]
            fruitless = [status for status in statuses if status.state in CAME_TO_NOTHING]
            if self.backfill:
                waiting += (replace(s, state="open", kept=None, attempts=()) for s in fruitless)
            tokens, out = consultation.budget.sizes(
                short_sessions.group_questions(map(next_attempt, waiting))
            )
            in_batches = self._is_batched(len(tokens))
            consultation.budget.check(tokens, out=out, in_batches=in_batches)
            if self.backfill:
                consultation.reopen(fruitless)
            asker = self.asker(waiting)
            if in_batches:
                how = (self.model, clock, self.wait, self.poll_seconds)
                asker.ask_in_batches(waiting, asking.BatchQueue(folder / "batches", *how))
            else:
                asker.ask_all(waiting)

    def asker(self, waiting: Sequence[QuestionStatus]) -> asking.ModelAsker:
        """Returns the model with all that the open questions show."""
        store = self.consultation.store
        return asking.ModelAsker(
            self.model,
            self.consultation.answers,
            store.settings.clock,
            store.settings.model_at_once,
            self._earlier_memories,
            self._images,
            partial(self._established_facts, self._sessions(waiting)),
            partial(store.sync_if_older, SEND_SECONDS),
        )

    def _is_batched(self, calls: int) -> bool:
        batches = self.consultation.store.settings.model_batches
        is_large = self.backfill and calls >= FEWEST_IN_A_BATCH
        is_wanted = batches == "auto" and is_large and self.consultation.can_batch
        return batches == "always" or is_wanted

    @cached_property
    def _all_memories(self) -> list[EarlierMemory]:
        store = self.consultation.store
        return earlier_memories(sendable(store.tables.read("memories"), store.settings))

    def _sessions(self, waiting: Sequence[QuestionStatus]) -> dict[str, list[ObserverQuestion]]:
        """Returns session → all its questions, in the order of the session, for each long session
        with an open question.
        """
        asked = [status.question for status in waiting]
        sessions = {each.session_id for each in asked if not each.key.is_short}
        tables = self.consultation.store.tables
        windows = tables.read("windows", columns=["session_id", "day"])
        of_sessions = windows.filter(pl.col("session_id").is_in(list(sessions)))
        days = of_sessions["day"].drop_nulls().unique().sort().cast(pl.String)
        ask = partial(self.consultation.statuses, sessions=sessions)
        questions = (status.question for status in chain.from_iterable(map(ask, days)))
        by_session: dict[str, list[ObserverQuestion]] = {session: [] for session in sessions}
        for question in sorted(questions, key=attrgetter("place")):
            by_session[question.session_id].append(question)
        return by_session

    def _established_facts(
        self, sessions: Mapping[str, Sequence[ObserverQuestion]], question: ObserverQuestion
    ) -> list[ShownFact]:
        """Returns the facts that the answers about earlier parts of the session established."""
        of_session = sessions[question.session_id]
        earlier = [other for other in of_session if other.place < question.place]
        return find_established(earlier, self.consultation.answers)

    def _earlier_memories(self, question: ObserverQuestion) -> list[EarlierMemory]:
        about = (question.call.messages, question.project, question.person)
        return pick_earlier(self._all_memories, *about)

    def _images(self, question: ObserverQuestion) -> Images:
        """Returns the images of the messages that the Messages API accepts."""
        images_by_message: dict[str, list[Image]] = {}
        archive = self.consultation.store.archive
        for message in question.call.messages:
            room = MOST_IMAGES - sum(map(len, images_by_message.values()))
            entry = archive.find(message["resource_id"]) if message["image_count"] else None
            if entry is not None:
                span = (message["byte_from"], message["byte_to"])
                images = images_in(archive.read(entry.source_id, entry.generation, *span))
                small = [image for image in images if len(image.data) <= MOST_IMAGE_BYTES]
                images_by_message[message["message_id"]] = small[:room]
        return images_by_message
