"""Rows of tables: the latest first; samples of allowed facts, the same for the same seed, each at most once."""

from datetime import UTC, datetime

from memory_assets.services.search.table_rows import sample_facts, show_frame
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import frame, row
from memory_assets_tests.small_store import write

DAYS = ("2026-08-03", "2026-08-04")


def store_of(**kinds: dict[str, str]) -> Store:
    """A store with forty rows of each kind, shared out over two days."""
    store = open_store(read_settings())
    for day in DAYS:
        ids = [(name, f"{name}-{day}-{number}") for name in kinds for number in range(20)]
        write(
            store,
            "observations",
            day,
            *(row("observations", id=id, **kinds[name]) for name, id in ids),
        )
    return store


ALLOWED = {"kind": "fact", "gate": "allow"}


def drawn(store: Store, seed: str, count: int = 20) -> list[str]:
    return [found["id"] for found in sample_facts(store.tables, count, seed).rows]


def test_only_allowed_facts_are_drawn_and_all_of_them_can_be():
    store = store_of(
        fact=ALLOWED,
        held={"kind": "fact", "gate": "hold"},
        narrative={"kind": "narrative", "gate": "hold"},
    )
    found = drawn(store, "x", 1_000)
    assert sorted(found) == sorted(f"fact-{day}-{number}" for day in DAYS for number in range(20))


def test_the_same_seed_draws_the_same_and_another_seed_others():
    store = store_of(fact=ALLOWED)
    assert drawn(store, "504fc62") == drawn(store, "504fc62") != drawn(store, "8eb77c1")
    assert len(set(drawn(store, "504fc62"))) == 20


def test_the_latest_rows_are_shown_first_and_those_without_a_time_by_their_key():
    hours = {"a": 9, "b": 11, "c": 10}
    said = [
        row("observations", id=id, event_at=datetime(2026, 8, 3, hour, tzinfo=UTC))
        for id, hour in hours.items()
    ]
    shown = show_frame("observations", frame("observations", *said), 2).rows
    assert [found["id"] for found in shown] == ["b", "c"]
    named = [row("mentions", memory_id=id) for id in ("n2", "n1", "n3")]
    found = show_frame("mentions", frame("mentions", *named), 2).rows
    assert [mention["memory_id"] for mention in found] == ["n1", "n2"]
