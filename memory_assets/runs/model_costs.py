"""Counts what models would be asked about the days of a store, in both roles, and what it would
cost; sends nothing.

Windows are counted exactly; for the overview, they are estimated from the lengths of their
messages. Reflections are counted from the present facts: answers about windows change them.
Questions that a person asks cannot be counted before: the size of one is given.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from memory_assets.runs.inputs import input_versions
from memory_assets.runs.steps.condensing import Condenser, days_of
from memory_assets.runs.steps.embed import pair_questions_of
from memory_assets.schema.tables import TABLES
from memory_assets.services.models.model_budget import Budget
from memory_assets.services.models.model_offers import ModelOverview, overview_of
from memory_assets.services.models.model_questions import Consultation, Costs, StepCost
from memory_assets.services.review.open_triage import review_questions
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.model.material import read_prompt
from memory_assets.stages.recall import cited_answer, query
from memory_assets.stages.recall.wording import CHARS_A_MESSAGE
from memory_assets.stages.reflect.questions import open_question
from memory_assets.stages.reflect.subjects import SPANS, TABLE_OF
from memory_assets.store.settings import ALL_PROJECTS, RULES, Role, harness_of
from memory_assets.store.store import Store
from memory_assets.text.words import CHARS_A_TOKEN, count_tokens


def costs_of(store: Store, days: Iterable[str]) -> Costs:
    """Returns the cost of asking both models about the days; raises `ModelSetupError` if none is
    configured.
    """
    days, observer, reflector = list(days), *map(store.settings.model_of, ("observer", "reflector"))
    if observer == RULES != reflector:
        budget = Budget(store, reflector)
        costs = Costs(reflector, budget.has_price, (), budget.spent_since(0))
    else:
        costs = Consultation(store, observer).costs(days)
    return replace(costs, others=(*costs.others, *_other_steps(store, days)))


def _other_steps(store: Store, days: list[str]) -> Iterable[StepCost]:
    if (model := store.settings.model_of("reflector")) != RULES:
        budget = Budget(store, model)
        pairs = pair_questions_of(store, store.tables.read("merges"), model)
        yield _step(
            "pairs of facts",
            "reflector",
            budget,
            [one.request().estimated_tokens() for one in pairs],
        )
        yield _step("reflections", "reflector", budget, reflection_tokens(store, days))
        yield _step(
            "reviews",
            "reflector",
            budget,
            [one.request.estimated_tokens() for one in review_questions(store, model)],
        )
        sources = count_tokens(read_prompt("recall", "cited_answer")) + cited_answer.PROMPT_TOKENS
        yield _step("each cited answer, at most", "reflector", budget, [sources], is_each=True)
    model = store.settings.model_of("observer")
    if model != RULES and harness_of(model) is None:  # a harness is too slow to rewrite questions
        messages = query.RECENT_MESSAGES * CHARS_A_MESSAGE // CHARS_A_TOKEN
        prompt = count_tokens(read_prompt("recall", "query")) + messages
        yield _step(
            "each rewritten question, at most",
            "observer",
            Budget(store, model),
            [prompt],
            is_each=True,
        )


def overview(store: Store, origin: str) -> ModelOverview:
    """Returns what this machine offers as a model, and what is due, were every project allowed."""
    every = Store(store.settings.model_copy(update={"model_projects": [ALL_PROJECTS]}), store.root)
    reviews = review_questions(every, every.settings.model_of("reflector"))
    due = [
        *reflection_tokens(every, every.tables.parts("observations")),
        *(one.request.estimated_tokens() for one in reviews),
    ]
    return overview_of(store, origin, due)


def reflection_tokens(store: Store, days: Iterable[str]) -> list[int]:
    """Returns the estimated tokens of each open question about the days, and about the weeks and
    months that they lie in.
    """
    answers = AnswerStore(store.answers)
    wanted = set(days)
    found = []
    for span in SPANS:
        condenser = Condenser(store, span)
        parts = map(date.fromisoformat, input_versions(store, TABLES[TABLE_OF[span.name]]))
        firsts = [first for first in parts if wanted & set(days_of(span, first))]
        questions = (
            open_question(one, answers) for first in firsts for one in condenser.questions(first)
        )
        found += [question.estimated_tokens() for question in questions if question]
    return found


def _step(
    name: str, role: Role, budget: Budget, tokens: list[int], *, is_each: bool = False
) -> StepCost:
    out = budget.output_tokens(len(tokens))
    return StepCost(
        name, role, budget.model, len(tokens), sum(tokens), out, budget.estimate(tokens), is_each
    )
