"""Answers requests of other processes of the user while `memory up` runs (`store/sockets.py`).

`runs/serving.py` starts this process and holds its stdin open: it ends when that closes. It has
everything loaded that a recall needs, and follows the tables like any other process. It answers one
request at a time, because a command belongs to its caller: for that time the environment, the
working folder and the streams of this process are the caller's.

A request that is not answered gets an empty reply, and the caller does the work itself.
"""

import contextlib
import io
import os
import select
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_assets.interfaces.ask_service import program
from memory_assets.interfaces.cli import app
from memory_assets.interfaces.dispatcher import present_agent
from memory_assets.memory import MemoryAgent, sockets
from memory_assets.memory.places import find_store
from memory_assets.memory.settings import harness_of

READ_SECONDS = 1.0
"""Longest time that a request takes to arrive, and its reply to be read."""

LEFT_TO_CALLER = frozenset(("-", "--help"))
"""Words of commands that read stdin, or whose output depends on how their process started."""

LEAN = ("recall", "what is known", "--probe", "--profile", "lean")
WARMING = (LEAN, (*LEAN, "--corpus", "messages"))
"""Commands that load everything and ask no model."""

PROGRAM = program()
"""Read when this process starts: a later version is not what it runs."""

Request = Mapping[str, Any]


def main() -> int:
    """Loads what a recall needs, then answers until stdin closes; returns the exit code."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for words in WARMING:
            app.main(words)
        present_agent().before_tool("Bash", "make", session="-", folder="/", until=0.0)
    folder = Path(find_store(), sockets.SERVICE)
    try:
        listener = sockets.listen(str(folder))
    except OSError as error:  # not every file system has sockets
        print(f"memory: recalls of other processes are not answered: {error}", file=sys.stderr)
        return 0
    with listener:
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError, ValueError):
                serve(connection)
        (folder / listener.getsockname()).unlink(missing_ok=True)
    return 0


def serve(connection: socket.socket) -> None:
    """Reads a request and sends its reply; after an error an empty one."""
    if not sockets.is_same_user(connection):
        return
    request = sockets.receive(connection, time.monotonic() + READ_SECONDS)
    if request is None or time.monotonic() > request.get("until", 0.0):
        return
    try:
        reply = VERBS[request["verb"]](request)
    except Exception as error:
        print(f"memory: a request was not answered: {error!r}", file=sys.stderr)
        return
    sockets.send(connection, reply, time.monotonic() + READ_SECONDS)


def run_command(request: Request) -> dict[str, Any]:
    """Returns what the command writes, and its exit code."""
    output = list[tuple[int, str]]()
    with _as_caller(request, output):
        code = app.main(request["words"]) if _is_answered(request) else None
    return {} if code is None else {"output": output, "code": code}


def _is_answered(request: Request) -> bool:
    """Returns whether the command is a recall by this version that asks no model.

    A model's client belongs to the environment of the process that opened it.
    """
    words = request["words"]
    if request["program"] != PROGRAM or words[0] != "recall" or LEFT_TO_CALLER & {*words}:
        return False
    settings = MemoryAgent().settings
    is_harness = harness_of(settings.model_of("observer")) is not None
    return not settings.uses_models or (is_harness and "--answer" not in words)


def before_tool(request: Request) -> dict[str, Any]:
    """Returns a line about what a tool is about to use; empty where nothing new is sure."""
    names = ("tool", "arguments", "session", "folder", "until")
    line = present_agent().before_tool(**{name: request[name] for name in names})
    return {"text": line}


VERBS: dict[str, Callable[[Request], dict[str, Any]]] = {
    "command": run_command,
    "before_tool": before_tool,
}
"""What each verb of a request is answered by."""


@contextlib.contextmanager
def _as_caller(request: Request, output: list[tuple[int, str]]) -> Iterator[None]:
    """Gives this process the caller's environment, working folder and streams for a block."""
    environment = dict(os.environ)
    folder = str(Path.cwd())
    streams = (sys.stdin, sys.stdout, sys.stderr)
    try:
        _enter(request["environment"], request["folder"])
        described = enumerate(request["streams"])
        _set_streams([_Stream(number, output, *stream) for number, stream in described])
        yield
    finally:
        _set_streams(streams)
        _enter(environment, folder)


def _enter(environment: Mapping[str, str], folder: str) -> None:
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)


def _set_streams(streams: Sequence[Any]) -> None:
    sys.stdin, sys.stdout, sys.stderr = streams


class _Stream(io.TextIOWrapper):
    """A stream that looks like the caller's and collects what is written to it."""

    def __init__(
        self,
        number: int,
        output: list[tuple[int, str]],
        is_terminal: bool,
        encoding: str,
        errors: str,
    ) -> None:
        self._is_terminal = is_terminal
        buffer = _Buffer(number, output)
        super().__init__(buffer, encoding=encoding, errors=errors, write_through=True)  # pyright: ignore[reportArgumentType]

    def isatty(self) -> bool:
        """Returns whether the caller's stream is a terminal."""
        return self._is_terminal


class _Buffer(io.RawIOBase):
    """Appends what is written, with the number of its stream, in the order of both streams."""

    def __init__(self, number: int, output: list[tuple[int, str]]) -> None:
        self._number = number
        self._output = output

    def writable(self) -> bool:
        """Returns True."""
        return True

    def write(self, content: Any) -> int:
        """Appends the bytes as text of one letter a byte, and returns their number."""
        text = bytes(content).decode("latin-1")
        self._output.append((self._number, text))
        return len(text)


if __name__ == "__main__":
    sys.exit(main())
