"""Progress reporting: the command line installs a reporter with `report_to`; runs and stages report
to it.

A long piece of work first announces which tables it will build, and how long that may take
(`expect`): then one bar can show all of it. Without that, each loop (`track`) is shown separately.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Reporter(Protocol):
    """Shows progress to a person."""

    def track(self, items: Iterable[Any], description: str, total: float | None) -> Iterator[Any]:
        """Yields the items, and shows how many of the total (None: unknown) are done."""
        ...

    def expect(self, seconds: Mapping[str, float], notice: str = "") -> None:
        """Begins work: table → the time that it may take. An empty mapping ends the work.

        The notice is shown to the person before the work begins.
        """

    def part(self, share: float) -> None:
        """Says that the following builds are this share of their tables; 1 is all of them."""

    def building(self, table: str, title: str) -> None:
        """Says that the table is built from now on; the title is that of its job."""

    def works(self, what: str) -> None:
        """Says what a person can use from now on."""

    def waits(self, what: str) -> None:
        """Says for whom the work waits."""


_reporter: Reporter | None = None


@contextmanager
def report_to(reporter: Reporter | None) -> Iterator[None]:
    """Sends progress to the reporter while the block runs."""
    global _reporter
    previous_reporter = _reporter
    _reporter = reporter
    try:
        yield
    finally:
        _reporter = previous_reporter


def track(items: Iterable[T], description: str, total: float | None = None) -> Iterator[T]:
    """Returns an iterator over the items that reports each."""
    if _reporter is None:
        return iter(items)
    if isinstance(items, Sized):
        total = len(items)
    return _reporter.track(items, description, total)


@contextmanager
def expect(estimate: Callable[[], Mapping[str, float]], notice: str = "") -> Iterator[None]:
    """Announces the tables that the block builds. `estimate` returns table → the seconds that it
    may take; it is called only if a reporter shows them.

    If there are any tables, the notice is shown before everything else.
    """
    reporter = _reporter
    seconds = estimate() if reporter is not None else {}
    if reporter is None or not seconds:
        yield
        return
    reporter.expect(seconds, notice)
    try:
        yield
    finally:
        reporter.expect({})


def part(share: float) -> None:
    """Reports that the following builds are this share of their tables."""
    if _reporter is not None:
        _reporter.part(share)


def building(table: str, title: str) -> None:
    """Reports that the table is built from now on; the title is that of its job."""
    if _reporter is not None:
        _reporter.building(table, title)


def works(what: str) -> None:
    """Reports what a person can use from now on."""
    if _reporter is not None:
        _reporter.works(what)


def waits(what: str) -> None:
    """Reports for whom the work waits."""
    if _reporter is not None:
        _reporter.waits(what)
