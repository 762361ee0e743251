"""Whatever file is damaged: every command answers from what is whole, says so in a line, and the next run rebuilds it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_assets.memory import MemoryAgent, announcements
from memory_assets.store import parquet_tables
from memory_assets.store.damage import missing_parts, put_damaged_aside
from memory_assets_tests.attacks.attacked_store import reopened, settings_at
from memory_assets_tests.attacks.broken_stores import DERIVED, KEPT, TABLES, Damage, cut
from memory_assets_tests.once import SEED, sampled
from memory_assets_tests.small_store import small_store
from memory_assets_tests.story import all_tables, assert_same_tables, open_at, run

NEEDS_EVERY_BYTE = ("flipped", "Dagster")
"""Damage that only a deep examination finds where nothing else reads the file."""

QUESTION = "how do we install packages"


@contextmanager
def damaged(whole: Path, root: Path, damage: Damage) -> Iterator[MemoryAgent]:
    """An agent on a damaged copy of the store, as a process of its own would open it."""
    shutil.copytree(whole / "store", root / "store", symlinks=True)
    damage(root / "store")
    reopened(root)
    announcements()
    yield MemoryAgent(settings_at(root / "store", whole / "sources"))
    shutil.rmtree(root / "store")


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(list(DERIVED), 2))
def test_every_command_answers_and_the_next_run_rebuilds_what_was_damaged(
    attacked: Path, tmp_path: Path, name: str
):
    with damaged(attacked, tmp_path, DERIVED[name]) as agent:
        data, sources = tmp_path / "store", attacked / "sources"
        agent.recall(QUESTION, probe=True)
        agent.status()
        agent.health()
        if any(word in name for word in NEEDS_EVERY_BYTE):
            assert not agent.health(is_deep=True).is_well
        run("ingest", data, sources)
        expected, found = (
            all_tables(open_at(attacked / "store", sources)),
            all_tables(open_at(data, sources)),
        )
        assert_same_tables(found, expected)
        for file in ("briefing.md", "MEMORY.md"):
            assert (data / "workspace" / file).read_bytes() == (
                attacked / "store" / "workspace" / file
            ).read_bytes()
        assert MemoryAgent(agent.settings).recall(QUESTION, probe=True).notes == ()
        failed = [
            (check.name, check.found)
            for check in MemoryAgent(agent.settings).health(is_deep=True).broken
        ]
        assert failed == [], f"TEST_SEED={SEED}"


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(list(KEPT), 1))
def test_damage_of_what_cannot_be_rebuilt_is_named_and_the_rest_is_answered(
    attacked: Path, tmp_path: Path, name: str
):
    check, damage = KEPT[name]
    with damaged(attacked, tmp_path, damage) as agent:
        failed = {one.name: one for one in agent.health(is_deep=True).broken}
        assert check in failed, f"TEST_SEED={SEED}"
        assert failed[check].remedy.startswith("Restore")
        assert agent.recall(QUESTION, probe=True).results
        run("ingest", tmp_path / "store", attacked / "sources")


OF_SMALL = {
    name: damage
    for name, damage in TABLES.items()
    if name.split()[0] not in ("passages", "reflections", "category", "columns")
}


@pytest.mark.parametrize("name", sampled(list(OF_SMALL), 5))
def test_a_damaged_table_is_put_aside_and_named_in_one_line_and_the_others_are_read(name: str):
    store = small_store()
    OF_SMALL[name](store.root)
    announcements()
    agent = MemoryAgent()
    report = agent.health()
    assert [check for check in report.checks if check.name == "git" and check.passed], (
        "the other checks ran"
    )
    agent.review()
    agent.status()
    assert not agent.health(is_deep=True).is_well
    (line,) = announcements()
    table = name.split()[0]
    assert line.startswith(f"tables/{table}/")
    assert "was damaged" in line and "put aside as damaged/000001-data.parquet" in line
    assert (store.root / "damaged" / "000001-data.parquet").is_file()
    assert missing_parts(store).keys() == {table}
    failed = {check.name: check for check in agent.health().checks if not check.passed}
    assert failed["damage"].remedy == "Run `memory ingest`."
    assert (
        sum(
            map(
                len,
                (store.tables.parts(other) for other in ("messages", "observations", "decisions")),
            )
        )
        >= 2
    )


def test_a_damaged_file_that_is_replaced_while_it_is_checked_stays(monkeypatch: pytest.MonkeyPatch):
    store = small_store()
    path = store.root / "tables" / "memories" / "data.parquet"
    whole = store.tables.read("memories")
    cut(path)
    look = parquet_tables._facts_of

    def replaced(name: str):
        try:
            return look(name)
        finally:
            if Path(name) == path:
                monkeypatch.undo()
                path.unlink()
                store.tables.write("memories", "all", whole)

    monkeypatch.setattr(parquet_tables, "_facts_of", replaced)
    assert put_damaged_aside(store) == []
    assert store.tables.read("memories").equals(whole)


def test_forgetting_deletes_what_was_put_aside():
    store = small_store()
    whole = store.tables.read("memories")
    cut(store.root / "tables" / "memories" / "data.parquet")
    put_damaged_aside(store)
    store.tables.write("memories", "all", whole)
    assert [path.name for path in sorted((store.root / "damaged").iterdir())] == [
        "000001-data.parquet",
        "list.jsonl",
    ]
    MemoryAgent().forget("never pip", apply=True)
    assert [path.name for path in sorted((store.root / "damaged").iterdir())] == ["list.jsonl"]
