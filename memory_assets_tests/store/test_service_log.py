"""The log of the service rotates, and a disk that is full stops nobody."""

import io
from pathlib import Path

import pytest

from memory_assets.store.service_log import (
    MOST_BYTES,
    OLDER_FILES,
    START_FILE,
    copy_lines,
    log_path,
)


def test_lines_are_kept_in_order_in_files_that_rotate_and_stay_under_their_limit(tmp_path: Path):
    lines = [f"line {number:06d} {'x' * 200}" for number in range(35_000)]
    copy_lines(io.StringIO("\n".join(lines) + "\n"), tmp_path).join()
    files = sorted(
        (tmp_path / "logs").glob("service.log*"), key=lambda path: path.name, reverse=True
    )
    assert len(files) == 1 + OLDER_FILES
    assert all(path.stat().st_size <= MOST_BYTES for path in files)
    kept = [line for path in [*files[:-1], files[-1]] for line in path.read_text().splitlines()]
    assert kept == lines[-len(kept) :]
    assert log_path(tmp_path).read_text().splitlines()[-1] == lines[-1]


def test_a_log_that_cannot_be_written_does_not_stop_what_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "logs" / "service.log").mkdir(parents=True)  # no file can be opened here
    stream = io.StringIO("a\nb\n")
    copy_lines(stream, tmp_path).join(timeout=5)
    assert stream.read() == ""


def test_what_failed_at_starts_is_removed_once_it_is_long(tmp_path: Path):
    start = tmp_path / "logs" / START_FILE
    start.parent.mkdir()
    start.write_bytes(b"x" * (MOST_BYTES + 1))
    copy_lines(io.StringIO(""), tmp_path).join()
    assert not start.exists()
