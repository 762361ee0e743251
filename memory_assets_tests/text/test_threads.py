"""Work is divided into slices that are all rows together, whatever the number of cores."""

import threading

import pytest

from memory_assets.text.threads import in_parts


@pytest.mark.parametrize(("count", "parts"), [(0, 1), (9, 1), (19, 1), (20, 2), (35, 3), (100, 4)])
def test_parts_are_all_rows_once_and_none_is_too_small_for_a_thread(
    count: int, parts: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    seen = list[slice]()
    in_parts(seen.append, count, 10)
    assert len(seen) == parts
    assert sorted(row for part in seen for row in range(part.start, part.stop)) == list(
        range(count)
    )
    assert parts == 1 or min(part.stop - part.start for part in seen) >= 10


def test_what_fails_in_another_thread_is_raised_here(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    here = threading.current_thread()

    def work(_: slice) -> None:
        if threading.current_thread() is not here:
            raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        in_parts(work, 100, 10)
