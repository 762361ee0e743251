"""What servers on this machine share: the next free port, and a guard that turns away requests meant for somebody else.

A web page can make a browser send requests to a port of this machine, under a name of its own that it has pointed here. Such a
request names a strange host or comes from a strange origin, and is refused before anything reads it.
"""

import ipaddress
import signal
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from memory_assets.errors import StoreError

LOOPBACK = ("127.0.0.1", "::1", "localhost")
MOST_PORTS = 100

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens on the wanted port, or the next one that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for wanted in range(port, min(port + MOST_PORTS, 65_536)):
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, wanted))
            made.listen(128)
            return made
        except socket.gaierror as error:
            made.close()
            raise StoreError(f"There is no address '{host}' on this machine: {error}. Leave --host out.") from error
        except OSError:
            made.close()
    raise StoreError(f"No port of {host} between {port} and {port + MOST_PORTS - 1} is free; choose one with --port.")


def address_of(listening: socket.socket) -> str:
    """Returns the address that a client on this machine uses."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(app: App, listening: socket.socket) -> int:
    """Serves the application on the socket until the process is told to stop; returns the exit code."""
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=5)
    signal.signal(signal.SIGTERM, _stop)  # uvicorn closes its connections, then hands the signal on
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except (KeyboardInterrupt, SystemExit):
        return 0
    return 0


def _stop(*_: object) -> None:
    raise SystemExit


class Guard:
    """Lets requests through that name this machine and come from no web page of somebody else."""

    def __init__(self, app: App, host: str) -> None:
        self._app = app
        self._host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or answers it with 403."""
        if scope["type"] == "http" and (reason := self._refusal(dict(scope["headers"]))):
            from starlette.responses import Response

            from memory_assets.errors import QuestionError
            from memory_assets.interfaces.envelope import failed, to_json

            body = to_json(failed(QuestionError(reason)))
            await Response(body, 403, media_type="application/json")(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, headers: dict[bytes, bytes]) -> str:
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if not self._is_ours(urlsplit(f"//{host}").hostname):
            return f"This server does not answer to the name {host[:80]!r}; ask for 127.0.0.1."
        if origin and not self._is_ours(_host_of(origin)):
            return f"This server does not answer pages of {origin[:80]!r}."
        return ""

    def _is_ours(self, name: str | None) -> bool:
        """Whether a name can only mean this machine: loopback, or, where others may come in, an address or the name given."""
        if name in LOOPBACK or name == self._host:
            return True
        return self._host not in LOOPBACK and _is_address(name or "")


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).hostname
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
