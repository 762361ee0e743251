"""Progress reporting: the command line installs a reporter with `report_to`, the stages call `track`."""

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

Reporter = Callable[[Iterable[Any], str, float | None], Iterator[Any]]
"""Yields the items and shows how many of the total were taken, if it is known."""

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
    """Yields the items and reports each."""
    if _reporter is None:
        return iter(items)
    return _reporter(items, description, len(items) if isinstance(items, Sized) else total)
