"""With a model: it is asked once about what does not fit, over HTTP, its raw answer stored first; the rules stand in for it."""

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from memory_assets.errors import ModelSetupError
from memory_assets.runs.steps.condensing import Condenser
from memory_assets.schema.protocols import Model
from memory_assets.services.models.open_models import open_model
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.reflect.subjects import DAY
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import forty_facts
from memory_assets_tests.messages_api import KEY, MessagesApi, serve
from memory_assets_tests.small_store import write

MODEL = "claude-haiku-4-5"
ON = date(2026, 8, 3)


def terse(body: dict[str, Any]) -> str:
    """A reflector that tells the first three facts it is shown."""
    shown = re.findall(
        r"^[🔴🟡] (.+ \[mem_[0-9a-f]{12}\])$", body["messages"][0]["content"][-1]["text"], re.M
    )
    return "\n".join(f"- {line}" for line in shown[:3])


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with serve(terse) as found:
        yield found


@pytest.fixture
def store(api: MessagesApi, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with a day of forty facts."""
    prices = json.dumps({MODEL: {"input": 1, "output": 5}})
    for name, value in {
        "MODEL": MODEL,
        "MODEL_URL": api.url,
        "MODEL_RETRIES": "0",
        "MODEL_PRICES": prices,
    }.items():
        monkeypatch.setenv(f"MEMORY_{name}", value)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    store = open_store(read_settings())
    write(store, "observations", ON.isoformat(), *forty_facts(ON))
    write(store, "merges", "all")
    return store


def ask(store: Store) -> dict[str, Any]:
    """Asks about the day and returns the one row that is told of it."""
    condenser = Condenser(store, DAY)
    model = open_model(store)
    assert model is not None
    condenser.ask(model, [ON])
    (found,) = condenser.rows(ON).to_dicts()
    return found


def test_the_model_is_asked_once_and_a_second_run_pays_nothing(store: Store, api: MessagesApi):
    found = ask(store)
    assert found["reflector"].startswith(MODEL)
    assert (found["level"], len(found["observation_ids"])) == (0, 3)
    assert found["cost_usd"] > 0 and found["problem"] is None
    (kept,) = AnswerStore(store.root / "answers").every()
    assert found["answers"] == [kept.key.name] and kept.answer.text == terse(api.questions()[0])
    assert ask(store) == found
    assert len(api.questions()) == 1


def test_a_model_that_will_not_shrink_is_asked_three_times_and_nothing_is_lost(store: Store):
    with serve(lambda body: "\n".join([terse(body)] * 40)) as endless:
        found = ask(with_url(store, endless.url))
    assert len(endless.questions()) == 3
    assert (found["level"], found["problem"], len(found["observation_ids"])) == (
        2,
        "no answer was smaller than the facts",
        40,
    )


def test_nothing_is_asked_beyond_the_budget(
    store: Store, api: MessagesApi, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_MODEL_MOST_USD", "0.000001")
    poor = open_store(read_settings())
    model: Model | None = open_model(poor)
    assert model is not None
    with pytest.raises(ModelSetupError, match="MEMORY_MODEL_MOST_USD"):
        Condenser(poor, DAY).ask(model, [ON])
    assert api.questions() == []


def with_url(store: Store, url: str) -> Store:
    return open_store(store.settings.model_copy(update={"model_url": url}))
