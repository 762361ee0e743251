"""Opening a store: versions are checked, the zone is frozen, folders are private, one writer at a time."""

import io
import json
import os
import stat
import threading
from pathlib import Path

import pytest
from rich.console import Console

from memory_assets.errors import SettingsError, StoreBusyError, StoreError, StoreVersionError
from memory_assets.interfaces.views.progress import Bars
from memory_assets.schema.progress import report_to
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store, remove_derived


def test_a_new_store_has_private_folders_and_files():
    store = open_store(read_settings())
    store.key  # noqa: B018 - made when first asked for
    for path in [store.root, *store.root.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_store_of_a_newer_release_is_refused():
    store = open_store(read_settings())
    (store.root / "VERSION").write_text("99\n")
    with pytest.raises(StoreVersionError, match="Upgrade memory_assets"):
        open_store(read_settings())


def test_a_store_with_manifests_loses_its_tables_and_branches_and_keeps_what_they_are_made_from():
    store = open_store(read_settings())
    old = [
        "tables/observations/2026-08-03/part-0.parquet",
        "tables/memories/all/manifest.json",
        "index/texts.json",
    ]
    branches = [
        "branches/mine/tables/memories/all/manifest.json",
        "branches/.half/left",
        "branches/begun/ledger/x",
    ]
    kept = [
        "ledger/events/1.jsonl",
        "answers/a.json",
        "workspace/MEMORY.md",
        "branches/begun/what_if.json",
    ]
    for name in [*old, *branches, *kept]:
        (store.root / name).parent.mkdir(parents=True, exist_ok=True)
        (store.root / name).write_text('{"state": "adopting"}')
    (store.root / "branches" / "mine" / "what_if.json").write_text('{"state": "made"}')
    (store.root / "VERSION").write_text("1\n")
    opened = open_store(read_settings())
    assert [name for name in [*old, *branches[:2]] if (store.root / name).exists()] == []
    assert [path.name for path in (store.root / "branches").iterdir()] == ["begun"]
    assert [name for name in kept if not (store.root / name).is_file()] == []
    assert opened.tables.parts("observations") == {}


def test_another_zone_is_refused_with_the_command_that_rebuilds(monkeypatch: pytest.MonkeyPatch):
    store = open_store(read_settings())
    with pytest.raises(SettingsError, match="memory data rebuild"):
        open_store(read_settings(timezone="Europe/Berlin"))
    remove_derived(open_store(read_settings()))
    assert json.loads((store.root / "instance.json").read_text()) == {"timezone": "UTC"}


def test_a_zone_that_cannot_be_read_is_kept(monkeypatch: pytest.MonkeyPatch):
    path = open_store(read_settings()).root / "instance.json"

    read_bytes = Path.read_bytes

    def refuse(one: Path) -> bytes:
        if one == path:
            raise PermissionError(13, "Permission denied", str(path))
        return read_bytes(one)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        with pytest.raises(StoreError, match="instance.json: Permission denied"):
            open_store(read_settings(timezone="Europe/Berlin"))
    assert json.loads(path.read_text()) == {"timezone": "UTC"}


def test_the_key_outlives_everything_derived():
    store = open_store(read_settings())
    key = store.key
    remove_derived(store)
    assert open_store(read_settings()).key == key


def test_a_second_writer_waits_and_then_is_told_who_is_in_the_way():
    store, other = open_store(read_settings()), open_store(read_settings())
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with store.lock():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(10)
    with (
        pytest.raises(StoreBusyError, match="Another process has been writing"),
        other.lock(wait_seconds=0.1),
    ):
        pass
    leave.set()
    thread.join()
    with other.lock(wait_seconds=5):
        pass


def test_a_command_that_waits_says_for_whom(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("memory_assets.store.write_locks.NOTICE_SECONDS", 0.05)
    store, other = open_store(read_settings()), open_store(read_settings())
    told = io.StringIO()
    bars = Bars(Console(file=told, width=200))
    expected = (
        f"Waiting for process {os.getpid()} (`memory remember`), which writes {store.root} ...\n"
    )
    for held in (store.lock, store.lock_day):
        monkeypatch.setattr("sys.argv", ["/bin/memory", "remember", "the safe is at 1234"])
        with held(), report_to(bars):
            monkeypatch.setattr("sys.argv", ["/bin/memory", "ingest"])
            with (
                pytest.raises(StoreBusyError, match="`memory remember`"),
                other.lock(wait_seconds=0.2),
            ):
                pass
        assert told.getvalue() == expected
        told.truncate(told.seek(0))


def test_days_are_written_at_once_and_not_while_one_has_the_whole_store(
    monkeypatch: pytest.MonkeyPatch,
):
    store, other = open_store(read_settings()), open_store(read_settings())
    monkeypatch.setattr("memory_assets.store.store.PART_WAIT_SECONDS", 0.1)
    with store.lock_day():
        with other.lock_day():
            pass
        with (
            pytest.raises(StoreBusyError, match="Another process has been writing"),
            other.lock(wait_seconds=0.1),
        ):
            pass
    with other.lock(wait_seconds=0.1), pytest.raises(StoreBusyError), store.lock_day():
        pass


def test_a_holder_of_the_whole_store_may_write_a_day():
    store, other = open_store(read_settings()), open_store(read_settings())
    with store.lock_day():
        pass
    with (
        store.lock(),
        store.lock_day(),
        pytest.raises(StoreBusyError),
        other.lock(wait_seconds=0.1),
    ):
        pass
    remove_derived(store)
    with store.lock_day(), other.lock_day():
        pass


def test_a_data_folder_that_cannot_be_used_is_named(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(StoreError, match="set MEMORY_DATA"):
        open_store(read_settings(data=file / "store"))


@pytest.mark.parametrize("name", ["why?", "p100%25", "all*", "x[1]"])
def test_a_data_folder_whose_name_is_a_pattern_is_refused_and_not_made(tmp_path, name: str):
    with pytest.raises(StoreError, match="its path contains .*Set MEMORY_DATA"):
        open_store(read_settings(data=tmp_path / name / "store"))
    assert not (tmp_path / name).exists()


def test_an_open_data_folder_is_closed_to_others_with_all_that_is_in_it(tmp_path):
    root = tmp_path / "mine"
    root.mkdir(mode=0o755)
    store = open_store(read_settings(data=root))
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    outside = tmp_path / "outside"
    outside.write_text("shared")
    outside.chmod(0o644)
    (store.root / "linked").symlink_to(outside)
    for path in (store.root, store.root / "ledger", store.root / "VERSION"):
        path.chmod(0o755)
    open_store(read_settings(data=root))
    modes = {
        stat.S_IMODE(path.lstat().st_mode) & 0o077
        for path in root.rglob("*")
        if not path.is_symlink()
    }
    assert (modes, stat.S_IMODE(root.stat().st_mode), stat.S_IMODE(outside.stat().st_mode)) == (
        {0},
        0o700,
        0o644,
    )


def test_an_open_folder_with_other_files_is_refused_with_the_command_and_left_as_it_is(tmp_path):
    root = tmp_path / "documents"
    root.mkdir()
    root.chmod(0o755)
    (root / "letter.txt").write_text("Dear Mira")
    with pytest.raises(StoreError, match=f"chmod go-rwx '{root}'"):
        open_store(read_settings(data=root))
    assert (stat.S_IMODE(root.stat().st_mode), [path.name for path in root.iterdir()]) == (
        0o755,
        ["letter.txt"],
    )
