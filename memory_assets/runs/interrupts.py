"""Makes sure that no ctrl-C and no SIGTERM is lost during a run of Dagster in the main thread.

During a run, Dagster handles these signals and looks at them between its steps. A signal after the
last look is lost. A signal during a finaliser (`__del__`) is lost too, because Python only prints
the exception of its handler. But Python also writes the number of each signal to a file descriptor
(`signal.set_wakeup_fd`). We read these numbers when the run is over.
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
    """Raises `KeyboardInterrupt` for a signal during the block, at the latest at its end."""
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
    """Yields an empty list; at the end of the block, adds the numbers of the signals during it."""
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
        # Each signal wrote one byte with its number.
        numbers.extend(b"".join(iter(lambda: os.read(read, 256), b"")))
        os.close(read)


def _is_interrupt(kind: type[BaseException]) -> bool:
    import dagster as dg

    return issubclass(kind, KeyboardInterrupt | dg.DagsterExecutionInterruptedError)
