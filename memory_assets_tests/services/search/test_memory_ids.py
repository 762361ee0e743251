"""An id is found without reading a table only where the answer is surely that of the table."""

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


def test_a_memory_that_was_forgotten_since_is_not_rated(store: Store):
    agent = MemoryAgent(store.settings)
    agent.forget(MEMORY, apply=True)
    with pytest.raises((MemoryGoneError, UnknownMemoryError)):
        agent.feedback(MEMORY, used=True)
    assert store.ledger.events([FEEDBACK]) == []
    assert not (store.root / "built" / READY).exists(), "an id is a hash of forgotten words"
