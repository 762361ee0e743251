"""Divides work on many rows among the cores of the machine."""

import os
from collections.abc import Callable


def thread_count() -> int:
    """Returns the number of cores, or the limit that OMP_NUM_THREADS sets for such programs."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    if limit.isdecimal() and int(limit):
        return int(limit)
    return os.cpu_count() or 1


def in_parts(work: Callable[[slice], object], count: int, least: int) -> None:
    """Divides `count` rows into slices, and calls `work` with all slices at the same time.

    There is a slice for each core, or fewer, so that each has at least `least` rows. A thread takes
    a tenth of a millisecond to start. Threads run at the same time only in code that releases
    Python's lock, as most of numpy does.
    """
    parts = max(1, min(thread_count(), count // least))
    slices = [slice(count * part // parts, count * (part + 1) // parts) for part in range(parts)]
    if parts == 1:
        work(slices[0])
        return
    from concurrent.futures import ThreadPoolExecutor  # seldom needed, and slow to import

    with ThreadPoolExecutor(parts - 1) as pool:
        futures = [pool.submit(work, rows) for rows in slices[1:]]
        work(slices[0])
        for future in futures:
            future.result()
