"""An unused memory leaves recall after 91 days, is found on request, has one cited insight, and comes back when it is used."""

from datetime import timedelta

import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.runs.builders import REPORTS
from memory_assets.runs.materialise import materialise
from memory_assets.schema.requests import RecallRequest
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.services.search.corpus import open_texts, passages_to_index
from memory_assets.stages.maintain.insights import PAGE
from memory_assets.store.ledger import ARCHIVED, COLD, RECALLED
from memory_assets.store.store import Store
from memory_assets_tests.factories import START, row
from memory_assets_tests.small_store import (
    DAY,
    FACT,
    HASH,
    MEMORY,
    WINDOW,
    bring_up_to_date,
    small_store,
    write,
)
from memory_assets_tests.text_rows import text_rows

QUESTION = "How are packages installed?"
WEEKLY, MONTHLY = (
    ("archivals", "memories", "category_summaries", "insights"),
    ("cold_storage", "memories"),
)


def at(day: int, monkeypatch: pytest.MonkeyPatch) -> MemoryAgent:
    monkeypatch.setenv("MEMORY_NOW", str(START + timedelta(days=day)))
    return MemoryAgent()


def run(store: Store, *names: str) -> None:
    """Builds the tables in the order of a job, then the text index."""
    for name in names:
        table = TABLES[name]
        parts = ["projects"] if table.grain == "category" else [WHOLE]
        materialise(store, [table], parts)
        if name in REPORTS:
            REPORTS[name](store, name, parts)
    rows = text_rows(store.tables.read("memories"), passages_to_index(store.tables))
    open_texts(store).update(rows, [])


def recalled(agent: MemoryAgent, **more) -> list[str]:
    found = agent.recall(
        RecallRequest(question=QUESTION, project="shop", profile="lean", probe=True, **more)
    )
    return [one.memory_id for one in found.results if one.memory_id]


def kept(store: Store) -> dict[str, object]:
    tables = {
        name: store.tables.read(name).rows()
        for name in ("memories", "insights", "category_summaries")
    }
    return tables | {"ledger": store.ledger.events(), "page": (store.workspace / PAGE).read_bytes()}


def store_of_one_fact() -> Store:
    store = small_store()
    fact = row(
        "observations", id=MEMORY, session_id="session-1", window_id=WINDOW, text=FACT, text_hash=HASH, kind="fact",
        gate="allow", category="projects", project="shop", scope="project", event_at=START, author="owner", person="mira",
    )  # fmt: skip
    write(store, "observations", DAY.isoformat(), fact)
    bring_up_to_date(store)
    return store


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with one fact of a project, which is queried every week, but never about that fact."""
    store = store_of_one_fact()
    for day in range(0, 400, 7):
        at(day, monkeypatch).store.ledger.append(RECALLED, "q", {"memory_ids": []}, actor="mira")
    return store


def test_after_91_days_without_access_a_memory_is_found_on_request_only(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    before = at(90, monkeypatch)
    run(before.store, *WEEKLY)
    assert recalled(before) == [MEMORY]
    assert FACT in before.store.tables.read("category_summaries")["text"][0]
    assert before.store.tables.read("insights").is_empty()
    after = at(91, monkeypatch)
    run(after.store, *WEEKLY)
    assert after.store.tables.read("memories")["state"].to_list() == ["archived"]
    assert (recalled(after), recalled(after, include=("archived",))) == ([], [MEMORY])
    assert after.store.tables.read("category_summaries").is_empty(), (
        "summaries are made from active memories"
    )
    (insight,) = after.store.tables.read("insights").to_dicts()
    assert (insight["memory_ids"], insight["text"]) == (
        [MEMORY],
        f"{FACT} (2026-08) [mem_0f3a5c1e0000]",
    )
    assert insight["text"] in (after.store.workspace / PAGE).read_text()
    first = kept(after.store)
    run(after.store, *WEEKLY)
    run(at(98, monkeypatch).store, *WEEKLY)
    assert kept(after.store) == first, "a second run, and one a week later, change nothing"


def test_a_memory_that_is_used_after_all_is_active_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    run(at(91, monkeypatch).store, *WEEKLY)
    asked = at(100, monkeypatch)
    asked.recall(RecallRequest(question=QUESTION, project="shop", include=("archived",)))
    run(asked.store, *WEEKLY)
    assert asked.store.tables.read("memories")["state"].to_list() == ["active"]
    assert asked.store.tables.read("insights").is_empty()
    assert not (asked.store.workspace / PAGE).exists()
    later = at(200, monkeypatch)
    run(later.store, *WEEKLY)
    assert later.store.tables.read("memories")["state"].to_list() == ["archived"]
    assert len(later.store.ledger.events([ARCHIVED])) == 2


def test_after_six_months_it_is_cold_and_still_found_on_request(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    run(at(91, monkeypatch).store, *WEEKLY)
    run(at(182, monkeypatch).store, *MONTHLY)
    assert store.tables.read("memories")["state"].to_list() == ["archived"]
    cold = at(183, monkeypatch)
    for _ in range(2):
        run(cold.store, *MONTHLY)
        assert cold.store.tables.read("memories")["state"].to_list() == ["cold"]
    assert len(cold.store.ledger.events([COLD])) == 1
    assert [
        recalled(cold),
        recalled(cold, include=("archived",)),
        recalled(cold, include=("cold",)),
    ] == [[], [], [MEMORY]]
