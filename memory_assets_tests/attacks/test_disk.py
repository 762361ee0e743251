"""Disks that are full or read-only, files that vanish or change while they are read: the error is clear, the next run recovers."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from memory_assets.interfaces.envelope import message_of
from memory_assets.stages.capture import intake as intake_module
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.attacks.kill_points import failing_behind
from memory_assets_tests.conftest import NOW
from memory_assets_tests.once import SEED, sampled
from memory_assets_tests.stages.capture.pipeline import capture, state
from memory_assets_tests.stages.capture.sessions import dialogue, lines, transcript

DISKS = {
    "full": errno.ENOSPC,
    "read-only": errno.EROFS,
    "not permitted": errno.EACCES,
    "quota": errno.EDQUOT,
    "broken": errno.EIO,
}


def opened(folder: Path, **more: object) -> Store:
    """A store in the folder."""
    return open_store(read_settings(data=folder, now=NOW, **more))


def assert_same(found: Store, expected: Store) -> None:
    """All that capture makes is equal; sessions are written along with messages by the pipeline of tests."""
    ours, theirs = state(found), state(expected)
    for table in ("records", "windows", "messages"):
        assert_frame_equal(ours[table], theirs[table])


def failing(kind: str) -> Callable[[str], OSError]:
    """Makes the error of such a disk."""
    return lambda name: OSError(DISKS[kind], os.strerror(DISKS[kind]), name)


@pytest.mark.parametrize("kind", DISKS)
def test_a_disk_that_fails_at_any_write_is_named_and_the_next_run_ends_as_if_nothing_had_been(
    tmp_path: Path, kind: str
):
    sources = tmp_path / "sources"
    for session in ("a", "b"):
        transcript(sources, session).write_bytes(lines(*dialogue(session, 6)))
    whole = opened(tmp_path / "whole")
    with pytest.MonkeyPatch.context() as patch:
        done = failing_behind(patch, None)
        capture(whole, sources)
        total = len(done)
    assert total > 6
    for writes in sampled(range(total), 3):
        store = opened(tmp_path / f"{writes}")
        with pytest.MonkeyPatch.context() as patch:
            failing_behind(patch, writes, failing(kind))
            try:
                report = capture(store, sources)
                assert report.unreadable, (
                    f"write {writes} failed and nobody said so, TEST_SEED={SEED}"
                )
            except Exception as error:
                assert os.strerror(DISKS[kind]) in message_of(error)
                assert "bug in memory_assets" not in message_of(error)
        again = opened(tmp_path / f"{writes}")
        capture(again, sources)
        assert_same(again, whole)


@pytest.mark.parametrize("moment", ["before it is opened", "while it is read"])
def test_a_transcript_that_vanishes_is_left_out_and_the_others_are_captured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
):
    sources, store = tmp_path / "sources", opened(tmp_path / "store")
    for session in ("gone", "kept"):
        transcript(sources, session).write_bytes(lines(*dialogue(session, 5)))
    name = "session_id_of" if moment == "before it is opened" else "_queue_range"
    do = getattr(intake_module, name)

    def vanishing(*arguments, **options):
        transcript(sources, "gone").unlink(missing_ok=True)
        return do(*arguments, **options)

    monkeypatch.setattr(intake_module, name, vanishing)
    capture(store, sources)
    monkeypatch.undo()
    capture(store, sources)
    assert store.tables.read("messages").filter(session_id="kept").height == 10


def test_permissions_that_are_taken_away_in_the_middle_name_the_file_and_come_back(tmp_path: Path):
    """Root may read everything, so the system's answer is given in its place."""
    sources, store = tmp_path / "sources", opened(tmp_path / "store")
    for session in ("closed", "open"):
        transcript(sources, session).write_bytes(lines(*dialogue(session, 5)))
    read = intake_module.TranscriptFile.open

    def refused(file):
        if "closed" in str(file.path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file.path))
        return read(file)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake_module.TranscriptFile, "open", refused)
        report = capture(store, sources)
    assert [(Path(path).stem, reason) for path, reason in report.unreadable] == [
        ("closed", "Permission denied")
    ]
    assert [Path(path).stem for path in store.archive.unreadable()] == ["closed"]
    capture(store, sources)
    assert store.tables.read("messages")["session_id"].value_counts().sort("session_id").rows() == [
        ("closed", 10),
        ("open", 10),
    ]
    assert store.archive.unreadable() == {}


def test_lines_that_are_appended_while_the_file_is_read_are_captured_by_the_next_run(
    tmp_path: Path,
):
    sources, store = tmp_path / "sources", opened(tmp_path / "store")
    path, rest = transcript(sources, "a"), lines(*dialogue("a", 5, first=10, minutes=10))
    path.write_bytes(lines(*dialogue("a", 5)))
    queue = intake_module._queue_range

    def appending(*arguments):
        with path.open("ab") as file:
            file.write(rest[:100])
        return queue(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake_module, "_queue_range", appending)
        capture(store, sources)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 100)  # the half line is written again as a whole
        file.seek(0, os.SEEK_END)
        file.write(rest)
    capture(store, sources)
    expected = opened(tmp_path / "expected")
    capture(expected, sources)
    assert_frame_equal(state(store)["messages"], state(expected)["messages"])


@pytest.mark.parametrize("kept", [True, False], ids=["same length", "another length"])
def test_a_session_that_is_rewritten_in_the_middle_is_read_again(tmp_path: Path, kept: bool):
    sources, store = tmp_path / "sources", opened(tmp_path / "store")
    path = transcript(sources, "a")
    for turns in (4, 8, 12):  # three ranges
        path.write_bytes(lines(*dialogue("a", turns)))
        capture(store, sources)
    content = path.read_bytes().replace(
        b"please look at point 10", b"please stop at point 10" if kept else b"look at point 10"
    )
    path.write_bytes(content + lines(*dialogue("a", 2, first=40, minutes=60)))
    assert capture(store, sources).rewritten == 1
    texts = store.tables.read("messages")["text"].to_list()
    assert ("a: please stop at point 10" if kept else "a: look at point 10") in texts
    assert "a: point 42 is done" in texts
