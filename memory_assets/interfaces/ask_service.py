"""Has the running service answer a command of this process; standard library only.

The service gets what the command can see of its process: words, working folder, environment, and
whether its streams are terminals. It returns what the command writes and its exit code.
"""

import os
import sys

from memory_assets.memory.places import find_store
from memory_assets.memory.sockets import ask

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    Output = list[tuple[int, str]]
    """Numbers of streams, and what is written to them: each letter is a byte."""

SECONDS = 2.0
"""Longest wait. A command of its own takes about one second."""

PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def run_by_service(words: "Sequence[str]") -> int | None:
    """Prints what the service answers and returns the exit code; None where it does not answer, so
    that the command runs here.
    """
    streams = (sys.stdin, sys.stdout, sys.stderr)
    try:
        reply = ask(
            find_store(),
            "command",
            SECONDS,
            program=program(),
            words=list(words),
            folder=os.getcwd(),
            environment={**_terminal_size(), **os.environ},
            streams=[(stream.isatty(), stream.encoding, stream.errors) for stream in streams],
        )
        if reply is None:
            return None
        _write(reply["output"])
        return reply["code"]
    except (OSError, ValueError, KeyError, AttributeError):
        return None  # a stream is closed or full: the command itself reports it


def program() -> list[object]:
    """Returns what differs after another version was installed."""
    return [PACKAGE, os.stat(PACKAGE).st_mtime_ns]


def _terminal_size() -> dict[str, str]:
    """Returns the variables with the size of the terminal; empty without one."""
    for number in range(3):
        try:
            size = os.get_terminal_size(number)
        except OSError:
            continue
        return {"COLUMNS": str(size.columns or 80), "LINES": str(size.lines or 25)}  # as rich
    return {}


def _write(output: "Output") -> None:
    try:
        for number, text in output:
            stream = sys.stdout if number == 1 else sys.stderr
            stream.buffer.write(text.encode("latin-1"))
            stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
