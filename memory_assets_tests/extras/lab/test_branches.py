"""A branch begins as today's store, is changed without today's store, and goes without a trace."""

from pathlib import Path
from typing import Any

import pytest

from memory_assets.extras.lab import branches, what_if
from memory_assets.extras.lab.branches import Branch, BranchFolder, branches_of
from memory_assets.extras.lab.what_if import drop
from memory_assets.memory import MemoryAgent
from memory_assets.services.forget.branches import drop_all
from memory_assets.store.store import Store
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import DAY, FACT, index, small_store, write

BRANCH = Branch("mine", DAY, DAY, {"least_useful": "0.6"}, 0.0, "by these rules")


def bytes_of(root: Path) -> dict[str, bytes]:
    return {
        str(x.relative_to(root)): x.read_bytes()
        for x in root.rglob("*")
        if x.is_file() and x.name != "lock"
    }


def begun(store: Store) -> BranchFolder:
    place = BranchFolder(store, "mine")
    branches.begin(place, BRANCH)
    return place


def test_a_branch_holds_what_today_holds_and_reads_the_archive_and_the_answers_of_today():
    store = small_store()
    place = begun(store)
    own = place.open(store.settings)
    assert own.tables.read("memories").equals(store.tables.read("memories"))
    assert place.past_tables.read("observations").equals(store.tables.read("observations"))
    assert (own.archive.resources().equals(store.archive.resources()), own.answers, own.key) == (
        True,
        store.answers,
        store.key,
    )
    assert (own.workspace / "MEMORY.md").read_bytes() == (
        store.workspace / "MEMORY.md"
    ).read_bytes()
    assert (place.read(), [one.name for one in branches_of(store)]) == (BRANCH, ["mine"])


def test_what_a_branch_writes_today_does_not_see():
    store = small_store()
    place = begun(store)
    before = {
        name: content
        for name, content in bytes_of(store.root).items()
        if not name.startswith("branches/")
    }
    own = place.open(store.settings)
    write(own, "observations", DAY.isoformat(), row("observations", id="other"))
    own.ledger.append("sessions.flushed", "all", actor="mira")
    (own.workspace / "MEMORY.md").write_text("- other\n")
    assert own.tables.read("observations")["id"].to_list() == ["other"]
    assert {
        name: content
        for name, content in bytes_of(store.root).items()
        if not name.startswith("branches/")
    } == before
    assert place.past_tables.read("observations").equals(store.tables.read("observations"))


def test_what_a_killed_process_left_half_made_is_no_branch_and_in_nobodys_way():
    store = small_store()
    half = store.root / "branches" / ".mine" / "tables"
    half.mkdir(parents=True)
    (half / "left").write_text("over")
    assert [*branches_of(store)] == []
    assert begun(store).read() == BRANCH
    assert drop_all(store) == 1
    assert not (store.root / "branches").exists()


def test_a_branch_that_is_dropped_leaves_nothing_and_listeners_are_notified(
    monkeypatch: pytest.MonkeyPatch,
):
    store = small_store()
    begun(store)
    events: list[tuple[Any, ...]] = []
    monkeypatch.setattr(what_if, "notify", lambda *event: events.append(event))
    drop(store, "mine")
    assert [*branches_of(store)] == []
    assert events == [("acted", store, "configure", "Dropped the branch mine", "a what-if")]


def test_a_branch_is_the_owners_alone():
    store = small_store()
    place = begun(store)
    assert {
        oct(path.stat().st_mode & 0o077) for path in (place.root, place.root / "tables", place.past)
    } == {"0o0"}


def test_forgetting_finds_branches_and_drops_them():
    store = small_store()
    index(store)
    begun(store)
    agent = MemoryAgent(store.settings)
    seen = agent.forget(FACT)
    assert "branches of a what-if" in {place.kind for place in seen.found.places}
    assert seen.branches == ("mine",)
    done = agent.forget(FACT, apply=True)
    assert (done.is_gone, done.erased["branches"], (store.root / "branches").exists()) == (
        True,
        1,
        False,
    )
