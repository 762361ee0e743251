"""Dagster's configuration for a deployment: what is written, what is kept, and that no address is in it."""

import json
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
import yaml

from memory_assets.errors import StoreError
from memory_assets.extras.scaling.deployment import (
    COPY_SUFFIX,
    POSTGRES_URL,
    configure,
    dagster_yaml,
)
from memory_assets.interfaces.entry import main
from memory_assets.runs.instance import open_instance
from memory_assets.runs.liveness import fail_dead_runs, holding
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests import story
from memory_assets_tests.extras.scaling.servers import (
    POSTGRES_PASSWORD,
    free_port,
    needs_postgres,
    postgres_server,
)
from memory_assets_tests.once import only_whole


@pytest.fixture
def store() -> Store:
    return open_store(read_settings())


@pytest.fixture
def postgres(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    needs_postgres()
    with postgres_server() as address:
        monkeypatch.setenv(POSTGRES_URL, address)
        yield address


def test_limits_and_retention_are_the_same_and_the_storage_is_the_only_difference():
    local, postgres = (yaml.safe_load(dagster_yaml(name)) for name in ("local", "postgres"))
    assert local.pop("event_log_storage")["class"] == "PooledEventLogStorage"
    assert postgres.pop("storage") == {"postgres": {"postgres_url": {"env": POSTGRES_URL}}}
    assert postgres == local


def test_writing_keeps_the_file_before_and_writing_again_changes_nothing(store: Store):
    path = store.dagster_home / "dagster.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text("custom: yes\n")
    shown = configure(store.settings, "postgres")
    assert (shown.is_written, path.read_text()) == (False, "custom: yes\n")
    written = configure(store.settings, "postgres", write=True)
    assert "-custom: yes\n" in written.diff
    assert written.before is not None
    assert written.before.name == f"dagster.yaml{COPY_SUFFIX}"
    assert (written.before.read_text(), path.read_text()) == (
        "custom: yes\n",
        dagster_yaml("postgres"),
    )
    again = configure(store.settings, "postgres", write=True)
    assert (again.diff, again.before) == ("", None)
    assert "custom: yes" in written.before.read_text()


def test_a_deployment_is_shown_then_written_and_says_what_each_process_needs(
    capsys: pytest.CaptureFixture[str],
):
    def run(*words: str) -> tuple[int, str]:
        return main(words), capsys.readouterr().out

    store = open_store(read_settings())
    path = store.dagster_home / "dagster.yaml"
    code, out = run("config", "deployment", "postgres")
    assert code == 0
    assert "env: DAGSTER_POSTGRES_URL" in out
    assert not path.exists()
    code, out = run("config", "deployment", "postgres", "--write")
    assert code == 0
    assert "+storage:" in out
    assert path.read_text() == dagster_yaml("postgres")
    assert json.loads(run("config", "deployment", "postgres", "--json")[1])["data"][
        "variables"
    ] == ["DAGSTER_POSTGRES_URL"]


@pytest.mark.slow
@only_whole("it waits for a server that never answers")
def test_a_server_that_is_down_is_said_without_the_password(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("dagster_postgres")
    configure(store.settings, "postgres", write=True)
    monkeypatch.setenv(
        POSTGRES_URL,
        f"postgresql+psycopg2://dagster:{POSTGRES_PASSWORD}@127.0.0.1:{free_port()}/postgres",
    )
    with pytest.raises(StoreError, match="Cannot use the storage") as raised, open_instance(store):
        pass
    assert POSTGRES_PASSWORD not in str(raised.value)


@pytest.mark.slow
def test_a_killed_run_frees_its_slot_in_a_pool_on_postgres(store: Store, postgres: str):
    configure(store.settings, "postgres", write=True)

    @dg.job(name="nightly")
    def work() -> None: ...

    with open_instance(store) as instance:
        log = instance.event_log_storage
        assert type(log).__name__ == "PostgresEventLogStorage"
        dead, alive = (
            instance.create_run_for_job(work, status=dg.DagsterRunStatus.STARTED).run_id
            for _ in range(2)
        )
        log.set_concurrency_slots("index", 2)
        with holding(store, dead):
            pass  # its process had the lock, and ended
        (store.dagster_home / "running" / f"{dead}.lock").touch()
        with holding(store, alive):
            for run_id in (dead, alive):
                log.claim_concurrency_slot("index", run_id, "step")
            assert log.get_concurrency_run_ids() == {dead, alive}
            assert fail_dead_runs(instance, store) == [alive]
            assert log.get_concurrency_run_ids() == {alive}
        found = instance.get_run_by_id(dead)
        assert found is not None
        assert found.status == dg.DagsterRunStatus.FAILURE
    written = [path for path in store.root.rglob("*") if path.is_file()]
    assert [path for path in written if POSTGRES_PASSWORD.encode() in path.read_bytes()] == []
    assert not (store.dagster_home / "history").exists()


@pytest.mark.slow
@only_whole("the killed run holds that the server is used")
def test_the_sample_has_the_same_tables_on_postgres(tmp_path: Path, postgres: str):
    sources, here, there = (
        story.lay_out_sample(tmp_path / "sources", "/pi/"),
        tmp_path / "here",
        tmp_path / "there",
    )
    story.run_apart("ingest", here, sources)
    configure(story.open_at(there, sources).settings, "postgres", write=True)
    story.run_apart("ingest", there, sources, **{POSTGRES_URL: postgres})
    story.assert_same_tables(
        story.all_tables(story.open_at(there, sources)),
        story.all_tables(story.open_at(here, sources)),
    )
    with open_instance(story.open_at(there, sources)) as instance:
        assert {run.job_name for run in instance.get_runs()} >= {
            "capture",
            "process_days",
            "rebuild_memories",
            "triage",
        }
    assert not (there / "dagster" / "history").exists()
