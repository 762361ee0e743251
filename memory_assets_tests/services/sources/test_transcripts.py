"""Which transcripts a store reads, and what is listed because it is not read."""

import gzip
import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from memory_assets.errors import StoreError
from memory_assets.runs.build import choose
from memory_assets.services.health.status import render_status, status_of
from memory_assets.services.sources import transcripts
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


TAKE_ALL = "`memory up --since all`"


def test_sessions_from_before_the_first_run_are_counted_in_one_line(projects: Path):
    store = open_store(read_settings())
    for number, days in ((1, 3), (2, 30), (3, 40)):
        aged(written(projects, number), store, days)
    found = transcripts.find_all(store.settings)
    assert [file.path.stem[:8] for file in found.transcripts] == ["0a000001"]
    assert [file.path.stem[:8] for file in found.older] == ["0a000002", "0a000003"]
    assert len(transcripts.find_sources(store.settings)) == 3
    assert transcripts.find_unread(store) == [
        f"2 sessions older than 14 days are not distilled: {TAKE_ALL}"
    ]
    assert transcripts.find_left_out(store) == []
    assert (
        f"\nnot read      2 sessions older than 14 days are not distilled: {TAKE_ALL}"
        in render_status(status_of(store))
    )


@pytest.mark.parametrize(
    ("since", "line"),
    [
        ("35d", f"1 session older than 35 days is not distilled: {TAKE_ALL}"),
        ("2026-07-28", f"1 session older than 2026-07-28 is not distilled: {TAKE_ALL}"),
        ("all", None),
    ],
)
def test_the_line_follows_the_moment_that_was_given(projects: Path, since: str, line: str | None):
    store = open_store(read_settings())
    for number, days in ((1, 3), (2, 30), (3, 40)):
        aged(written(projects, number), store, days)
    transcripts.widen_since(store.settings, since)
    assert transcripts.find_unread(store) == [line] * (line is not None)


def test_copies_and_sub_agents_are_one_session_and_ignored_or_archived_ones_are_none(
    projects: Path, tmp_path: Path
):
    store = open_store(read_settings())
    paths = [written(projects, number) for number in (1, 2, 3, 4)]
    packed = projects / f"{paths[0].name}.gz"
    packed.write_bytes(gzip.compress(paths[0].read_bytes()))
    agent = projects / paths[0].stem / "subagents" / "agent-a1b2c3d4.jsonl"
    agent.parent.mkdir(parents=True)
    agent.write_bytes(paths[0].read_bytes())
    archived = tmp_path / "taken"
    archived.mkdir()
    shutil.copy(paths[1], archived)
    intake(store, archived)
    paths[2].write_bytes(paths[2].read_bytes().replace(b'"cwd":"', b'"cwd":"/acme'))
    (Path.home() / ".memoryignore").write_text("acme*/\n")
    for path in (*paths, packed, agent):
        aged(path, store, 30)
    assert transcripts.find_unread(store) == [
        f"2 sessions older than 14 days are not distilled: {TAKE_ALL}"
    ]


def test_files_of_a_harness_without_a_reader_count_everywhere(
    projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cline = Path.home() / ".cline" / "data" / "sessions"
    for number in range(14):
        task = cline / f"17723500{number:02d}"
        task.mkdir(parents=True)
        (task / f"{task.name}.messages.json").write_text("[]")
    store = open_store(read_settings())
    assert transcripts.find_unread(store) == ["14 files of Cline: not read yet"]
    assert (transcripts.find_sources(store.settings), transcripts.find_left_out(store)) == ([], [])
    monkeypatch.setenv(
        "MEMORY_SOURCES", os.pathsep.join([str(next(cline.iterdir())), str(written(tmp_path, 1))])
    )
    named = open_store(read_settings())
    assert transcripts.find_unread(named) == ["1 file of Cline: not read yet"]
    assert [file.harness for file in transcripts.find_sources(named.settings)] == ["claude_code"]


def test_beside_the_sample_the_machine_s_own_files_are_counted():
    sessions = Path.home() / ".factory" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "918f2c88.jsonl").write_bytes(lines({"type": "session_start", "id": "918f2c88"}))
    choice = transcripts.store_to_fill(read_settings())
    assert (
        choice.reason
        == "1 file of Droid: not read yet. Until then: the bundled sample, in a store of its own"
    )
    with pytest.raises(StoreError, match="1 file of Droid: not read yet"):
        choose()
    assert transcripts.find_unread(open_store(choice.settings)) == ["1 file of Droid: not read yet"]


def test_a_file_that_intake_could_not_read_is_listed_until_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_SOURCES", str(tmp_path))
    store, path = open_store(read_settings(data=tmp_path / "store")), written(tmp_path, 1)
    packed, whole = path.with_name(f"{path.name}.gz"), gzip.compress(path.read_bytes() * 100)
    path.unlink()
    packed.write_bytes(whole[: len(whole) // 2])
    intake(store, tmp_path)
    assert [one.path for one in transcripts.find_left_out(store)] == [str(packed)]
    packed.write_bytes(whole)
    intake(store, tmp_path)
    assert transcripts.find_left_out(store) == []


def test_a_folder_of_the_settings_that_is_missing_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_SOURCES", str(tmp_path / "gone"))
    (one,) = transcripts.find_left_out(open_store(read_settings()))
    assert (one.path, "does not exist" in one.reason) == (str(tmp_path / "gone"), True)


def test_this_machine_is_its_home_folder_and_its_harnesses_folders(projects: Path):
    machine = transcripts.this_machine(read_settings())
    assert (machine.home, machine.harness_folders) == (Path.home(), (projects.parent,))
    assert machine.facts_of(
        "claude_code", str(projects / "a.jsonl"), b'{"cwd":"/home/vscode/x"}\n'
    )["is_own"]
    assert machine.facts_of("claude_code", "/mnt/a.jsonl", lines({"cwd": str(Path.home() / "x")}))[
        "is_own"
    ]
    assert not machine.facts_of("claude_code", "/mnt/a.jsonl", b'{"cwd":"/home/vscode/x"}\n')[
        "is_own"
    ]
