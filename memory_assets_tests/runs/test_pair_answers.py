"""The reflector decides facts in doubt while memories are rebuilt: counted, limited, and asked about each pair once."""

import pytest

from memory_assets.runs.results import Rows, Run
from memory_assets.runs.steps import embed
from memory_assets.runs.steps.maintain import health_inputs
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.services.models.model_budget import Budget
from memory_assets.services.review.open_triage import triage_answers
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store
from memory_assets_tests.factories import START, row
from memory_assets_tests.small_store import DAY, small_store, write
from memory_assets_tests.stages.distill.models import ScriptedModel

TODAY = DAY.isoformat()
TEXTS = {"1": "The importer refuses empty files.", "2": "The importer turns empty files away."}


@pytest.fixture
def store() -> Store:
    """The small store with two facts that the rules leave in doubt, before memories are rebuilt."""
    store = small_store()
    plain = {
        "kind": "fact",
        "gate": "allow",
        "author": "owner",
        "category": "operations",
        "project": "shop",
        "day": DAY,
    }
    facts = [
        row("observations", id=id, text=text, text_hash=id, event_at=START, **plain)
        for id, text in TEXTS.items()
    ]
    vectors = [
        row("embeddings", text_hash=id, day=DAY, dimension=2, vector=[1.0, 0.0]) for id in TEXTS
    ]
    write(store, "observations", TODAY, *facts)
    write(store, "embeddings", TODAY, *vectors)
    return store


def with_reflector(store: Store, **settings: object) -> Store:
    prices = {"large": {"input": 10, "output": 10}}
    return Store(
        read_settings(
            model_prices=prices, **{"model": "rules", "reflector_model": "large"} | settings
        ),
        store.root,
    )


def build(
    store: Store, model: ScriptedModel | None, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[tuple], list[str]]:
    """Returns the edges between the two facts, and the warnings."""
    if model:
        model.name = "large"
    monkeypatch.setattr(embed, "open_model", lambda *_: model)
    rows = embed.merges(store, Run(TABLES["merges"], [WHOLE], [WHOLE]))(WHOLE)
    assert isinstance(rows, Rows)
    store.tables.write("merges", WHOLE, rows.frame, inputs=rows.version or "")
    own = rows.frame.filter(rows.frame["newer_id"].is_in(list(TEXTS)))
    return own.select("relation", "reason").rows(), list(rows.warnings)


def test_a_pair_in_doubt_is_asked_about_once_and_decided(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    model = ScriptedModel("<verdict>same</verdict>")
    assert build(with_reflector(store), model, monkeypatch) == (
        [("same", "same claim by a model")],
        [],
    )
    assert build(with_reflector(store), model, monkeypatch)[0] == [
        ("same", "same claim by a model")
    ]
    assert len(model.asked) == 1


def test_every_answer_about_pairs_and_proposals_is_in_the_report_of_the_cost(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    """Also one without a verdict, and one that was put aside to be asked again."""
    priced = with_reflector(store)
    build(priced, ScriptedModel("I cannot say."), monkeypatch)
    (stored,) = embed.pair_answers(store).every()
    triage_answers(store).write(stored)
    embed.pair_answers(store).put_aside(stored)
    usd = Budget(priced, "large").spent_since(0)
    costs = health_inputs(priced).costs
    assert costs["step"].to_list() == ["pairs of facts", "proposals"]
    assert costs["usd"].sum() == pytest.approx(usd) and usd > 0


def test_an_answer_stays_valid_without_a_model(store: Store, monkeypatch: pytest.MonkeyPatch):
    build(with_reflector(store), ScriptedModel("<verdict>opposite</verdict>"), monkeypatch)
    store.tables.write("merges", WHOLE, store.tables.read("merges").clear(), inputs="older rules")
    assert build(store, None, monkeypatch)[0] == [("conflict", "opposite")]


def test_what_costs_more_than_allowed_is_not_asked(store: Store, monkeypatch: pytest.MonkeyPatch):
    model = ScriptedModel("<verdict>same</verdict>")
    edges, (warning,) = build(with_reflector(store, model_most_usd=0.0001), model, monkeypatch)
    assert (edges, model.asked) == ([("doubtful", "near")], [])
    assert "MEMORY_MODEL_MOST_USD" in warning
