"""Unix sockets in the store, on which a process with everything loaded answers other processes.

    STORE/built/FOLDER/<process id>.sock

Only the user of the store can connect: a socket has the mode 0600, and both sides check the user of
the other where the system tells it. Several processes can listen; the one that started last is
asked. The service of `memory up` takes one request for each connection, and sends one reply: both
are JSON behind their length (4 bytes). A request names its verb, and ends at a moment, after which
nobody waits for the reply.

Without Unix sockets (Windows) nobody listens. Imports the standard library only, because commands
wait for it.
"""

import os
import socket
import sys
import time
from contextlib import contextmanager

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SERVICE = os.path.join("built", "service")
"""Folder of the sockets of `memory up`."""

SUFFIX = ".sock"
HAS_SOCKETS = hasattr(socket, "AF_UNIX")
CONNECT_SECONDS = 0.2
LENGTH_BYTES = 4
MOST_BYTES = 64_000_000
"""Of one message."""


def ask(root: str, verb: str, seconds: float, **request: "Any") -> "dict[str, Any] | None":
    """Returns the reply of the store's service; None without a service that answers in time."""
    until = time.monotonic() + seconds
    service = connect(os.path.join(root, SERVICE))
    if service is None:
        return None
    try:
        with service:
            send(service, {"verb": verb, "until": until, **request}, until)
            return receive(service, until)
    except (OSError, ValueError):
        return None


def listen(folder: str) -> socket.socket:
    """Returns a socket of this process that listens in the folder; deletes those of processes that
    were killed.

    No other thread may run: the working folder changes for a moment.
    """
    os.makedirs(folder, exist_ok=True, mode=0o700)
    server = socket.socket(socket.AF_UNIX)
    name = f"{os.getpid()}{SUFFIX}"
    mask = os.umask(0o177)
    try:
        with _inside(folder):
            for other in os.listdir("."):
                if other == name or _has_ended(other):
                    os.unlink(other)
            server.bind(name)
            server.listen()
    finally:
        os.umask(mask)
    return server


def connect(folder: str) -> socket.socket | None:
    """Returns a connection to the process that started last; None where none listens.

    Deletes the sockets of processes that have ended. No other thread may run: the working folder
    changes for a moment.
    """
    if not HAS_SOCKETS:
        return None
    try:
        with _inside(folder):
            names = [name for name in os.listdir(".") if name.endswith(SUFFIX)]
            names.sort(key=lambda name: -os.stat(name).st_mtime)
            return next(filter(None, map(_connect, names)), None)
    except OSError:
        return None


def is_listening(port: int) -> bool:
    """Returns whether something of this machine listens on the port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=CONNECT_SECONDS):
            return True
    except OSError:
        return False


def is_same_user(connection: socket.socket) -> bool:
    """Returns whether the process on the other side is of this user, or the system does not tell
    it.
    """
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, option, 12)
    user = int.from_bytes(credentials[4:8], sys.byteorder)  # behind the process, before the group
    return user == os.geteuid()


def send(connection: socket.socket, message: "dict[str, Any]", until: float) -> None:
    """Sends a message; raises `OSError` if that takes longer than until the moment."""
    import json

    content = json.dumps(message).encode()
    connection.settimeout(_seconds_to(until))
    connection.sendall(len(content).to_bytes(LENGTH_BYTES, "big") + content)


def receive(connection: socket.socket, until: float) -> "dict[str, Any] | None":
    """Returns a message, or None if the other side closed the connection.

    Raises `OSError` if that takes longer than until the moment, and `ValueError` for what is no
    message.
    """
    import json

    length = int.from_bytes(_read(connection, LENGTH_BYTES, until), "big")
    content = _read(connection, min(length, MOST_BYTES), until)
    message = json.loads(content) if content else None
    return message if isinstance(message, dict) else None


def _read(connection: socket.socket, count: int, until: float) -> bytes:
    """Returns so many bytes; none if the connection ends earlier."""
    content = bytearray()
    while len(content) < count:
        connection.settimeout(_seconds_to(until))
        chunk = connection.recv(count - len(content))
        if not chunk:
            return b""
        content += chunk
    return bytes(content)


def _seconds_to(until: float) -> float:
    return max(until - time.monotonic(), 0.001)


@contextmanager
def _inside(folder: str) -> "Iterator[None]":
    """Makes the folder the working folder: the path of a socket may have a hundred characters
    only.
    """
    previous = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        yield
    finally:
        os.fchdir(previous)
        os.close(previous)


def _connect(name: str) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(CONNECT_SECONDS)
    try:
        connection.connect(name)
        if is_same_user(connection):
            return connection
    except ConnectionRefusedError:
        os.unlink(name)
    except OSError:
        pass  # it is busy, or deleted
    connection.close()
    return None


def _has_ended(name: str) -> bool:
    """Returns whether the process of the socket has ended."""
    try:
        os.kill(int(name.removesuffix(SUFFIX)), 0)  # only checks that it runs
    except (ProcessLookupError, ValueError, OverflowError):
        return True
    except PermissionError:
        return False
    return False
