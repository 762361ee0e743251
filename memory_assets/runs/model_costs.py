"""Counts the questions that models would be asked about the days of a store, and their price.

Counts for both roles, observer and reflector, and sends nothing. Windows are counted exactly; for
the overview, they are estimated from the lengths of their messages. Reflections are counted from
the present facts, which new answers about windows would change. The number of questions that a
person will ask is unknown, so only the size of one is given.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from functools import partial

from memory_assets.runs.inputs import input_versions
from memory_assets.runs.steps.condensing import Condenser, days_of
from memory_assets.runs.steps.embed import pair_questions_of
from memory_assets.schema.setting_types import ALL_PROJECTS
from memory_assets.schema.tables import TABLES
from memory_assets.services.models.model_budget import Budget
from memory_assets.services.models.model_offers import ModelOverview, overview_of
from memory_assets.services.models.model_questions import Consultation, Costs, StepCost
from memory_assets.services.review.open_triage import review_questions
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.model.material import read_prompt
from memory_assets.stages.embed.pair_questions import MOST_PAIRS, PAIRS_A_WINDOW, PairQuestion
from memory_assets.stages.recall import cited_answer, query
from memory_assets.stages.recall.wording import CHARS_A_MESSAGE
from memory_assets.stages.reflect.questions import open_question
from memory_assets.stages.reflect.subjects import DAY, SMALL_TOKENS, SPANS, TABLE_OF
from memory_assets.store.settings import NOT_ASKED, RULES, Role, harness_of
from memory_assets.store.store import Store
from memory_assets.text.words import CHARS_A_TOKEN, count_tokens

FACT_TOKENS_A_WINDOW = 200
"""Tokens of the allowed facts of a window, ids included: four or five facts."""

VERDICT_TOKENS = 15
PROPOSALS_A_WINDOW, PROPOSAL_TOKENS, DECISION_TOKENS = 2, 60, 25

USUAL_FACT_CHARS = 150
"""Characters of a fact, for estimates."""


def costs_of(store: Store, days: Iterable[str]) -> Costs:
    """Returns the cost of asking both models about the days.

    Raises `ModelSetupError` if none is configured.
    """
    days = list(days)
    observer = store.settings.model_of("observer")
    reflector = store.settings.model_of("reflector")
    if observer == RULES != reflector:
        budget = Budget(store, reflector)
        costs = Costs(reflector, budget.has_price, (), budget.spent_since(0))
    else:
        costs = Consultation(store, observer).costs(days)
    steps = [*_reflector_steps(store, reflector, days, costs), *_observer_steps(store, observer)]
    return replace(costs, others=(*costs.others, *steps))


def _reflector_steps(store: Store, model: str, days: list[str], costs: Costs) -> Iterable[StepCost]:
    """Yields the steps of the reflector about the facts of today, and about those that the open
    questions to the observer will find.
    """
    if model == RULES:
        return
    windows = costs.calls
    step = partial(_step, "reflector", Budget(store, model))
    pairs = pair_questions_of(store, store.tables.read("merges"), model)
    tokens = [question.request().estimated_tokens() for question in pairs]
    expected = pair_tokens_of(windows)
    out = VERDICT_TOKENS * (len(pairs) + PAIRS_A_WINDOW * windows)
    yield step("pairs of facts", [*tokens, *expected], out=out)
    expected, out = expected_reflections({day.day: day.calls - day.answered for day in costs.days})
    present = step("reflections", reflection_tokens(store, days))
    to_come = step("reflections", expected, out=out)
    # The facts to come replace those of the rules, about the same days.
    yield max(present, to_come, key=lambda cost: cost.input_tokens)
    tokens, out = review_tokens(store, model, windows)
    yield step("reviews", tokens, out=out)
    prompt = read_prompt("recall", "cited_answer")
    tokens = count_tokens(prompt) + cited_answer.PROMPT_TOKENS
    yield step("each cited answer, at most", [tokens], is_each=True)


def expected_reflections(calls_by_day: Mapping[date, int]) -> tuple[list[int], int]:
    """Returns the estimated tokens of the questions about facts to come, and of their answers."""
    prompt = count_tokens(read_prompt("reflect", "reflector"))
    tokens: list[int] = []
    output = 0.0
    for span in SPANS:
        calls: Counter[date] = Counter()
        for day, count in calls_by_day.items():
            calls[span.first_day(day)] += count
        sizes = [count * FACT_TOKENS_A_WINDOW for count in calls.values() if count]
        large = [size for size in sizes if span != DAY or size > SMALL_TOKENS]
        tokens += [prompt + size for size in large]
        output += span.share * sum(large)
    return tokens, int(output)


def pair_tokens_of(windows: int) -> list[int]:
    """Returns the estimated tokens of the questions about pairs of facts of windows to come."""
    fact = "x" * USUAL_FACT_CHARS
    pairs = [(fact, fact)] * (windows * PAIRS_A_WINDOW)
    starts = range(0, len(pairs), MOST_PAIRS)
    questions = [PairQuestion(tuple(pairs[start : start + MOST_PAIRS]), "") for start in starts]
    return [question.request().estimated_tokens() for question in questions]


def review_tokens(store: Store, model: str, windows: int) -> tuple[list[int], int]:
    """Returns the estimated tokens of the questions about proposals, and of their answers.

    These are the proposals of today, or those that this number of questions about windows will
    bring, whichever are more.
    """
    reviews = review_questions(store, model)
    present = [review.request.estimated_tokens() for review in reviews]
    proposals = PROPOSALS_A_WINDOW * windows
    size = count_tokens(read_prompt("triage", "batch")) + proposals * PROPOSAL_TOKENS
    to_come = [size, size] if windows else []
    if sum(present) < sum(to_come):
        return to_come, 2 * proposals * DECISION_TOKENS
    return present, sum(len(review.shown) for review in reviews) * DECISION_TOKENS


def _observer_steps(store: Store, model: str) -> Iterable[StepCost]:
    # The command line of a harness is too slow to rewrite a question while a person waits.
    if model in NOT_ASKED or harness_of(model) is not None:
        return
    message_tokens = query.RECENT_MESSAGES * CHARS_A_MESSAGE // CHARS_A_TOKEN
    tokens = count_tokens(read_prompt("recall", "query")) + message_tokens
    budget = Budget(store, model)
    yield _step("observer", budget, "each rewritten question, at most", [tokens], is_each=True)


def overview(store: Store, origin: str) -> ModelOverview:
    """Returns the models that this machine offers, and what one would be asked about all projects.

    Questions are counted as if the settings allowed every project. `origin` says where the present
    choice of a model comes from.
    """
    settings = store.settings.model_copy(update={"model_projects": [ALL_PROJECTS]})
    all_allowed = Store(settings, store.root)
    tokens = reflection_tokens(all_allowed, all_allowed.tables.parts("observations"))
    reviews_of = partial(review_tokens, all_allowed, settings.model_of("reflector"))
    return overview_of(store, origin, tokens, reviews_of)


def reflection_tokens(store: Store, days: Iterable[str]) -> list[int]:
    """Returns the estimated tokens of each open question about the days, their weeks and months."""
    answers = AnswerStore(store.answers)
    asked_days = set(days)
    tokens = list[int]()
    for span in SPANS:
        condenser = Condenser(store, span)
        for part in input_versions(store, TABLES[TABLE_OF[span.name]]):
            first = date.fromisoformat(part)
            if asked_days.isdisjoint(days_of(span, first)):
                continue
            questions = condenser.questions(first)
            waiting = [open_question(question, answers) for question in questions]
            tokens += [question.estimated_tokens() for question in waiting if question]
    return tokens


def _step(
    role: Role,
    budget: Budget,
    name: str,
    tokens: list[int],
    *,
    out: int | None = None,
    is_each: bool = False,
) -> StepCost:
    count = len(tokens)
    output = budget.output_tokens(count) if out is None else out
    price = budget.estimate(tokens, out=output)
    return StepCost(name, role, budget.model, count, sum(tokens), output, price, is_each)
