"""Lineage begins at the harnesses and feeds; a step that reads them notes when each was last seen."""

from datetime import datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from memory_assets.assets.sources import observations
from memory_assets.definitions import assemble
from memory_assets.harnesses.harness_list import HARNESSES
from memory_assets.schema.tables import TABLES
from memory_assets.store.settings import Settings, read_settings
from memory_assets.store.store import open_store
from memory_assets.text.files import make_folder
from memory_assets_tests.dagster_runs import run_assets
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import write
from memory_assets_tests.stages.capture.sessions import START, dialogue, lines, transcript


def specs() -> dict[str, dg.AssetSpec]:
    definitions = assemble(Settings(timezone="Europe/Berlin", owner="Mira"))
    return {spec.key.to_user_string(): spec for spec in definitions.resolve_all_asset_specs()}


def test_every_harness_is_an_asset_that_names_its_folder_and_that_capture_is_made_from():
    by_key = specs()
    harnesses = {f"sources/{name}" for name in HARNESSES}
    assert {dep.asset_key.to_user_string() for dep in by_key["resources"].deps} == harnesses
    assert {by_key[key].group_name for key in harnesses} == {"00_sources"}
    codex = by_key["sources/codex"].description
    assert codex == "Transcripts of Codex: `~/.codex/sessions` and `~/.codex/archived_sessions`."


def test_the_feeds_are_the_source_of_their_items():
    (dep,) = specs()["feed_items"].deps
    assert dep.asset_key.to_user_string() == "sources/feeds"


def test_a_capture_observes_each_harness_that_has_transcripts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_NOW", (START + timedelta(minutes=20)).isoformat())
    monkeypatch.setenv("MEMORY_SOURCES", str(make_folder(tmp_path / "sources")))
    for session in ("one", "two"):
        content = lines(*dialogue(session, 3))
        transcript(tmp_path / "sources", session).write_bytes(content)
    with dg.DagsterInstance.ephemeral() as instance:
        run_assets(open_store(read_settings()), "resources", instance=instance)
        records = instance.fetch_observations(
            dg.AssetRecordsFilter(dg.AssetKey(["sources", "claude_code"])), limit=5
        ).records
        other = dg.AssetRecordsFilter(dg.AssetKey(["sources", "codex"]))
        assert instance.fetch_observations(other, limit=5).records == []
    (record,) = records
    observation = record.asset_observation
    assert observation is not None
    values = {name: entry.value for name, entry in observation.metadata.items()}
    last_message_at = datetime.fromisoformat("2026-08-03T09:02:30+00:00").timestamp()
    assert (values["transcripts"], values["sessions"]) == (2, 2)
    assert values["last_message_at"] == last_message_at


def test_a_poll_observes_the_feeds_once_with_the_items_of_each():
    store = open_store(read_settings())
    for feed in ("feed_a", "feed_b"):
        write(store, "feed_items", feed, row("feed_items", feed_id=feed))
    (observation,) = observations(store, TABLES["feed_items"], ["feed_a", "feed_b"])
    assert observation.asset_key.to_user_string() == "sources/feeds"
    values = {name: entry.value for name, entry in observation.metadata.items()}
    assert values == {"polled": 2, "items": {"feed_a": 1, "feed_b": 1}}
