"""What the assets of days, weeks and months share: the model is asked first, then each part is told from what is stored.

Asking holds no lock but its own, stores every answer before anyone reads it, and stops before it would cost more than the
settings allow; the parts are then written from the stored answers alone, and by the rules where there are none.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from typing import Any

import dagster as dg
import filelock
import polars as pl

from memory_assets.assets.answers import raising_for_dagster
from memory_assets.assets.glue import bars, counts_of, materialise_days
from memory_assets.errors import ModelError
from memory_assets.runs.pending import telling_inputs
from memory_assets.schema.protocols import Model, ModelAnswer
from memory_assets.services.model_questions import Consultation
from memory_assets.services.models import open_model
from memory_assets.services.prices import cost_of, prices_of
from memory_assets.stages.distill.model.answers import AnswerStore, KeptAnswer
from memory_assets.stages.distill.model.asking import ask_each
from memory_assets.stages.embed.evidence import EVIDENCE
from memory_assets.stages.embed.memories import fold_memories
from memory_assets.stages.reflect import DISTILLER, REFLECTOR
from memory_assets.stages.reflect.background import Background
from memory_assets.stages.reflect.gradient import DAY, TABLE_OF, Span
from memory_assets.stages.reflect.matter import Matter, matters_of_day, matters_of_period
from memory_assets.stages.reflect.questions import (
    PRESSURES,
    Question,
    needs_asking,
    open_question,
    prompt_hash,
    told_by_model,
)
from memory_assets.stages.reflect.reflector import Told, tell
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
        return tell(self.span, self._matters(first, background), background, self._written)

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
        self.answers.write(KeptAnswer(question.key, answer, self.store.settings.clock()))

    def _questions(self, first: date) -> list[Question]:
        matters = self._matters(first, self.past.background(self.span.last_day(first)))
        return [self._question(matter) for matter in matters if needs_asking(matter)]

    def _matters(self, first: date, background: Background) -> list[Matter]:
        if self.span == DAY:
            return matters_of_day(first, self.store.tables.read("observations", [first.isoformat()]), background)
        days = days_of(self.span, first)
        said, seen = self.store.tables.read("reflections", days), self.store.tables.read("observations", days)
        return matters_of_period(self.span, first, said, seen, background)

    def _question(self, matter: Matter) -> Question:
        return Question(matter, self.store.settings.model, self._memory_md)

    @cached_property
    def _memory_md(self) -> str:
        return self.store.memory_md()

    def _written(self, matter: Matter) -> Told | None:
        if self.store.settings.model == RULES or not needs_asking(matter):
            return None
        return told_by_model(self._question(matter), self.answers, self._price)

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


def materialise_told(context: dg.AssetExecutionContext, store: Store, span: Span) -> dg.MaterializeResult:
    """Writes the run's parts of the span's table; where the settings name a model it is asked first."""
    table, condensing = TABLE_OF[span.name], Condensing(store, span)
    model, how = open_model(store.settings), "" if store.settings.model == RULES else f" {store.settings.model}:{prompt_hash()}"
    wanted = {part: f"{what}{how}" for part, what in telling_inputs(store, span).items()}
    present = store.tables.parts(table, context.partition_keys)
    due = [part for part in context.partition_keys if part in wanted and not _is_made_from(present.get(part), wanted[part])]
    problems = raising_for_dagster(lambda: condensing.ask(model, map(date.fromisoformat, due))) if model else {}
    for problem in problems.values():
        context.log.warning(f"No answer; the rules stand in: {problem}")
    result = materialise_days(
        context,
        store,
        table,
        inputs=lambda part: wanted.get(part, "-"),
        build=lambda part: condensing.rows(date.fromisoformat(part)),
    )
    found = store.tables.read(table, context.partition_keys)
    return result._replace(metadata={**(result.metadata or {}), **told_of(found), "unanswered": len(problems)})


def versions_with(model: str) -> dict[str, str]:
    """Returns the code versions of the tables that are told; another model or prompt marks their partitions as stale."""
    versions = {table: REFLECTOR if span == DAY.name else DISTILLER for span, table in TABLE_OF.items()}
    return versions if model == RULES else {table: f"{by} {model} {prompt_hash()}" for table, by in versions.items()}


def _is_made_from(part: Any, inputs: str) -> bool:
    return part is not None and part.inputs == inputs


def told_of(found: pl.DataFrame) -> dict[str, Any]:
    """Returns what Dagster is told of reflections or distillates: how far they shrank, and what became of the rest."""
    observed, facts, told = (int(found[f"{name}_tokens"].sum()) for name in ("input", "fact", "output"))
    dropped = found.select(pl.col("dropped_why").explode(empty_as_null=False).alias("reason"))
    return {
        "observed_tokens": observed,
        "fact_tokens": facts,
        "told_tokens": told,
        "told_share_of_observed": round(told / max(observed, 1), 4),
        "told_share_of_facts": round(told / max(facts, 1), 4),
        "facts_told": int(found["observation_ids"].list.len().sum()),
        "facts_dropped": dropped.height,
        "dropped_mix": bars(counts_of(dropped, "reason")),
        "pressure_mix": bars(counts_of(found.with_columns(pl.format("level {}", "level").alias("level")), "level")),
    }
