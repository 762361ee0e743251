"""The log of the service rotates, and a disk that is full stops nobody."""

import io
from pathlib import Path

from memory_assets.store.service_log import (
    MOST_BYTES,
    OLDER_FILES,
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
