"""Lets no ctrl-C and no SIGTERM be lost during a run of Dagster in the main thread.

Dagster takes these signals during a run and looks at them between its steps. One that arrives after
the last look is dropped. Python writes the number of each signal to a file descriptor as well,
whoever handles it; it is read when the run is over. So is one that arrives inside a finaliser,
where Python prints what a handler raises and drops it.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTS = frozenset({signal.SIGINT, signal.SIGTERM})


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raises `KeyboardInterrupt` for a signal that arrives during the block, at its end at the
    latest.
    """
    import dagster as dg

    try:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        with _received() as numbers:
            yield
        if INTERRUPTS.intersection(numbers):
            raise KeyboardInterrupt
    except dg.DagsterExecutionInterruptedError as error:
        raise KeyboardInterrupt from error


@contextmanager
def _received() -> Iterator[list[int]]:
    """Yields a list that holds the numbers of the signals that arrived, once the block is over."""
    numbers = list[int]()
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    previous_fd = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    print_dropped = sys.unraisablehook
    sys.unraisablehook = lambda dropped: (
        None if _is_interrupt(dropped.exc_type) else print_dropped(dropped)
    )
    try:
        yield numbers
    finally:
        sys.unraisablehook = print_dropped
        signal.set_wakeup_fd(previous_fd)
        os.close(write)
        # Bytes, each of which is a number.
        numbers.extend(b"".join(iter(lambda: os.read(read, 256), b"")))
        os.close(read)


def _is_interrupt(kind: type[BaseException]) -> bool:
    import dagster as dg

    return issubclass(kind, KeyboardInterrupt | dg.DagsterExecutionInterruptedError)
