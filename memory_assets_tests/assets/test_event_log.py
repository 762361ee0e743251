"""The event log keeps connections open, loses nothing when a process is killed, and is a log that Dagster's own class reads.

DAGSTER_HOME of new and of older stores names it, unless its owner chose a storage.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationPlanned,
)
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log import SqliteEventLogStorage

from memory_assets.assets.event_log import PooledEventLogStorage
from memory_assets.runs.instance import make_home, open_instance
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store, open_store

WRITE_AND_WAIT = """
import sys, time
from memory_assets_tests.assets.test_event_log import entry
from memory_assets.assets.event_log import PooledEventLogStorage
storage = PooledEventLogStorage(sys.argv[1])
for number in range(20):
    storage.store_event(entry("run", str(number)))
print("written", flush=True)
time.sleep(60)
"""


def entry(run_id: str, message: str) -> EventLogEntry:
    return EventLogEntry(
        error_info=None, level=20, user_message=message, run_id=run_id, timestamp=0.0
    )


def messages(storage: SqliteEventLogStorage, run_id: str) -> list[str]:
    return [each.user_message for each in storage.get_logs_for_run(run_id)]


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[PooledEventLogStorage]:
    opened = PooledEventLogStorage(str(tmp_path / "runs"))
    yield opened
    opened.dispose()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(Settings(data=tmp_path / "store", timezone="UTC", owner="ann"))


def test_a_killed_process_leaves_every_event_that_it_wrote(tmp_path: Path):
    command = [sys.executable, "-W", "ignore", "-c", WRITE_AND_WAIT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / "run.db-wal").stat().st_size > 0
    assert messages(SqliteEventLogStorage(str(tmp_path)), "run") == [
        str(number) for number in range(20)
    ]


@pytest.mark.filterwarnings("ignore:This process")
def test_a_child_of_a_fork_opens_connections_of_its_own(storage: PooledEventLogStorage):
    storage.store_event(entry("run", "parent"))
    (connection, _), *_ = storage._connections.values()
    child = os.fork()
    if not child:
        try:
            storage.store_event(entry("run", "child"))
            is_own = storage._connection_to("run") is not connection
            storage.dispose()
            os._exit(0 if is_own else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    storage.store_event(entry("run", "parent again"))
    assert messages(storage, "run") == ["parent", "child", "parent again"]


def test_a_new_home_names_the_event_log_and_a_run_writes_to_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    with open_instance(store) as instance:
        log = instance.event_log_storage
        run = dg.materialize([dg.asset(lambda: 1, name="one")], instance=instance)
        assert isinstance(log, PooledEventLogStorage)
        assert [key for key in log._connections if key[1] == run.run_id]
    assert not log._connections, "closed with the instance"
    assert (store.dagster_home / "history" / "runs" / f"{run.run_id}.db").is_file()
    assert "DAGSTER_HOME" not in os.environ


@pytest.mark.parametrize(
    "chosen",
    [
        "storage:\n  sqlite:\n    base_dir: {home}\n",
        "event_log_storage:\n  module: dagster._core.storage.event_log\n  class: SqliteEventLogStorage\n"
        "  config:\n    base_dir: {home}\n",
    ],
)
def test_a_storage_that_the_owner_chose_stays(store: Store, chosen: str):
    written = make_home(store) / "dagster.yaml"
    written.write_text(chosen.format(home=store.dagster_home))
    with open_instance(store) as instance:
        assert not isinstance(instance.event_log_storage, PooledEventLogStorage)
    assert written.read_text() == chosen.format(home=store.dagster_home)


def test_a_check_of_a_run_of_many_days_is_noted_once_and_not_left_planned(
    storage: PooledEventLogStorage,
):
    days = dg.DailyPartitionsDefinition("2026-04-01", end_date="2026-04-11")

    check = dg.AssetCheckKey(dg.AssetKey("rows"), "are_whole")
    subset = days.subset_with_partition_keys(days.get_partition_keys())
    planned = AssetCheckEvaluationPlanned(
        asset_key=check.asset_key,
        check_name=check.name,
        partitions_subset=subset.to_serializable_subset(),
    )
    event = dg.DagsterEvent("ASSET_CHECK_EVALUATION_PLANNED", "job", event_specific_data=planned)
    storage.store_event(entry("run", "")._replace(dagster_event=event))
    (record,) = storage.get_asset_check_execution_history(check, limit=20)
    assert (record.run_id, record.partition) == ("run", None)
