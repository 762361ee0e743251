"""Every question that will be asked is counted: windows, reflections and reviews, each with the model of its role."""

import pytest

from memory_assets.runs.model_costs import costs_of, overview
from memory_assets.schema.tables import WHOLE
from memory_assets.services.models import model_offers
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store
from memory_assets_tests.factories import forty_facts
from memory_assets_tests.small_store import DAY, bring_up_to_date, small_store, write

TODAY = DAY.isoformat()
PRICES = {"small": {"input": 1, "output": 1}, "large": {"input": 10, "output": 10}}


@pytest.fixture
def store() -> Store:
    """The small store with a day of forty facts, which do not fit into a reflection."""
    store = small_store()
    write(store, "observations", TODAY, *forty_facts(DAY))
    bring_up_to_date(store)
    return store


def with_models(store: Store, **settings: object) -> Store:
    return Store(read_settings(model_prices=PRICES, **settings), store.root)


def test_each_step_is_counted_with_the_model_of_its_role(store: Store):
    costs = costs_of(with_models(store, model="small", reflector_model="large"), [TODAY])
    assert (costs.model, costs.days[0].calls) == ("small", 1)
    found = {one.step: (one.model, one.calls) for one in costs.others}
    assert (found["reflections"], found["reviews"]) == (("large", 2), ("large", 2))
    each = {one.step: one for one in costs.others if one.is_each}
    assert {(one.role, one.model, one.calls) for one in each.values()} == {
        ("reflector", "large", 1),
        ("observer", "small", 1),
    }
    assert costs.calls == 6, "one about pairs of the facts to come"
    assert costs.usd == pytest.approx(
        costs.days[0].usd + sum(one.usd for one in costs.others if not one.is_each)
    )


def test_consent_counts_the_reviews_of_proposals_that_answers_will_bring(
    monkeypatch: pytest.MonkeyPatch,
):
    """On a store where nothing is proposed yet, and not once every session has its answer."""
    monkeypatch.setattr(model_offers, "USUAL_PORTS", {1: "Ollama"})
    monkeypatch.setattr("memory_assets.adapters.harness_model.SYSTEM_FOLDERS", ())
    store = with_models(small_store(), model="large")
    write(store, "proposals", TODAY)
    counted = overview(store, "default")
    reviews = next(step for step in costs_of(store, [TODAY]).others if step.step == "reviews")
    assert (counted.calls, reviews.calls) == (3, 2)
    assert counted.tokens > reviews.input_tokens
    write(store, "windows", WHOLE)
    assert overview(store, "default").calls == 0


def test_a_harness_is_not_counted_for_questions_that_it_is_too_slow_to_rewrite(store: Store):
    steps = [one.step for one in costs_of(with_models(store, model="claude-code"), [TODAY]).others]
    assert [step for step in steps if "question" in step] == []
    assert "each cited answer, at most" in steps
