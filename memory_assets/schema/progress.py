"""Progress reporting: the command line installs a reporter with `report_to`, runs and stages report
to it.

A long piece of work announces which tables it will build and how long that may take (`expect`), so
that one bar can show all of it; without that, each loop (`track`) is shown by itself.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Reporter(Protocol):
    """Shows progress to a person."""

    def track(self, items: Iterable[Any], description: str, total: float | None) -> Iterator[Any]:
        """Yields the items and shows how many of the total were taken, if it is known."""
        ...

    def expect(self, seconds: Mapping[str, float], notice: str = "") -> None:
        """Takes the tables of the work that begins, with the time that each may take; none when the
        work has ended.

        The notice says what a person has to know of the work first.
        """

    def part(self, share: float) -> None:
        """Takes how much of each table the following builds are: 1 is all of it."""

    def building(self, table: str, title: str) -> None:
        """Takes which table is built from now on, and the title of its job."""

    def works(self, what: str) -> None:
        """Takes what a person can use from now on."""


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
    """Yields the items and reports each."""
    if _reporter is None:
        return iter(items)
    return _reporter.track(items, description, len(items) if isinstance(items, Sized) else total)


@contextmanager
def expect(estimate: Callable[[], Mapping[str, float]], notice: str = "") -> Iterator[None]:
    """Announces the tables that the block builds, with the time in seconds that each may take;
    asked only if that is shown.

    Where there are any, the notice is shown before everything else.
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
    """Reports that the table is built from now on, and the title of its job."""
    if _reporter is not None:
        _reporter.building(table, title)


def works(what: str) -> None:
    """Reports what a person can use from now on."""
    if _reporter is not None:
        _reporter.works(what)
