"""Building: which transcripts were taken in is told, a second time nothing is done, the sample is shown only when asked for."""

from pathlib import Path

import pytest

from memory_assets.adapters.chroma_index import ChromaIndex
from memory_assets.interfaces.views.progress import Bars
from memory_assets.runs import build as building
from memory_assets.runs import launch
from memory_assets.runs.build import build, choose, fill, rebuild
from memory_assets.runs.due import memories_are_stale
from memory_assets.runs.freshness import read_noted_times
from memory_assets.runs.launch import RunSummary
from memory_assets.schema.progress import report_to, works
from memory_assets.services.settings.which_store import sample_settings
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import bring_up_to_date, index, small_store, write


@pytest.fixture
def ingested(monkeypatch: pytest.MonkeyPatch) -> list[Store]:
    """The stores that were brought up to date; each time one more observation is learnt."""
    stores: list[Store] = []

    def learn(store: Store, **_: bool) -> RunSummary:
        stores.append(store)
        write(
            store,
            "observations",
            f"2026-08-{len(stores):02d}",
            row("observations", id=f"new-{len(stores)}"),
        )
        return RunSummary(["capture", "process_days"], 1.5)

    monkeypatch.setattr(building.launch, "ingest", learn)
    return stores


def test_folders_named_in_settings_are_taken_in(
    ingested: list[Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_SOURCES", str(tmp_path / "home"))
    built = build()
    assert built.reason == f"Transcripts from {tmp_path / 'home'}"
    assert (built.learnt, built.jobs, built.is_unchanged) == (
        {"facts": 1},
        ("capture", "process_days"),
        False,
    )
    assert built.warnings == (f"No transcripts were found in {tmp_path / 'home'}.",)


def test_an_empty_machine_shows_the_sample_in_a_store_of_its_own(
    ingested: list[Store], tmp_path: Path
):
    built = fill(choose(may_show_sample=True))
    assert ingested[0].root == tmp_path / "store" / "sample"
    assert built.status.is_sample
    assert len(list((tmp_path / "store" / "sample" / "transcripts").rglob("*.jsonl"))) > 20


@pytest.mark.parametrize("is_of_sample", [True, False])
def test_work_on_the_sample_alone_is_announced_as_such(
    is_of_sample: bool, monkeypatch: pytest.MonkeyPatch, capsys
):
    settings = sample_settings(read_settings()) if is_of_sample else read_settings()
    monkeypatch.setattr(launch, "expected_seconds", lambda store: {"memories": 1.0})
    monkeypatch.setattr(launch, "update", lambda runner, jobs: works("recall works"))
    monkeypatch.setattr(launch.housekeeping, "is_due", lambda store: False)
    monkeypatch.setattr(launch, "keep_waiting", lambda store: None)
    with report_to(Bars()):
        launch.ingest(open_store(settings))
    notice = [launch.OF_SAMPLE] if is_of_sample else []
    assert capsys.readouterr().err.splitlines() == [*notice, "Recall works after 0 s."]


def test_a_rebuild_deletes_what_is_derived_and_makes_it_again(ingested: list[Store]):
    store = small_store()
    (store.workspace / "MEMORY.md").write_text("- by hand\n")
    archived = store.archive.resources()
    built = rebuild()
    assert built.store.tables.parts("messages") == {}
    assert built.store.archive.resources().equals(archived)
    assert (store.workspace / "MEMORY.md").read_text() == "- by hand\n"
    assert len(ingested) == 1


def test_a_rebuild_cuts_the_days_in_the_present_zone(
    ingested: list[Store], monkeypatch: pytest.MonkeyPatch
):
    small_store()
    monkeypatch.setenv("MEMORY_TIMEZONE", "Europe/Berlin")
    assert rebuild().store.settings.timezone == "Europe/Berlin"


def test_the_indexes_alone_can_be_rebuilt(monkeypatch: pytest.MonkeyPatch):
    store = small_store()
    index(store)
    bring_up_to_date(store)
    assert not memories_are_stale(store)
    monkeypatch.setattr(launch, "update", lambda runner, jobs: None)
    built = rebuild("indexes")
    assert built.store.tables.parts("messages").keys() == {"2026-08-03"}
    assert ChromaIndex(store.root / "index").generation() is not None
    assert built.jobs == ()
    assert "chroma" not in read_noted_times(store)
    assert memories_are_stale(store)


def test_an_index_that_was_moved_aside_is_made_again_at_the_next_ingest():
    store = small_store()
    index(store)
    bring_up_to_date(store)
    assert not memories_are_stale(store)
    (store.root / "index" / "vectors").rename(store.root / "index" / "quarantine")
    assert memories_are_stale(store)
