"""Builds reflections and distillates: the model is asked first, then each day, week or month is condensed from stored answers.

Asking holds no lock but its own, stores every answer before anyone reads it, and stops before it would cost more than the
settings allow; the parts are then written from the stored answers alone, and by the rules where there are none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial

import filelock
import polars as pl

from memory_assets.errors import ModelError
from memory_assets.runs.materialise import Builder, Report, Rows, Run
from memory_assets.runs.staleness import input_versions
from memory_assets.schema.protocols import Model, ModelAnswer
from memory_assets.services.model_questions import Consultation
from memory_assets.services.models import open_model
from memory_assets.services.prices import cost_of, prices_of
from memory_assets.stages.distill.model.answers import AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.asking import ask_each
from memory_assets.stages.embed.evidence import EVIDENCE
from memory_assets.stages.embed.memories import fold_memories
from memory_assets.stages.reflect.background import Background
from memory_assets.stages.reflect.gradient import DAY, SMALL_TOKENS, Span
from memory_assets.stages.reflect.questions import (
    PRESSURES,
    Question,
    condensed_by_model,
    needs_asking,
    open_question,
)
from memory_assets.stages.reflect.reflector import Condensed, condense_subjects
from memory_assets.stages.reflect.subjects import Subject, subjects_of_day, subjects_of_period
from memory_assets.store.ledger import FORGOTTEN
from memory_assets.store.settings import RULES
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder


class Past:
    """Memories as they stood at the end of a day, without what is forgotten since; nobody had recalled any. Read once a run."""

    def __init__(self, store: Store) -> None:
        self._observations = store.tables.read("observations")
        self._merges = store.tables.read("merges")
        self._said = store.ledger.events([*EVIDENCE, FORGOTTEN])

    def memories(self, day: date) -> pl.DataFrame:
        """Returns the memories of that day."""
        return fold_memories(self._observations.filter(pl.col("day") <= day), self._merges, self._said)

    def background(self, day: date) -> Background:
        """Returns what is known of facts beside their words at the end of the day."""
        return Background.of(self.memories(day))


@dataclass(frozen=True)
class Condensing:
    """The parts of one span in a store, and the model that the settings name."""

    store: Store
    span: Span

    @cached_property
    def past(self) -> Past:
        """What was known when."""
        return Past(self.store)

    @cached_property
    def answers(self) -> AnswerStore:
        """The raw answers of models."""
        return AnswerStore(self.store.answers)

    def rows(self, first: date) -> pl.DataFrame:
        """Returns what is told of the part that begins on the day."""
        background = self.past.background(self.span.last_day(first))
        return condense_subjects(self.span, self._subjects(first, background), background, self._written)

    def ask(self, model: Model, firsts: Iterable[date]) -> dict[str, ModelError]:
        """Asks what is open about the parts, and again where an answer was too long; returns why a question has no answer.

        Raises `ModelSetupError` and `ModelBusyError` where asking as things stand is useless; what was answered is kept.
        """
        problems: dict[str, ModelError] = {}
        with filelock.FileLock(make_folder(self.answers.root) / "asking.lock", mode=0o600):
            questions = [question for first in firsts for question in self._questions(first)]
            for _ in PRESSURES:
                waiting = [one for question in questions if (one := open_question(question, self.answers))]
                waiting = [one for one in waiting if one.key.name not in problems]
                self._consultation.check_budget(waiting, in_batches=False)
                at_once = self.store.settings.model_at_once
                problems |= ask_each(waiting, partial(self._ask, model), at_once, model.name)
        return problems

    def _ask(self, model: Model, question: Question) -> None:
        answer = model.ask(question.request())
        self.answers.write(StoredAnswer(question.key, answer, self.store.settings.clock()))

    def _questions(self, first: date) -> list[Question]:
        subjects = self._subjects(first, self.past.background(self.span.last_day(first)))
        return [self._question(subject) for subject in subjects if needs_asking(subject)]

    def _subjects(self, first: date, background: Background) -> list[Subject]:
        if self.span == DAY:
            return subjects_of_day(first, self.store.tables.read("observations", [first.isoformat()]), background)
        days = days_of(self.span, first)
        said, seen = self.store.tables.read("reflections", days), self.store.tables.read("observations", days)
        return subjects_of_period(self.span, first, said, seen, background)

    def _question(self, subject: Subject) -> Question:
        return Question(subject, self.store.settings.model, self._memory_md)

    @cached_property
    def _memory_md(self) -> str:
        return self.store.memory_md()

    def _written(self, subject: Subject) -> Condensed | None:
        if self.store.settings.model == RULES or not needs_asking(subject):
            return None
        return condensed_by_model(self._question(subject), self.answers, self._price)

    def _price(self, answer: ModelAnswer) -> float | None:
        return cost_of(answer, self._prices)

    @cached_property
    def _prices(self):
        return prices_of(self.store.settings)

    @cached_property
    def _consultation(self) -> Consultation:
        return Consultation(self.store, self.store.settings.model)


def days_of(span: Span, first: date) -> list[str]:
    """Returns the days of the part, as partitions are named."""
    return [day.isoformat() for day in pl.date_range(first, span.last_day(first), eager=True)]


def condense(run: Run, span: Span) -> Builder:
    """Asks the configured model about the run's partitions that are due, then returns the builder of the span's table."""
    condensing, model = Condensing(run.store, span), open_model(run.store)
    asked = [part for part in run.due if part in input_versions(run.store, run.table)]
    problems = condensing.ask(model, map(date.fromisoformat, asked)) if model else {}
    warnings = [f"No answer, condensed by rules instead: {problem}" for problem in problems.values()]

    def build(part: str) -> Rows:
        rows = Rows(condensing.rows(date.fromisoformat(part)), {"unanswered": len(problems)}, warnings=tuple(warnings))
        warnings.clear()
        return rows

    return build


def condensed(store: Store, table: str, partitions: Sequence[str]) -> Report:
    """Returns how far the partitions shrank, and what became of the rest."""
    found = store.tables.read(table, partitions)
    observed, facts, told = (int(found[f"{name}_tokens"].sum()) for name in ("input", "fact", "output"))
    dropped = found.select(pl.col("dropped_why").explode(empty_as_null=False).alias("reason"))
    small = found.group_by("day").agg(pl.col("fact_tokens").sum()).filter(pl.col("fact_tokens") <= SMALL_TOKENS)
    figures = {
        "observed_tokens": observed,
        "fact_tokens": facts,
        "told_tokens": told,
        "told_share_of_observed": round(told / max(observed, 1), 4),
        "told_share_of_facts": round(told / max(facts, 1), 4),
        "facts_told": int(found["observation_ids"].list.len().sum()),
        "facts_dropped": dropped.height,
        "passed_through": small.height,
        "dropped_mix": counts_of(dropped, "reason"),
        "pressure_mix": counts_of(found.with_columns(pl.format("level {}", "level").alias("level")), "level"),
    }
    return Report(figures)


def counts_of(frame: pl.DataFrame, column: str) -> dict[str, int]:
    """Returns how often each value of the column occurs, by name."""
    return dict(frame.group_by(column).len().sort(column).iter_rows())
