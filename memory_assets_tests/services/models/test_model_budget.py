"""The price of questions, and the limit of a run: what was spent since the process started counts."""

import os
from datetime import UTC, datetime

import pytest

from memory_assets.errors import ModelSetupError
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.services.models.model_budget import Budget
from memory_assets.stages.distill.model.answers import AnswerKey, AnswerStore, StoredAnswer
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store

PRICES = {"scripted": {"input": 1_000_000, "output": 0}}
"""One dollar a token."""


def budget(most: float) -> Budget:
    return Budget(open_store(read_settings(model_most_usd=most, model_prices=PRICES)), "scripted-1")


def keep(store: Store, tokens: int, folder: str = "", output: int = 10) -> None:
    answer = ModelAnswer("said", "scripted-1", tokens, output)
    key = AnswerKey(f"{folder}{tokens}", "p", "scripted-1", "max_tokens=1", "1")
    AnswerStore(store.answers / folder).write(StoredAnswer(key, answer, datetime.now(UTC)))


def test_questions_within_the_limit_pass_and_others_are_named_with_their_price():
    budget(10).check([4, 6])
    with pytest.raises(
        ModelSetupError,
        match=r"2 questions would cost about \$11\.00; MEMORY_MODEL_MOST_USD allows \$10\.00",
    ):
        budget(10).check([4, 7])


@pytest.mark.parametrize("folder", ["", "triage"])
def test_what_this_run_has_spent_counts_whatever_the_step(folder: str):
    own = budget(10)
    keep(own.store, 6, folder)
    own.check([4])
    with pytest.raises(ModelSetupError, match=r"\$5\.00, after \$6\.00 for earlier ones"):
        own.check([5])


def test_what_earlier_runs_have_spent_does_not_count():
    own = budget(10)
    keep(own.store, 6)
    for path in own.store.answers.glob("*.json"):
        os.utime(path, (1_000_000, 1_000_000))
    own.check([10])
    assert (own.spent_since(0), own.spent_since(2_000_000)) == (6, 0)


def test_without_a_price_nothing_is_asked_because_the_limit_could_not_be_held():
    own = Budget(open_store(read_settings()), "unheard-of")
    own.check([])
    with pytest.raises(ModelSetupError, match="No price is known for unheard-of"):
        own.check([1])


@pytest.mark.parametrize(
    ("harness", "same_as"),
    [("haiku", "claude-haiku-5-5"), ("claude-sonnet-4-6", "claude-sonnet-4-6")],
)
def test_a_harness_is_counted_at_the_price_of_the_api(harness: str, same_as: str):
    store = open_store(read_settings())
    assert Budget(store, f"claude-code:{harness}").estimate([1000]) == Budget(
        store, same_as
    ).estimate([1000])
