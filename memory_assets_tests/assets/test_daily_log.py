"""The asset of the daily logs shows the sections of the last day that has any, without a word of them."""

from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from memory_assets.assets.factory import AGAIN
from memory_assets.assets.freshness import CONFIRMED
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.files import make_folder
from memory_assets_tests.dagster_runs import metadata_of, run_assets
from memory_assets_tests.stages.capture.sessions import START, dialogue, lines, transcript, user

DAY = START.date()
NEXT = DAY + timedelta(days=1)
DISTILLED = ("messages", "sessions", "observer_answers", "segments", "verdicts", "observations")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with a session of the day, distilled."""
    sources = make_folder(tmp_path / "sources")
    monkeypatch.setenv("MEMORY_NOW", (START + timedelta(days=1)).isoformat())
    monkeypatch.setenv("MEMORY_SOURCES", str(sources))
    rule = user("one", 90, "Always use uv instead of pip in this project.", 20.0)
    transcript(sources, "one").write_bytes(lines(*dialogue("one", 8), rule))
    store = open_store(read_settings())
    run_assets(store, "resources", "records", "windows")
    run_assets(store, *DISTILLED, days=(DAY, NEXT))
    return store


def test_a_log_is_shown_by_its_sections_and_a_later_day_without_sessions_does_not_hide_it(
    store: Store,
):
    with dg.DagsterInstance.ephemeral() as instance:
        result = run_assets(store, "daily_log", days=(DAY, NEXT), instance=instance)
        latest = instance.get_latest_materialization_event(dg.AssetKey("daily_log"))
    assert latest is not None
    materialization = latest.asset_materialization
    assert materialization is not None
    assert (materialization.partition, materialization.description) == (str(DAY), AGAIN)
    shown = metadata_of(result, "daily_log", str(DAY))
    (window,) = store.tables.read("windows")["window_id"]
    facts = store.tables.read("observations", [str(DAY)])["text"].to_list()
    *_, section = str(shown["preview"]).splitlines()
    assert shown["windows"] == 1
    assert facts
    assert section.startswith(f"| {window} | one | ")
    assert section.endswith(f" | {len(facts)} |")
    assert not any(text in str(shown["preview"]) for text in facts)
    assert "preview" not in metadata_of(result, "daily_log", str(NEXT))


def test_a_run_of_other_days_shows_the_last_log_on_disk_as_it_was_built(store: Store):
    with dg.DagsterInstance.ephemeral() as instance:
        built = run_assets(store, "daily_log", days=(DAY, DAY), instance=instance)
        run_assets(store, "daily_log", days=(NEXT, NEXT), instance=instance)
        latest = instance.get_latest_materialization_event(dg.AssetKey("daily_log"))
    assert latest is not None
    shown = latest.asset_materialization
    assert shown is not None
    assert (shown.partition, shown.description) == (str(DAY), CONFIRMED)
    preview = metadata_of(built, "daily_log", str(DAY))["preview"]
    assert shown.metadata["preview"].value == preview
