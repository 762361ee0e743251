"""An id is found without reading a table only where the answer is surely that of the table."""

import polars as pl
import pytest

from memory_assets.errors import MemoryGoneError, UnknownMemoryError
from memory_assets.memory import MemoryAgent
from memory_assets.services.search.memory_ids import READY, find_ready, keep_ids_ready
from memory_assets.store.ledger import FEEDBACK
from memory_assets.store.store import Store
from memory_assets_tests.small_store import MEMORY, small_store

SHORT = f"mem_{MEMORY.replace('-', '')[:12]}"


@pytest.fixture
def store() -> Store:
    made = small_store()
    keep_ids_ready(made, made.tables.read("memories"))
    return made


@pytest.mark.parametrize(
    "name", [MEMORY, MEMORY.upper(), SHORT, f" {SHORT} ", MEMORY.replace("-", "")]
)
def test_an_id_is_found_in_each_form_that_names_it_surely(store: Store, name: str):
    assert find_ready(store, name) == MEMORY


@pytest.mark.parametrize(
    "name",
    [SHORT[:-1], "mem_", "", "mem_ffffffffffff", f"{MEMORY} active", "\n", ".*", MEMORY[:-1] + "x"],
)
def test_the_table_is_read_for_everything_else(store: Store, name: str):
    assert find_ready(store, name) is None


def test_the_table_is_read_once_it_or_the_notes_changed(store: Store):
    MemoryAgent(store.settings).remember("Deploys run on Tuesdays.")
    assert find_ready(store, MEMORY) is None
    keep_ids_ready(store, store.tables.read("memories"))
    assert find_ready(store, MEMORY) == MEMORY
    store.tables.write("memories", "all", store.tables.read("memories"), inputs="again")
    assert find_ready(store, MEMORY) is None


def test_a_memory_that_was_forgotten_since_is_not_rated(store: Store):
    agent = MemoryAgent(store.settings)
    agent.forget(MEMORY, apply=True)
    with pytest.raises((MemoryGoneError, UnknownMemoryError)):
        agent.feedback(MEMORY, used=True)
    assert store.ledger.events([FEEDBACK]) == []
    assert not (store.root / "built" / READY).exists(), "an id is a hash of forgotten words"


def test_a_forgotten_memory_and_two_of_the_same_beginning_are_left_to_the_table(store: Store):
    rows = store.tables.read("memories")
    own = rows.filter(id=MEMORY)
    keep_ids_ready(store, own.with_columns(state=pl.lit("forgotten")))
    assert find_ready(store, MEMORY) is None
    keep_ids_ready(store, pl.concat([own, own.with_columns(id=pl.lit(MEMORY[:-1] + "f"))]))
    assert find_ready(store, SHORT) is None
    assert find_ready(store, MEMORY) == MEMORY


def test_a_file_that_was_cut_short_or_is_missing_is_not_used(store: Store):
    path = store.root / "built" / READY
    path.write_bytes(path.read_bytes()[:20])
    assert find_ready(store, MEMORY) is None
    path.unlink()
    assert find_ready(store, MEMORY) is None
    assert MemoryAgent(store.settings).feedback(MEMORY, used=True).memory_ids == (MEMORY,)
