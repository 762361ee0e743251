"""Prints a reply: colour on a terminal, plain text in a pipe, one JSON object with `--json`.

The answer goes to stdout, everything else to stderr. `NO_COLOR` is honoured.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.pager import SystemPager
from rich.segment import Segment
from rich.text import Text

from memory_assets.interfaces.envelope import answered, failed, to_json
from memory_assets.interfaces.views.lines import Part
from memory_assets.text.visible import visible

PIPE_WIDTH = 160
"""Columns of tables where no terminal says how wide it is."""

PAGER_OPTIONS = "FRX"
"""Of `less`, unless `LESS` is set: colours as they are, and nothing is cleared at the end."""

_INDENT = re.compile(r"\s*(?:(?:\d+\.|[-+*!✓✗⚠–]|(?:(?:mem|msg|seg|obs|doc)_|p-)[\w-]+(?: →)?) +)?")
"""Blanks in front of a line, with the number, the mark or the id that begins it."""


class Raw(str):
    """Text whose lines are not wrapped."""


@dataclass(frozen=True)
class Reply:
    """A command's answer: data for programs, parts for people, and the exit code."""

    data: Any
    parts: Iterable[Part] = ()
    exit_code: int = 0
    warnings: Sequence[str] = ()
    next_step: str = ""
    """What to do next; printed on a terminal only."""
    is_paged: bool = False
    """On a terminal, it goes through the pager if it is longer than the screen."""
    afterwards: Callable[[], int] = field(default=lambda: 0)
    """Runs after the answer is printed, such as a server; returns the exit code."""


class SafeConsole(Console):
    """A console that prints no control character, invisible letter or tag of a speaker, whatever it
    is given.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yields the segments of the renderable with visible text."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def console(*, is_error: bool = False) -> Console:
    """Returns the console of stdout or stderr, wide enough for tables where there is no
    terminal.
    """
    return plain_console(sys.stderr if is_error else sys.stdout)


def plain_console(stream: Any, **options: Any) -> Console:
    """Returns a console that changes no word of what it prints into the stream."""
    is_terminal = stream.isatty()
    width = None if is_terminal else PIPE_WIDTH
    options |= {"highlight": False, "emoji": False, "markup": False}
    return SafeConsole(file=stream, width=width, soft_wrap=not is_terminal, **options)


def print_reply(reply: Reply, *, as_json: bool) -> None:
    """Writes the answer: one JSON object, or its parts, with the warnings on stderr."""
    if as_json:
        _print_json(answered(reply.data, reply.warnings, ok=reply.exit_code == 0))
        return
    if reply.is_paged and sys.stdout.isatty() and sys.stdin.isatty():
        show_paged(reply.parts, console())
    else:
        show(reply.parts, console())
    for warning in reply.warnings:
        show([Text(f"! {warning}", style="yellow")], console(is_error=True))
    if reply.next_step and sys.stdout.isatty() and sys.stderr.isatty():
        show([Text(f"Next: {reply.next_step}", style="dim")], console(is_error=True))


def show(parts: Iterable[Part], on: Console) -> None:
    """Prints the parts, one below the other."""
    for part in parts:
        if isinstance(part, Raw):
            on.print(Text(part, no_wrap=True, overflow="ignore"), crop=False)
        elif isinstance(part, str | Text):
            on.print(_wrapped(Text(part) if isinstance(part, str) else part, on))
        else:
            on.print(part)


def show_paged(parts: Iterable[Part], on: Console) -> None:
    """Prints the parts, with the pager of the system if they are longer than the screen."""
    with on.capture() as captured:
        show(parts, on)
    printed = captured.get()
    if printed.count("\n") < on.height:
        sys.stdout.write(printed)
        return
    os.environ.setdefault("LESS", PAGER_OPTIONS)
    SystemPager().show(printed)


def _wrapped(text: Text, on: Console) -> Text:
    """Returns the text; on a terminal, with the lines that do not fit continued below their first
    letter.
    """
    indent = len(_INDENT.match(text.plain)[0])  # pyright: ignore[reportOptionalSubscript]
    fits = on.soft_wrap or "\n" in text.plain or text.cell_len <= on.width
    if fits or not 0 < indent < on.width // 2:
        return text
    first, *others = text[indent:].wrap(on, on.width - indent)
    lines = [text[:indent] + first, *(Text(" " * indent) + rest for rest in others)]
    return Text("\n").join(lines)


def tell(text: str) -> None:
    """Prints a message that is no part of the answer."""
    console(is_error=True).print(Text(text))


def print_error(error: BaseException, message: str, *, as_json: bool) -> None:
    """Writes an error: as JSON on stdout, or as one message on stderr."""
    if as_json:
        _print_json(failed(error, message))
    else:
        show([Text("✗ ", style="bold red") + Text(message)], console(is_error=True))


def _print_json(value: Any) -> None:
    sys.stdout.write(to_json(value).decode() + "\n")
    sys.stdout.flush()
