"""While a store is built, recall, status and brief say how far it is."""

from memory_assets.memory import MemoryAgent
from memory_assets.memory.prepared import describe_briefing
from memory_assets.services.health.built_share import built_share
from memory_assets.services.health.status import render_status, status_of
from memory_assets.store.ready import BEING_BUILT, NOTHING_YET
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import DAY, small_store, write

SO_FAR = "The memory is being built: {} of 2 sessions so far. The others are found by their words."


def with_a_second_session() -> Store:
    """A store of two sessions; of the second, which ended a day later, nothing is distilled."""
    store = small_store()
    later = row(
        "windows", window_id="v" * 64, session_id="second", day=DAY.replace(day=DAY.day + 1)
    )
    rows = store.tables.read("windows").to_dicts()
    write(store, "windows", "all", *rows, later)
    return store


def test_the_sessions_distilled_so_far_are_counted_until_all_of_them_are():
    store = with_a_second_session()
    assert built_share(store) == SO_FAR.format(1)
    write(store, "observations", str(DAY.replace(day=DAY.day + 1)))
    assert built_share(store) == ""


def test_a_session_is_not_distilled_before_each_of_its_days_is():
    store = small_store()
    (window,) = store.tables.read("windows").to_dicts()
    later = {**window, "window_id": "v" * 64, "day": DAY.replace(day=DAY.day + 1)}
    write(store, "windows", "all", window, later)
    assert built_share(store).startswith("The memory is being built: 0 of 1 sessions")


def test_older_and_open_sessions_are_not_waited_for():
    store = small_store()
    rows = store.tables.read("windows").to_dicts()
    older = row("windows", window_id="v" * 64, status="older", day=DAY.replace(day=DAY.day + 1))
    growing = row("windows", window_id="u" * 64, status="open", day=None)
    write(store, "windows", "all", *rows, older, growing)
    assert built_share(store) == ""


def test_recall_and_status_say_it():
    store = with_a_second_session()
    answer = MemoryAgent(store.settings).recall("how do we install packages", probe=True)
    assert SO_FAR.format(1) in answer.notes
    assert f"building      {SO_FAR.format(1)}" in render_status(status_of(store))


def test_before_the_first_briefing_its_reader_hears_whether_one_is_on_its_way():
    store = open_store(read_settings())
    assert describe_briefing(str(store.root))[1] == [NOTHING_YET]
    small_store()
    (store.workspace / "briefing.md").unlink()
    (store.root / "resources" / "catalog.jsonl").touch()
    assert describe_briefing(str(store.root))[1] == [BEING_BUILT]
