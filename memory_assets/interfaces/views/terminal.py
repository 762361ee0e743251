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

from memory_assets.interfaces.envelope import envelope_of, failure_envelope, to_json
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
    """A console that prints no control character, invisible letter or tag of a speaker."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yields the segments of the renderable with visible text."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def console(*, is_error: bool = False) -> Console:
    """Returns the console of stdout or stderr; without a terminal it is wide enough for tables."""
    return plain_console(sys.stderr if is_error else sys.stdout)


def plain_console(stream: Any, **options: Any) -> Console:
    """Returns a console that prints into the stream, without highlighting, emoji or markup."""
    is_terminal = stream.isatty()
    width = None if is_terminal else PIPE_WIDTH
    options |= {"highlight": False, "emoji": False, "markup": False}
    return SafeConsole(file=stream, width=width, soft_wrap=not is_terminal, **options)


def print_reply(reply: Reply, *, as_json: bool) -> None:
    """Writes the answer: one JSON object, or its parts, with the warnings on stderr."""
    if as_json:
        _print_json(envelope_of(reply.data, reply.warnings, ok=reply.exit_code == 0))
        return
    if reply.is_paged and sys.stdout.isatty() and sys.stdin.isatty():
        show_paged(reply.parts, console())
    else:
        show(reply.parts, console())
    for warning in reply.warnings:
        show([Text(f"! {warning}", style="yellow")], console(is_error=True))
    if reply.next_step and sys.stdout.isatty() and sys.stderr.isatty():
        show([Text(f"Next: {reply.next_step}", style="dim")], console(is_error=True))


def show(parts: Iterable[Part], screen: Console) -> None:
    """Prints the parts, one below the other."""
    for part in parts:
        if isinstance(part, Raw):
            screen.print(Text(part, no_wrap=True, overflow="ignore"), crop=False)
        elif isinstance(part, str):
            screen.print(_wrap(Text(part), screen))
        elif isinstance(part, Text):
            screen.print(_wrap(part, screen))
        else:
            screen.print(part)


def show_paged(parts: Iterable[Part], screen: Console) -> None:
    """Prints the parts, with the pager of the system if they are longer than the screen."""
    with screen.capture() as capture:
        show(parts, screen)
    output = capture.get()
    if output.count("\n") < screen.height:
        sys.stdout.write(output)
        return
    os.environ.setdefault("LESS", PAGER_OPTIONS)
    SystemPager().show(output)


def _wrap(text: Text, screen: Console) -> Text:
    """Returns the text, on a terminal wrapped at its width.

    Further lines are indented, so that they begin below the first letter behind the number or mark.
    """
    indent = len(_INDENT.match(text.plain)[0])  # pyright: ignore[reportOptionalSubscript]
    fits = screen.soft_wrap or "\n" in text.plain or text.cell_len <= screen.width
    if fits or not 0 < indent < screen.width // 2:
        return text
    first, *others = text[indent:].wrap(screen, screen.width - indent)
    lines = [text[:indent] + first, *(Text(" " * indent) + other for other in others)]
    return Text("\n").join(lines)


def tell(text: str) -> None:
    """Prints a message that is no part of the answer."""
    console(is_error=True).print(Text(text))


def print_error(error: BaseException, message: str, *, as_json: bool) -> None:
    """Writes an error: as JSON on stdout, or as one message on stderr."""
    if as_json:
        _print_json(failure_envelope(error, message))
    else:
        show([Text("✗ ", style="bold red") + Text(message)], console(is_error=True))


def _print_json(value: Any) -> None:
    sys.stdout.write(to_json(value).decode() + "\n")
    sys.stdout.flush()
