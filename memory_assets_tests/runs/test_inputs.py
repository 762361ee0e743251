"""What makes the facts of a day stale: answers, the embedding model that compares them, and what later parts of a session replace."""

from datetime import timedelta

from memory_assets.runs.inputs import observations, replaced_by_day
from memory_assets.schema.tables import TABLES
from memory_assets.store.store import Store
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import DAY, WINDOW, small_store, write

TODAY, TOMORROW = DAY.isoformat(), (DAY + timedelta(days=1)).isoformat()
REPLACED = "mem_0123456789ab"


def answer(window_id: str, **changes) -> dict:
    return row("observer_answers", window_id=window_id, session_id="session-1", state="answered", **changes)


def version(store: Store, **changes) -> str:
    changed = Store(store.settings.model_copy(update=changes), store.root)
    return observations(changed, TABLES["observations"])[TODAY]


def test_the_embedding_model_matters_as_it_decides_between_categories():
    store = small_store()
    assert version(store) != version(store, embedding_model="other")
    assert version(store) == version(store, timezone="Asia/Tokyo")


def test_an_answer_of_a_later_day_that_replaces_a_fact_makes_the_earlier_day_stale():
    store = small_store()
    write(store, "observer_answers", TODAY, answer(WINDOW))
    before = version(store)
    write(store, "observer_answers", TOMORROW, answer("f" * 64))
    assert (replaced_by_day(store), version(store)) == ({}, before)
    write(store, "observer_answers", TOMORROW, answer("f" * 64, replaced_ids=[REPLACED]))
    assert replaced_by_day(store) == {TODAY: [REPLACED], TOMORROW: [REPLACED]}
    assert version(store) != before


def test_another_session_replaces_nothing_here():
    store = small_store()
    write(store, "observer_answers", TODAY, answer(WINDOW))
    write(store, "observer_answers", TOMORROW, {**answer("f" * 64, replaced_ids=[REPLACED]), "session_id": "session-2"})
    assert TODAY not in replaced_by_day(store)
