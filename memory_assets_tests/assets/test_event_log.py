"""The event log keeps connections open, loses nothing when a process is killed, and is a log that Dagster's own class reads.

DAGSTER_HOME of new and of older stores names it, unless its owner chose a storage.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log import SqliteEventLogStorage

from memory_assets.assets.event_log import MOST_OPEN, PooledEventLogStorage
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


def described(storage: PooledEventLogStorage, run_id: str) -> dict[str, list[tuple[object, ...]]]:
    """Returns the journal mode, the tables and indexes, and the version of a run's database."""
    asked = {
        "journal_mode": "PRAGMA journal_mode",
        "schema": "SELECT sql FROM sqlite_master",
        "version": "SELECT * FROM alembic_version",
    }
    with storage.run_connection(run_id) as connection:
        return {
            name: [tuple(row) for row in connection.exec_driver_sql(query)]
            for name, query in asked.items()
        }


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[PooledEventLogStorage]:
    opened = PooledEventLogStorage(str(tmp_path / "runs"))
    yield opened
    opened.dispose()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(Settings(data=tmp_path / "store", timezone="UTC", owner="ann"))


def test_each_database_is_opened_once(
    storage: PooledEventLogStorage, monkeypatch: pytest.MonkeyPatch
):
    opened: list[str] = []
    open_shard = storage._open
    monkeypatch.setattr(storage, "_open", lambda shard: opened.append(shard) or open_shard(shard))
    for number in range(10):
        storage.store_event(entry("a", str(number)))
        storage.store_event(entry("b", str(number)))
    assert messages(storage, "a") == messages(storage, "b") == [str(number) for number in range(10)]
    assert opened == ["a", "b"]


def test_dagsters_own_storage_reads_the_log_while_it_is_open(storage: PooledEventLogStorage):
    storage.store_event(entry("run", "first"))
    own = SqliteEventLogStorage(storage._base_dir)
    assert messages(own, "run") == ["first"]
    own.store_event(entry("run", "second"))
    assert messages(storage, "run") == ["first", "second"]


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


def test_few_databases_stay_open_and_closed_ones_can_be_read(storage: PooledEventLogStorage):
    for number in range(MOST_OPEN + 4):
        storage.store_event(entry(f"run{number}", "done"))
    assert len(storage._engines) == MOST_OPEN
    assert messages(storage, "run0") == ["done"]
    assert not Path(storage.path_for_shard("run1") + "-wal").exists()


def test_threads_share_the_connection(storage: PooledEventLogStorage):
    threads = [
        threading.Thread(
            target=lambda: [storage.store_event(entry("run", "said")) for _ in range(10)]
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert messages(storage, "run") == ["said"] * 40


def test_only_the_first_run_of_a_process_is_migrated_and_the_others_are_like_it(
    storage: PooledEventLogStorage, monkeypatch: pytest.MonkeyPatch
):
    storage.store_event(entry("first", "said"))
    monkeypatch.setattr(storage, "_initdb", lambda *_: pytest.fail("migrated again"))
    storage.store_event(entry("second", "said"))
    assert messages(storage, "second") == ["said"]
    first, second = (described(storage, run) for run in ("first", "second"))
    assert first == second
    assert first["journal_mode"] == [("wal",)]
    assert not list(Path(storage._base_dir).glob("*.tmp"))


@pytest.mark.filterwarnings("ignore:This process")
def test_a_child_of_a_fork_opens_connections_of_its_own(storage: PooledEventLogStorage):
    storage.store_event(entry("run", "parent"))
    (engine, _), *_ = storage._engines.values()
    child = os.fork()
    if not child:
        try:
            storage.store_event(entry("run", "child"))
            is_own = storage._engine_of("run") is not engine
            storage.dispose()
            os._exit(0 if is_own else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    storage.store_event(entry("run", "parent again"))
    assert messages(storage, "run") == ["parent", "child", "parent again"]


def test_a_database_that_was_deleted_is_made_again(storage: PooledEventLogStorage):
    storage.store_event(entry("run", "lost"))
    for file in Path(storage._base_dir).glob("run.db*"):
        file.unlink()
    storage.store_event(entry("run", "kept"))
    assert messages(SqliteEventLogStorage(storage._base_dir), "run") == ["kept"]


def test_who_watches_a_run_is_told_of_an_event_while_the_connection_is_open(
    storage: PooledEventLogStorage,
):
    storage.store_event(entry("run", "before"))
    watching, told = PooledEventLogStorage(storage._base_dir), threading.Event()
    watching.watch(
        "run", None, lambda event, _: told.set() if event.user_message == "after" else None
    )
    storage.store_event(entry("run", "after"))
    assert told.wait(20)
    watching.dispose()


def test_a_new_home_names_the_event_log_and_a_run_writes_to_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    with open_instance(store) as instance:
        log = instance.event_log_storage
        run = dg.materialize([dg.asset(lambda: 1, name="one")], instance=instance)
        assert isinstance(log, PooledEventLogStorage)
        assert [key for key in log._engines if key[1] == run.run_id]
    assert not log._engines, "closed with the instance"
    assert (store.dagster_home / "history" / "runs" / f"{run.run_id}.db").is_file()
    assert "DAGSTER_HOME" not in os.environ


OLDER = "telemetry:\n  enabled: false\n# my own line\n"


def test_an_older_configuration_gets_the_event_log_once_and_keeps_its_lines(store: Store):
    written = make_home(store) / "dagster.yaml"
    written.write_text(OLDER)
    for _ in range(2):
        with open_instance(store) as instance:
            assert isinstance(instance.event_log_storage, PooledEventLogStorage)
    assert written.read_text().startswith(OLDER)
    assert written.read_text().count("PooledEventLogStorage") == 1


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


def test_a_store_that_was_copied_has_a_log_of_its_own(store: Store, tmp_path: Path):
    with open_instance(store):
        pass
    shutil.copytree(store.root, tmp_path / "copy")
    copy = Store(store.settings.model_copy(update={"data": tmp_path / "copy"}), tmp_path / "copy")
    with open_instance(copy) as instance:
        log = instance.event_log_storage
        assert isinstance(log, PooledEventLogStorage)
        assert Path(log._base_dir) == tmp_path / "copy" / "dagster" / "history" / "runs"


def test_what_the_index_is_known_to_have_is_asked_once(
    storage: PooledEventLogStorage, monkeypatch: pytest.MonkeyPatch
):
    asked = list[str]()
    has_table = SqliteEventLogStorage.has_table

    def ask(self: SqliteEventLogStorage, name: str) -> bool:
        asked.append(name)
        return has_table(self, name)

    monkeypatch.setattr(SqliteEventLogStorage, "has_table", ask)
    assert [storage.has_table(name) for name in ("asset_keys", "asset_keys", "later", "later")] == [
        True,
        True,
        False,
        False,
    ]
    assert asked == ["asset_keys", "later", "later"], "a table that is not there may be made"
