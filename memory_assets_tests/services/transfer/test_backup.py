"""Backups: everything comes back byte for byte, also while others write; a damaged one, or a full disk, changes nothing."""

import errno
import io
import os
import stat
import subprocess
import tarfile
import threading
import tomllib
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import zstandard

from memory_assets.errors import StoreError, StoreVersionError
from memory_assets.services.transfer import backup as backups
from memory_assets.services.transfer import contents, place
from memory_assets.services.transfer.backup import END, back_up, restore
from memory_assets.store import staged
from memory_assets.store.store import Store, open_store
from memory_assets_tests.attacks.kill_points import KilledError
from memory_assets_tests.once import SEED, sampled
from memory_assets_tests.services.transfer.stores import (
    everything_below,
    filled_store,
    kept,
    settings_at,
)
from memory_assets_tests.small_store import MEMORY


@pytest.fixture
def store() -> Store:
    return filled_store()


@pytest.fixture
def backup(store: Store, tmp_path: Path) -> Path:
    return back_up(store, tmp_path / "backups" / "one.tar.zst").path


def test_everything_that_cannot_be_rebuilt_comes_back_byte_for_byte(
    store: Store, backup: Path, tmp_path: Path
):
    placed = restore(backup, settings_at(tmp_path / "again"))
    found = open_store(settings_at(placed.root))
    assert kept(found) == kept(store)
    assert found.key == store.key
    assert [event.payload for event in found.ledger.events(["memory.noted"])] == [
        {"text": "Use uv."}
    ]
    assert subprocess.run(["git", "-C", str(found.workspace), "fsck"], check=False).returncode == 0
    assert not found.tables.parts("memories")  # the next run builds them


def test_a_backup_and_what_it_restores_are_readable_by_the_owner_alone(
    backup: Path, tmp_path: Path
):
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    placed = restore(backup, settings_at(tmp_path / "again"))
    modes = {stat.S_IMODE(path.stat().st_mode) for path in placed.root.rglob("*") if path.is_file()}
    assert modes == {0o600}


@pytest.mark.parametrize(("target", "name"), [("", "{}"), ("new/", "new/{}"), ("new", "new")])
def test_a_folder_gets_a_backup_named_after_the_moment(
    store: Store, tmp_path: Path, target: str, name: str
):
    """A folder is one that exists, or is named with a slash at its end."""
    expected = tmp_path / name.format("memory-20260901-120000.tar.zst")
    assert back_up(store, f"{tmp_path}/{target}").path == expected
    assert expected.is_file()


def test_a_changed_byte_is_named_and_nothing_restored_unless_it_changes_no_content(
    store: Store, backup: Path, tmp_path: Path
):
    """A few bits of a zstd frame mean nothing: its checksum is that of the content."""
    whole = backup.read_bytes()
    for at in sampled(range(len(whole)), 25):
        backup.write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        root = tmp_path / f"again-{at}"
        try:
            placed = restore(backup, settings_at(root))
        except StoreError as error:
            assert str(backup) in str(error)
            assert everything_below(root) == [], f"byte {at}, TEST_SEED={SEED}"
        else:
            assert kept(open_store(settings_at(placed.root))) == kept(store), f"byte {at}"


def test_a_backup_that_was_cut_off_is_named_and_nothing_is_restored(backup: Path, tmp_path: Path):
    whole = backup.read_bytes()
    for length in [
        0,
        3,
        len(whole) - len(END),
        len(whole) - 1,
        *Random(SEED).sample(range(len(whole)), 8),
    ]:
        backup.write_bytes(whole[:length])
        with pytest.raises(StoreError, match="damaged or cut off"):
            restore(backup, settings_at(tmp_path / "again"))
        assert not (tmp_path / "again").exists()


def test_a_store_is_never_overwritten(store: Store, backup: Path):
    before = everything_below(store.root)
    with pytest.raises(StoreError, match=r"is not empty: it has VERSION.*\n?.*mv ") as refused:
        restore(backup, settings_at(store.root))
    assert "--store" in str(refused.value)
    assert everything_below(store.root) == before


def test_settings_and_waiting_events_of_a_folder_without_a_store_are_kept(
    backup: Path, tmp_path: Path
):
    root = tmp_path / "again"
    (root / "spool").mkdir(parents=True)
    (root / "spool" / "2026-09-01.jsonl").write_text("{}\n")
    (root / "memory.toml").write_text("review_days = 3\n")
    restore(backup, settings_at(root))
    assert (root / "memory.toml").read_text() == "review_days = 3\n"
    assert (root / "spool" / "2026-09-01.jsonl").is_file()


