"""Shows progress on stderr: bars on a terminal, else a line for each long step.

A build first announces its tables and the time that each may take (`Bars.expect`). From then on
there is one bar for all of them: it says how much is done, how long the rest may take, and what
works already.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column

from memory_assets.interfaces.views.terminal import console

AT_LEAST_SECONDS = 1.0
"""Without a terminal, a step that took less time has no line."""

TRUSTED_SHARE = 0.1
"""Once this share of the expected time is done, the pace so far decides how long the rest takes."""


WIDE = 110
"""Columns that a terminal needs for a bar that also says what works already. A line above the bar
says it in any terminal.
"""


class Bars:
    """The progress of one command."""

    def __init__(
        self, on: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = on or console(is_error=True)
        self._clock = clock
        self._bars: Progress | None = None
        self._open = 0
        self._overall: Overall | None = None
        self._whole: TaskID | None = None
        self._is_closed = False

    def track(self, items: Iterable[Any], description: str, total: float | None) -> Iterator[Any]:
        """Yields the items and moves a bar; when the last bar ends, the terminal is released."""
        if self._overall is not None:
            yield from self._track_overall(self._overall, items, total)
            return
        if self._bars is None:
            text = TextColumn("{task.description}")
            self._bars = self._start(text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._open += 1
        bars = self._bars
        started = self._clock()
        done = 0
        task = bars.add_task(description, total=total)
        try:
            for item in items:
                yield item
                done += 1
                bars.advance(task)
        finally:
            seconds = self._clock() - started
            if not self._console.is_terminal and seconds >= AT_LEAST_SECONDS:
                self._console.print(f"{description}: {done:,} in {seconds:.1f} s")
            self._open -= 1
            if not self._open:
                bars.stop()
                self._bars = None

    def expect(self, seconds: Mapping[str, float], notice: str = "") -> None:
        """Shows one bar for these tables, below the notice; without tables, removes the bar.

        `seconds` is the time that each table may take.
        """
        if notice:
            self._console.print(notice)
        if self._bars is not None:
            self._bars.stop()
        self._bars = None
        self._overall = Overall(seconds, self._clock()) if seconds else None
        if self._overall is not None and self._console.is_terminal:
            bar = BarColumn(20, table_column=Column(min_width=20))
            narrow = Column(min_width=5, no_wrap=True)
            share = TextColumn("{task.percentage:>3.0f} %", table_column=narrow)
            self._bars = self._start(bar, share, TextColumn("{task.description}"))
            self._whole = self._bars.add_task("", total=1.0)
            self._show()

    def part(self, share: float) -> None:
        """Notes which share of each table's time the following builds take."""
        if self._overall is not None:
            self._overall.share = share

    def building(self, table: str, title: str) -> None:
        """Shows the title of the table, and counts the previous table as built."""
        if self._overall is not None:
            self._overall.begin(table, title)
            self._show()

    def works(self, what: str) -> None:
        """Shows what works from now on."""
        if self._overall is not None:
            self._overall.works = what
            seconds = self._clock() - self._overall.started
            self._console.print(f"{what[:1].upper()}{what[1:]} after {seconds:.0f} s.")
            self._show()

    def waits(self, what: str) -> None:
        """Prints for whom the work waits."""
        self._console.print(what, markup=False)

    def close(self) -> None:
        """Releases the terminal for good, also while another thread still works."""
        self._is_closed = True
        if self._bars is not None:
            self._bars.stop()

    def _track_overall(
        self, overall: "Overall", items: Iterable[Any], total: float | None
    ) -> Iterator[Any]:
        for done, item in enumerate(items, 1):
            yield item
            overall.within = done / total if total else 0.0
            self._show()

    def _start(self, *columns: Any) -> Progress:
        is_hidden = self._is_closed or not self._console.is_terminal
        bars = Progress(*columns, console=self._console, disable=is_hidden)
        bars.start()
        return bars

    def _show(self) -> None:
        overall = self._overall
        if self._bars is not None and overall is not None and self._whole is not None:
            is_short = self._console.width < WIDE
            text = overall.render(self._clock(), is_short=is_short)
            self._bars.update(self._whole, completed=overall.done, description=text)


class Overall:
    """The progress of a build whose tables were announced, with the seconds that each may take."""

    def __init__(self, seconds: Mapping[str, float], started: float) -> None:
        self.started = started
        self.share = 1.0
        self.within = 0.0
        self.works = ""
        self._seconds = seconds
        self._whole = sum(seconds.values()) or 1.0
        self._built = 0.0
        self._table = ""
        self._title = ""

    def begin(self, table: str, title: str) -> None:
        """Counts the present table as built, and begins the next one."""
        self._built += self._present()
        self._table = table
        self._title = title
        self.within = 0.0

    @property
    def done(self) -> float:
        """How much of the expected time is done, from 0 to 1."""
        return min(1.0, (self._built + self.within * self._present()) / self._whole)

    def render(self, now: float, *, is_short: bool = False) -> str:
        """Returns the present step, how long the rest may take, and what works already.

        A short text leaves out what works already.
        """
        works = f"{self.works} · " if self.works and not is_short else ""
        return f"{works}{self._title} · {render_remaining(self._remaining(now))}"

    def _remaining(self, now: float) -> float:
        """Returns the seconds that the rest may take; after `TRUSTED_SHARE`, at the pace so far."""
        remaining = (1.0 - self.done) * self._whole
        if self.done < TRUSTED_SHARE:
            return remaining
        return remaining * (now - self.started) / (self.done * self._whole)

    def _present(self) -> float:
        return self._seconds.get(self._table, 0.0) * self.share


def render_remaining(seconds: float) -> str:
    """Returns the time in words, rounded, because it is an estimate."""
    if seconds < 10:
        return "a few seconds left"
    if seconds < 55:
        return f"about {round(seconds, -1):.0f} s left"
    return f"about {max(1, round(seconds / 60))} min left"
