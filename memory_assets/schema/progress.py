"""Progress reporting: the command line installs a reporter with `report_to`, the stages call `track`."""

from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Protocol, TypeVar

T = TypeVar("T")


class Reporter(Protocol):
    """Displays progress."""

    def start(self, description: str, total: float | None) -> object:
        """Opens a bar and returns its handle."""
        ...

    def advance(self, handle: object, amount: float) -> None:
        """Moves the bar."""
        ...

    def finish(self, handle: object) -> None:
        """Closes the bar."""
        ...


_reporter: Reporter | None = None


@contextmanager
def report_to(reporter: Reporter | None) -> Iterator[None]:
    """Sends progress to the reporter while the block runs."""
    global _reporter
    before, _reporter = _reporter, reporter
    try:
        yield
    finally:
        _reporter = before


def track(items: Iterable[T], description: str, total: float | None = None) -> Iterator[T]:
    """Yields the items and advances a bar by one for each."""
    if _reporter is None:
        yield from items
        return
    reporter, handle = _reporter, _reporter.start(description, len(items) if isinstance(items, Sized) else total)
    try:
        for item in items:
            yield item
            reporter.advance(handle, 1)
    finally:
        reporter.finish(handle)