@pytest.mark.parametrize("target", ["store/backup", "store/workspace/MEMORY.md", "some.txt"])
def test_files_that_are_no_backups_are_not_replaced(store: Store, tmp_path: Path, target: str):
    (tmp_path / "some.txt").write_text("mine")
    with pytest.raises(StoreError, match="Name another file"):
        back_up(store, tmp_path / target)
    assert (tmp_path / "some.txt").read_text() == "mine"


def test_a_full_disk_leaves_the_older_backup_and_no_half_one(
    store: Store, backup: Path, monkeypatch: pytest.MonkeyPatch
):
    before = backup.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device"):
        back_up(store, backup)
    assert [path.name for path in backup.parent.iterdir()] == [backup.name]
    assert backup.read_bytes() == before


def test_a_killed_backup_leaves_nothing_once_the_next_is_written(store: Store, backup: Path):
    (backup.parent / f".{backup.name}.killed.tmp").write_bytes(b"half")
    back_up(store, backup)
    assert [path.name for path in backup.parent.iterdir()] == [backup.name]


def test_a_full_disk_while_restoring_leaves_no_store(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write, root = place.write_below, tmp_path / "again"

    def fails_late(folder: Path, name: str, content: bytes) -> None:
        if name.startswith("workspace/"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
        write(folder, name, content)

    monkeypatch.setattr(backups, "write_below", fails_late)
    with pytest.raises(StoreError, match="No space left"):
        restore(backup, settings_at(root))
    assert everything_below(root) == []


def test_a_restore_killed_at_any_move_is_finished_by_whoever_opens_the_store(
    store: Store, backup: Path, tmp_path: Path
):
    move = os.replace
    for last in range(1, 9):
        root, moves = tmp_path / f"again-{last}", []

        def counted(
            one: Path, other: Path, last: int = last, root: Path = root, moves: list = moves
        ) -> None:
            if Path(other).parent == root:
                moves.append(other)
                if len(moves) == last:
                    raise KilledError("os.replace")
            move(one, other)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(staged.os, "replace", counted)
            try:
                restore(backup, settings_at(root))
            except KilledError:
                assert not (root / "VERSION").is_file()  # nobody takes a half one for a store
        found = open_store(settings_at(root))
        assert kept(found) == kept(store)
        assert not (root / staged.FOLDER).exists()


def test_a_restore_that_is_killed_while_it_unpacks_leaves_no_store_and_can_be_repeated(
    backup: Path, tmp_path: Path
):
    folder = staged.begin(tmp_path / "again")
    place.write_below(folder, "VERSION", b"2\n")
    assert restore(backup, settings_at(tmp_path / "again")).root.joinpath("VERSION").is_file()


def test_a_backup_of_a_newer_release_is_refused(
    store: Store, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(contents, "VERSION", 1)
    with pytest.raises(StoreVersionError, match="newer release"):
        restore(backup, settings_at(tmp_path / "again"))


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/x", "workspace/../../outside", "tables/x.parquet", "unknown"]
)
def test_no_name_in_a_backup_leads_out_of_the_store(tmp_path: Path, store: Store, name: str):
    path = tmp_path / "made.tar.zst"
    header, content = contents.manifest_of(store), b"x"
    manifest = replace(header, files={name: contents.hash_of(content)})
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w|") as tar:
        for entry, data in (
            ("backup.json", header.to_json()),
            (name, content),
            ("manifest.json", manifest.to_json()),
        ):
            info = tarfile.TarInfo(entry)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    path.write_bytes(zstandard.ZstdCompressor(write_checksum=True).compress(raw.getvalue()) + END)
    with pytest.raises(StoreError, match="is not a file of a store"):
        restore(path, settings_at(tmp_path / "a" / "again"))
    assert not (tmp_path / "a" / "outside").exists()


def test_a_backup_waits_for_the_writer_and_has_whole_lines_while_others_append(
    store: Store, tmp_path: Path
):
    """A memory is saved without the lock; rows are written with it."""
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            store.append_event("memory.recalled", MEMORY, {"note": "x" * 5_000})

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            made = back_up(store, tmp_path / f"{number}.tar.zst")
            found = open_store(
                settings_at(restore(made.path, settings_at(tmp_path / f"again-{number}")).root)
            )
            assert found.ledger.damaged() == []
            assert (
                found.ledger.events(["memory.recalled"])
                == store.ledger.events(["memory.recalled"])[
                    : len(found.ledger.events(["memory.recalled"]))
                ]
            )
    finally:
        stop.set()
        writer.join()


def test_a_backup_has_the_zone_that_overrides_the_file_of_the_store(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (store.root / "memory.toml").write_text('timezone = "America/New_York"\n')
    copy = back_up(store, tmp_path / "copy.tar.zst").path
    monkeypatch.delenv("MEMORY_TIMEZONE")
    restored = restore(copy, settings_at(tmp_path / "again")).root
    values = tomllib.loads((restored / "memory.toml").read_text())
    assert values["timezone"] == store.settings.timezone == "UTC"
