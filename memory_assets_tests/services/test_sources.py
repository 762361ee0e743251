"""Which transcripts a store reads, and what is listed because it is not read."""

import gzip
import os
from datetime import timedelta
from pathlib import Path

import pytest

from memory_assets.services.sources import find_left_out, find_sources, this_machine
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.pipeline import intake
from memory_assets_tests.stages.capture.sessions import dialogue, lines


@pytest.fixture
def projects() -> Path:
    folder = Path.home() / ".claude" / "projects" / "-home-mira-shop"
    folder.mkdir(parents=True)
    return folder


def written(folder: Path, number: int) -> Path:
    session = f"0a00000{number}-1111-4222-8333-444455556666"
    path = folder / f"{session}.jsonl"
    path.write_bytes(lines(*dialogue(session, 5)))
    return path


def aged(path: Path, store: Store, days: int) -> None:
    moment = (store.settings.clock() - timedelta(days=days)).timestamp()
    os.utime(path, (moment, moment))


def test_transcripts_from_before_the_first_run_are_counted_in_one_line(projects: Path):
    store = open_store(read_settings())
    for number, days in ((1, 3), (2, 30), (3, 40)):
        aged(written(projects, number), store, days)
    assert [file.path.stem[:8] for file in find_sources(store.settings)] == ["0a000001"]
    (older,) = find_left_out(store)
    assert older.path == "2 older transcripts"
    assert older.reason == "not changed since 2026-08-18; `memory ingest --since all` takes all in"


def test_a_file_that_intake_could_not_read_is_listed_until_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_SOURCES", str(tmp_path))
    store, path = open_store(read_settings(data=tmp_path / "store")), written(tmp_path, 1)
    packed, whole = path.with_name(f"{path.name}.gz"), gzip.compress(path.read_bytes() * 100)
    path.unlink()
    packed.write_bytes(whole[: len(whole) // 2])
    intake(store, tmp_path)
    assert [one.path for one in find_left_out(store)] == [str(packed)]
    packed.write_bytes(whole)
    intake(store, tmp_path)
    assert find_left_out(store) == []


def test_a_folder_of_the_settings_that_is_missing_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_SOURCES", str(tmp_path / "gone"))
    (one,) = find_left_out(open_store(read_settings()))
    assert (one.path, "does not exist" in one.reason) == (str(tmp_path / "gone"), True)


def test_this_machine_is_its_home_folder_and_its_harnesses_folders(projects: Path):
    machine = this_machine()
    assert (machine.home, machine.harness_folders) == (Path.home(), (projects.parent,))
    assert machine.facts_of(str(projects / "a.jsonl"), b'{"cwd":"/home/vscode/x"}\n')["is_own"]
    assert machine.facts_of("/mnt/a.jsonl", lines({"cwd": str(Path.home() / "x")}))["is_own"]
    assert not machine.facts_of("/mnt/a.jsonl", b'{"cwd":"/home/vscode/x"}\n')["is_own"]
