"""A proxy that records every byte that a client sends to a server, and can cut the line."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from memory_assets.extras.sharing.pieces import Piece


@dataclass
class Recorder:
    """What went through so far."""

    url: str = ""
    sent: list[bytes] = field(default_factory=list)
    """The bytes of each connection."""
    most_connections: int = 10**9
    """Later connections are cut before the server sees them."""

    def bodies(self) -> list[dict[str, Any]]:
        """Returns the bodies of the requests, as JSON."""
        found = [raw.partition(b"\r\n\r\n")[2] for raw in self.sent]
        return [json.loads(body) for body in found if body]

    def contents(self) -> list[bytes]:
        """Returns the decompressed content of all pieces."""
        return [Piece(**piece).read() for body in self.bodies() for piece in body["pieces"]]

    def everything(self) -> bytes:
        """Returns what was sent, as it was and decompressed."""
        return b"".join([*self.sent, *self.contents()])


@contextmanager
def recording(upstream: str) -> Iterator[Recorder]:
    """Yields a recorder in front of the server."""
    made, listening = Recorder(), socket.create_server(("127.0.0.1", 0))
    made.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    there = urlsplit(upstream)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                if len(made.sent) >= made.most_connections:
                    client.close()
                    continue
                made.sent.append(b"")
                server = socket.create_connection((str(there.hostname), int(there.port or 0)))
                number = len(made.sent) - 1
                threading.Thread(target=copy, args=(client, server, number), daemon=True).start()
                threading.Thread(target=copy, args=(server, client, None), daemon=True).start()

    def copy(source: socket.socket, target: socket.socket, number: int | None) -> None:
        with contextlib.suppress(OSError):
            while received := source.recv(65_536):
                if number is not None:
                    made.sent[number] += received
                target.sendall(received)
            target.shutdown(socket.SHUT_WR)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield made
    finally:
        listening.close()
