"""Restoring: stale, archived and cold memories are active again at the next build; others are refused, each with what to do."""

from datetime import timedelta

import pytest

from memory_assets.errors import MemoryAssetsError, MemoryGoneError, NoteError, UnknownMemoryError
from memory_assets.memory import MemoryAgent
from memory_assets.store.ledger import ARCHIVED, COLD, RESTORED
from memory_assets.store.store import Store
from memory_assets_tests.factories import START, row
from memory_assets_tests.small_store import MEMORY, small_store, write

SECOND = "1b7e9d20-0000-5000-8000-000000000002"
SHORT = {MEMORY: "mem_0f3a5c1e0000", SECOND: "mem_1b7e9d200000"}


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with two memories, two days after they were said."""
    monkeypatch.setenv("MEMORY_NOW", str(START + timedelta(days=2)))
    store = small_store()
    hold(store, {MEMORY: "active", SECOND: "active"})
    return store


def hold(store: Store, states: dict[str, str], **more: object) -> None:
    """Gives the memories these states, as the last build found them."""
    more |= {"category": "projects", "event_at": START}
    rows = [
        row("memories", id=id, state=state, text=f"Fact {id[:2]}", observation_ids=[id], **more)
        for id, state in states.items()
    ]
    write(store, "memories", "all", *rows)


def moved(store: Store, kind: str, *memory_ids: str) -> None:
    store.ledger.append(kind, "weekly", {"memory_ids": list(memory_ids)}, actor="rules")


def restored(store: Store) -> list[tuple[str, dict]]:
    return [(event.target, event.payload) for event in store.ledger.events([RESTORED])]


@pytest.mark.parametrize(("kind", "state"), [(ARCHIVED, "archived"), (COLD, "cold")])
def test_an_archived_or_cold_memory_is_restored_once_by_the_beginning_of_its_id(
    store: Store, kind: str, state: str
):
    moved(store, kind, MEMORY, SECOND)
    (one,) = MemoryAgent().restore("mem_0f3a5c").memories
    assert (one.memory_id, one.text, one.state) == (MEMORY, "Fact 0f", state)
    assert restored(store) == [(MEMORY, {"memory_ids": [MEMORY]})]
    with pytest.raises(NoteError, match=f"{SHORT[MEMORY]} is active already"):
        MemoryAgent().restore(MEMORY)
    assert len(restored(store)) == 1


@pytest.mark.parametrize(
    ("state", "error", "told"),
    [
        (
            "active",
            NoteError,
            f"{SHORT[SECOND]} is active already. Only stale, archived and cold memories can be restored.",
        ),
        ("held", NoteError, f"`memory explain {SHORT[SECOND]}` says why"),
        (
            "superseded",
            MemoryGoneError,
            f"{SHORT[SECOND]} was replaced by {SHORT[MEMORY]}, which recall returns instead.",
        ),
        ("forgotten", MemoryGoneError, "`memory remember` saves it again"),
    ],
)
def test_what_cannot_be_restored_is_refused_and_nothing_is_written(
    store: Store, state: str, error: type[Exception], told: str
):
    hold(store, {MEMORY: "active", SECOND: state}, superseded_by=MEMORY)
    moved(store, ARCHIVED, MEMORY)
    with pytest.raises(error) as refused:
        MemoryAgent().restore([MEMORY, SECOND])
    assert told in str(refused.value)
    assert restored(store) == []


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("mem_ffffffff", UnknownMemoryError, "There is no memory mem_ffffffff"),
        ("uv", NoteError, "'uv' is not a memory id"),
    ],
)
def test_an_unknown_id_is_named(store: Store, name: str, error: type[MemoryAssetsError], told: str):
    with pytest.raises(error, match=told):
        MemoryAgent().restore(name)
