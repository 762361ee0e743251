"""Counts the tokens and the cost of questions to a model, and stops what would cost more than the
settings allow.

Questions about windows, pairs of facts, reflections and reviews are checked here before they are
sent. The limit holds for all answers of one run. A run is one process: a command, or a run of
Dagster.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from memory_assets.errors import ModelSetupError
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.services.models import prices
from memory_assets.services.models.prices import Price
from memory_assets.stages.distill.model.answers import AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.short_sessions import USUAL_ANSWER_TOKENS, QuestionGroup
from memory_assets.store.store import Store
from memory_assets.text.words import counted

ANSWER_TOKENS = 1_100
"""Output tokens per answer before any was stored: the mean of thirteen recorded answers, 4,400
characters.
"""

STARTED_AT = time.time()
"""When this process began: answers that were stored later count as answers of this run."""

ANSWER_FOLDERS = ("", "triage", "pairs")
"""Folders of answers below `answers/`; the empty name is that folder itself."""


@dataclass(frozen=True)
class Budget:
    """The prices of one model, and what a run may cost."""

    store: Store
    model: str

    @cached_property
    def prices(self) -> dict[str, Price]:
        """The prices by prefix of model names."""
        return prices.prices_of(self.store.settings)

    @property
    def has_price(self) -> bool:
        """Whether the price of the model is known."""
        return prices.price_of(self.model, self.prices) is not None

    def price(self, answer: ModelAnswer) -> float | None:
        """Returns the cost of the model's answer in US dollars; None where no price is known."""
        return prices.cost_of(answer, self.prices, self.model)

    def output_tokens(self, calls: int) -> int:
        """Returns the estimated tokens of this number of answers."""
        return calls * self._usual_answer

    def sizes(self, groups: Sequence[QuestionGroup]) -> tuple[list[int], int]:
        """Returns the estimated tokens that each request to the observer sends, and those of all
        answers.
        """
        short = [group for group in groups if group.is_short]
        short_questions = sum(len(group.questions) for group in short)
        out = self.output_tokens(len(groups) - len(short)) + short_questions * USUAL_ANSWER_TOKENS
        return [group.estimated_tokens() for group in groups], out

    def estimate(
        self, prompt_tokens: Sequence[int], *, out: int | None = None, in_batches: bool = False
    ) -> float | None:
        """Returns what calls with prompts of these lengths would cost; None where the price of the
        model is unknown.

        `out` are the tokens of all answers; without it, answers of usual length.
        """
        out = self.output_tokens(len(prompt_tokens)) if out is None else out
        tokens = sum(prompt_tokens)
        return prices.estimate_of(self.model, tokens, out, self.prices, in_batches=in_batches)

    def check(
        self, prompt_tokens: Sequence[int], *, out: int | None = None, in_batches: bool = False
    ) -> None:
        """Raises `ModelSetupError` if these calls and the answers of this run would cost more than
        one run may.
        """
        if not prompt_tokens:
            return
        prices.check_price(self.model, self.store.settings)
        most = self.store.settings.model_most_usd
        usd = self.estimate(prompt_tokens, out=out, in_batches=in_batches)
        if usd is None:
            return
        spent = self.spent_since(STARTED_AT)
        if usd + spent > most:
            earlier = f", after ${spent:.2f} for earlier ones" if spent else ""
            raise ModelSetupError(
                f"Asking {self.model} {len(prompt_tokens)} questions would cost about "
                f"${usd:.2f}{earlier}; MEMORY_MODEL_MOST_USD allows ${most:.2f} for one run. "
                "`memory model cost` lists the days; raise the limit, or take fewer days."
            )

    def spent_since(self, moment: float) -> float:
        """Returns the known cost of the answers that were stored since the moment, a time as of
        `time.time`.
        """
        return sum(
            prices.cost_of(stored.answer, self.prices, stored.key.model) or 0.0
            for stored in answers_since(self.store, moment)
        )

    @cached_property
    def _usual_answer(self) -> int:
        """The mean output of this model's usable answers, those about short sessions aside."""
        counts = [
            stored.answer.output_tokens
            for stored in AnswerStore(self.store.answers).every()
            if stored.key.model == self.model and not (stored.key.is_short or stored.fault)
        ]
        return round(sum(counts) / len(counts)) if counts else ANSWER_TOKENS


def failure_since(store: Store, moment: float) -> str:
    """Returns why nothing came of the questions since the moment; empty if something did, or none
    was sent.
    """
    answers = answers_since(store, moment)
    if not answers or any(stored.is_usable for stored in answers):
        return ""
    last = max(answers, key=lambda stored: stored.asked_at)
    reason = last.fault or f"The answer ended early ({last.answer.stop_reason})."
    return f"Nothing came of {counted(len(answers), 'question')} to {last.key.model}: {reason}"


def answers_since(store: Store, moment: float) -> list[StoredAnswer]:
    """Returns the answers of models that were stored since the moment, a time as of `time.time`."""
    folders = (store.answers / name for name in ANSWER_FOLDERS)
    paths = chain.from_iterable(folder.glob("*.json") for folder in folders)
    recent = (path for path in paths if path.stat().st_mtime >= moment)
    return [AnswerStore(path.parent).read_named(path.stem) for path in recent]


def priced_answers(store: Store, folder: str) -> list[tuple[StoredAnswer, float | None]]:
    """Returns the answers in the folder below `answers/`, each with its price if that is known."""
    price_list = prices.prices_of(store.settings)
    answers = AnswerStore(store.answers / folder).every()
    return [
        (stored, prices.cost_of(stored.answer, price_list, stored.key.model)) for stored in answers
    ]
