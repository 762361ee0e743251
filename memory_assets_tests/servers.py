"""Servers that tests start on the loopback interface, each with its data in a folder of the test, and end afterwards."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

START_SECONDS = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def chroma_server(folder: Path, port: int = 0) -> Iterator[str]:
    """Yields the address of a Chroma server that keeps its data in the folder."""
    port = port or free_port()
    address = f"http://127.0.0.1:{port}"
    command = [
        Path(sys.executable).with_name("chroma"),
        "run",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--path",
        str(folder),
    ]
    with _running(command, lambda: urllib.request.urlopen(f"{address}/api/v2/heartbeat", timeout=1).close(), folder):
        yield address


@contextmanager
def _running(command: list, ask: Callable[[], object], folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.log").open("wb") as log:
        server = subprocess.Popen([str(part) for part in command], stdout=log, stderr=log, cwd=folder)
        try:
            _wait_for(ask, server)
            yield
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(20)
            server.kill()
            server.wait()


def _wait_for(ask: Callable[[], object], server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            ask()
            return
        except Exception:
            assert server.poll() is None, f"{server.args} ended with {server.returncode}"
            assert time.monotonic() < until, f"{server.args} does not answer"
            time.sleep(0.1)


def found_program(*places: str) -> str | None:
    """Returns the first of these programs that is installed."""
    return next((found for place in places if (found := shutil.which(place))), None)
