"""Prints a reply: colour and progress bars on a terminal, plain text in a pipe, one JSON object with `--json`.

The answer goes to stdout, everything else to stderr. `NO_COLOR` is honoured.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.text import Text

from memory_assets.interfaces.envelope import answered, failed, to_json
from memory_assets.interfaces.views.lines import Part
from memory_assets.text.visible import visible

PIPE_WIDTH = 160
"""Columns of tables where no terminal says how wide it is."""

AT_LEAST_SECONDS = 1.0
"""Without a terminal, steps that took less are not worth a line."""


class Raw(str):
    """Text whose lines are not wrapped."""


@dataclass(frozen=True)
class Reply:
    """A command's answer: data for programs, parts for people, and the exit code."""

    data: Any
    parts: Iterable[Part] = ()
    exit_code: int = 0
    warnings: Sequence[str] = ()
    afterwards: Callable[[], int] = field(default=lambda: 0)
    """Runs after the answer is printed, such as a server; returns the exit code."""


class SafeConsole(Console):
    """A console that prints no control character, invisible letter or tag of a speaker, whatever it is given."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yields the segments of the renderable with visible text."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def console(*, is_error: bool = False) -> Console:
    """Returns the console of stdout or stderr, wide enough for tables where there is no terminal."""
    stream = sys.stderr if is_error else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    return SafeConsole(file=stream, width=width, highlight=False, emoji=False, markup=False, soft_wrap=not stream.isatty())


def print_reply(reply: Reply, *, as_json: bool) -> None:
    """Writes the answer: one JSON object, or its parts, with the warnings on stderr."""
    if as_json:
        _print_json(answered(reply.data, reply.warnings, ok=reply.exit_code == 0))
        return
    show(reply.parts, console())
    for warning in reply.warnings:
        console(is_error=True).print(Text(f"! {warning}", style="yellow"))


def show(parts: Iterable[Part], on: Console) -> None:
    """Prints the parts, one below the other."""
    for part in parts:
        if isinstance(part, Raw):
            on.print(Text(part, no_wrap=True, overflow="ignore"), crop=False)
        else:
            on.print(Text(part) if isinstance(part, str) else part)


def print_error(error: BaseException, message: str, *, as_json: bool) -> None:
    """Writes an error: as JSON on stdout, or as one message on stderr."""
    if as_json:
        _print_json(failed(error, message))
    else:
        console(is_error=True).print(Text("✗ ", style="bold red") + Text(message))


def _print_json(value: Any) -> None:
    sys.stdout.write(to_json(value).decode() + "\n")
    sys.stdout.flush()


class Bars:
    """Shows progress on stderr: bars on a terminal, else a line for each long step."""

    def __init__(self) -> None:
        self._console = console(is_error=True)
        self._bars: Progress | None = None
        self._open = 0

    def track(self, items: Iterable[Any], description: str, total: float | None) -> Iterator[Any]:
        """Yields the items and moves a bar; the last open one releases the terminal."""
        if self._bars is None:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bars = Progress(*columns, console=self._console, disable=not self._console.is_terminal)
            self._bars.start()
        self._open += 1
        bars, started, done = self._bars, time.monotonic(), 0
        task = bars.add_task(description, total=total)
        try:
            for item in items:
                yield item
                done += 1
                bars.advance(task)
        finally:
            seconds = time.monotonic() - started
            if not self._console.is_terminal and seconds >= AT_LEAST_SECONDS:
                self._console.print(f"{description}: {done:,} in {seconds:.1f} s")
            self._open -= 1
            if not self._open:
                bars.stop()
                self._bars = None
