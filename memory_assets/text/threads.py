"""Work on many rows, divided among the cores of the machine."""

import os
from collections.abc import Callable


def thread_count() -> int:
    """Returns the number of cores, or what OMP_NUM_THREADS, the usual limit of numerical programs,
    sets.
    """
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return int(limit) if limit.isdecimal() and int(limit) else os.cpu_count() or 1


def in_parts(work: Callable[[slice], object], count: int, least: int) -> None:
    """Calls `work` with consecutive slices of so many rows at once, one for each core; each has at
    least `least` rows.

    Threads take a tenth of a millisecond to start, and run at once only what leaves Python's lock,
    as most of numpy does.
    """
    parts = max(1, min(thread_count(), count // least))
    slices = [slice(count * part // parts, count * (part + 1) // parts) for part in range(parts)]
    if parts == 1:
        work(slices[0])
        return
    from concurrent.futures import ThreadPoolExecutor  # seldom needed, and slow to import

    with ThreadPoolExecutor(parts - 1) as pool:
        others = [pool.submit(work, rows) for rows in slices[1:]]
        work(slices[0])
        for other in others:
            other.result()
