"""What makes the facts of a day stale: answers, the embedding model, later parts of a session, and texts without a vector."""

from datetime import timedelta

import pytest

from memory_assets.runs.inputs import input_versions, observations, replaced_by_day, version_until
from memory_assets.runs.staleness import stale_partitions
from memory_assets.schema.tables import TABLES
from memory_assets.store.store import Store
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import DAY, WINDOW, small_store, write

TODAY, TOMORROW = DAY.isoformat(), (DAY + timedelta(days=1)).isoformat()
REPLACED = "mem_0123456789ab"


def answer(window_id: str, **changes) -> dict:
    return row(
        "observer_answers", window_id=window_id, session_id="session-1", state="answered", **changes
    )


def version(store: Store, **changes) -> str:
    changed = Store(store.settings.model_copy(update=changes), store.root)
    return observations(changed, TABLES["observations"])[TODAY]


def test_an_answer_of_a_later_day_that_replaces_a_fact_makes_the_earlier_day_stale():
    store = small_store()
    write(store, "observer_answers", TODAY, answer(WINDOW))
    before = version(store)
    write(store, "observer_answers", TOMORROW, answer("f" * 64))
    assert (replaced_by_day(store), version(store)) == ({}, before)
    write(store, "observer_answers", TOMORROW, answer("f" * 64, replaced_ids=[REPLACED]))
    assert replaced_by_day(store) == {TODAY: [REPLACED], TOMORROW: [REPLACED]}
    assert version(store) != before


@pytest.mark.parametrize("name", ["embeddings", "passage_vectors", "document_vectors"])
def test_a_day_with_texts_that_could_not_be_encoded_is_stale_after_five_minutes(name: str):
    store, source = small_store(), TABLES[name].made_from[0]
    write(store, source, TODAY, row(source))
    (wanted,) = [
        version for day, version in input_versions(store, TABLES[name]).items() if day == TODAY
    ]
    now = store.settings.clock()
    store.tables.write(
        name,
        TODAY,
        store.tables.read(name, [TODAY]),
        inputs=version_until(wanted, now + timedelta(minutes=5)),
    )

    def is_stale(after: timedelta) -> bool:
        later = Store(store.settings.model_copy(update={"now": now + after}), store.root)
        return TODAY in stale_partitions(later, TABLES[name])

    assert not is_stale(timedelta(minutes=4, seconds=59))
    assert is_stale(timedelta(minutes=5))
    write(store, source, TODAY)
    assert is_stale(timedelta())
