"""Builds reflections and distillates in two steps: asks the model, then condenses each partition.

The first step stores every answer, under a lock of its own, and asks nothing that would cost more
than the settings allow. The second step condenses each day, week or month from the stored answers;
where there is none, it condenses by rules.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from functools import cached_property, partial

import filelock
import polars as pl

from memory_assets.runs.inputs import input_versions
from memory_assets.runs.results import Builder, Report, Rows, Run, counts_of
from memory_assets.schema.protocols import Model, ModelRequest
from memory_assets.services.models.model_budget import Budget
from memory_assets.services.models.open_models import open_model, sendable_memory_md
from memory_assets.stages.distill.model.answers import AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.asking import ask_each, ask_once
from memory_assets.stages.embed.evidence import EVIDENCE
from memory_assets.stages.embed.memories import fold_memories
from memory_assets.stages.embed.pair_questions import PairQuestion
from memory_assets.stages.reflect.background import Background
from memory_assets.stages.reflect.questions import (
    ATTEMPTS,
    NO_ANSWER,
    Question,
    condensed_by_model,
    needs_asking,
    open_question,
)
from memory_assets.stages.reflect.reflector import Condensed, condense_subjects
from memory_assets.stages.reflect.subjects import (
    DAY,
    SPANS,
    TABLE_OF,
    Span,
    Subject,
    subjects_of_day,
    subjects_of_period,
)
from memory_assets.store.ledger import FORGOTTEN
from memory_assets.store.settings import RULES
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder


class Past:
    """The memories as they were on past days; the tables are read once.

    What was forgotten since is left out. The states do not depend on recalls.
    """

    def __init__(self, store: Store) -> None:
        self._observations = store.tables.read("observations")
        self._merges = store.tables.read("merges")
        self._events = store.ledger.events([*EVIDENCE, FORGOTTEN])

    def memories(self, day: date) -> pl.DataFrame:
        """Returns the memories at the end of the day."""
        return fold_memories(
            self._observations.filter(pl.col("day") <= day), self._merges, self._events
        )


class Condenser:
    """Condenses the days, weeks or months, with a model if the settings name a reflector."""

    def __init__(self, store: Store, span: Span) -> None:
        self._store = store
        self._span = span
        self._model_name = store.settings.model_of("reflector")
        self._answers = AnswerStore(store.answers)
        self._budget = Budget(store, self._model_name)

    def rows(self, first: date) -> pl.DataFrame:
        """Returns the rows of the partition that begins on the day."""
        subjects, background = self._read(first)
        return condense_subjects(self._span, subjects, background, self._condensed_by_model)

    def ask(self, model: Model, firsts: Iterable[date]) -> None:
        """Asks the open questions about the partitions.

        Asks again if an answer was too long or could not be used. Raises `ModelSetupError` and
        `ModelBusyError` if further questions would fail, too; the answers so far stay stored.
        """
        with filelock.FileLock(make_folder(self._answers.root) / "asking.lock", mode=0o600):
            questions = [question for first in firsts for question in self.questions(first)]
            for _ in range(ATTEMPTS):
                waiting = [open_question(question, self._answers) for question in questions]
                ask_all(self._answers, self._budget, model, filter(None, waiting))

    def questions(self, first: date) -> list[Question]:
        """Returns the questions about the partition that may be sent, answered or not."""
        may_send = self._store.settings.may_send
        subjects, _ = self._read(first)
        return [
            self._question(subject)
            for subject in subjects
            if needs_asking(subject) and may_send(subject.project)
        ]

    def _question(self, subject: Subject) -> Question:
        return Question(subject, self._model_name, self._memory_md)

    def _read(self, first: date) -> tuple[list[Subject], Background]:
        """Returns the subjects of the partition, and the background of their facts at its end."""
        background = Background.of(self._past.memories(self._span.last_day(first)))
        days = days_of(self._span, first)
        read = self._store.tables.read
        observed = read("observations", days)
        if self._span == DAY:
            return subjects_of_day(first, observed, background), background
        reflected = read("reflections", days)
        subjects = subjects_of_period(self._span, first, reflected, observed, background)
        return subjects, background

    def _condensed_by_model(self, subject: Subject) -> Condensed | None:
        if self._model_name == RULES or not needs_asking(subject):
            return None
        return condensed_by_model(self._question(subject), self._answers, self._budget.price)

    @cached_property
    def _past(self) -> Past:
        return Past(self._store)

    @cached_property
    def _memory_md(self) -> str:
        return sendable_memory_md(self._store)


def days_of(span: Span, first: date) -> list[str]:
    """Returns the days, as text, of the day, week or month that begins on `first`."""
    days = pl.date_range(first, span.last_day(first), eager=True)
    return [day.isoformat() for day in days]


def condense(store: Store, run: Run) -> Builder:
    """Asks the configured model about the due partitions; returns what condenses one of them."""
    span = next(span for span in SPANS if span.name == run.table.grain)
    condenser = Condenser(store, span)
    model = open_model(store, "reflector")
    versions = input_versions(store, run.table)
    asked = [date.fromisoformat(part) for part in run.due if part in versions]
    if model:
        condenser.ask(model, asked)

    def build(part: str) -> Rows:
        frame = condenser.rows(date.fromisoformat(part))
        problems = frame["problem"].drop_nulls().to_list()
        warnings = tuple(f"No answer, condensed by rules instead: {text}" for text in problems)
        return Rows(frame, {"unanswered": len(problems)}, warnings=warnings)

    return build


def reopen(store: Store) -> None:
    """Makes the questions that came to nothing due again, with the partitions of their rows."""
    answers = AnswerStore(store.answers)
    for table in TABLE_OF.values():
        rows = store.tables.read(table, columns=["day", "problem", "answers"]).filter(NO_ANSWER)
        for day, names in rows.select("day", "answers").iter_rows():
            store.tables.drop(table, day.isoformat())
            for name in names:
                answers.put_aside(answers.read_named(name))


def ask_all(
    answers: AnswerStore, budget: Budget, model: Model, questions: Iterable[Question | PairQuestion]
) -> None:
    """Asks the questions and stores each answer, or why there is none.

    Raises an error before the first question if all would cost more than the settings allow.
    """
    settings = budget.store.settings

    def ask(question: Question | PairQuestion, request: ModelRequest) -> None:
        attempt = ask_once(model, request)
        fault = attempt.fault or question.fault_of(attempt.answer)
        answers.write(StoredAnswer(question.key, attempt.answer, settings.clock(), fault=fault))
        attempt.end()

    requests = [(question, question.request()) for question in questions]
    if requests:
        budget.check([request.estimated_tokens() for _, request in requests])
        calls = [partial(ask, *each) for each in requests]
        ask_each(calls, settings.model_at_once, model.name)


def sizes(store: Store, table: str, partitions: Sequence[str]) -> Report:
    """Returns the tokens before and after condensing, and counts of facts that were left out."""
    rows = store.tables.read(table, partitions)
    observed = int(rows["input_tokens"].sum())
    facts = int(rows["fact_tokens"].sum())
    output = int(rows["output_tokens"].sum())
    dropped = rows.select(reason=pl.col("dropped_why").explode(empty_as_null=False))
    levels = rows.select(level=pl.format("level {}", "level"))
    figures = {
        "observed_tokens": observed,
        "fact_tokens": facts,
        "told_tokens": output,
        "told_share_of_observed": round(output / max(observed, 1), 4),
        "told_share_of_facts": round(output / max(facts, 1), 4),
        "facts_told": int(rows["observation_ids"].list.len().sum()),
        "facts_dropped": dropped.height,
        "not_rewritten": rows.filter(text="").height,
        "dropped_mix": counts_of(dropped, "reason"),
        "pressure_mix": counts_of(levels, "level"),
        "model_retries": int(rows.filter(pl.col("prompt_hash").is_not_null())["level"].sum()),
        "model_problems": counts_of(rows.filter(pl.col("problem").is_not_null()), "problem"),
    }
    return Report(figures)
