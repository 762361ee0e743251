"""Shared by the HTTP servers: the next free port, and a guard against DNS rebinding and cross-origin requests.

A web page can make a browser send requests to a port of this machine, under a host name that resolves to it. The guard refuses
requests with a foreign Host or Origin header before anything reads them.
"""

import contextlib
import ipaddress
import signal
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from memory_assets.errors import QuestionError, StoreError

LOOPBACK = ("127.0.0.1", "::1", "localhost")
MOST_PORTS = 100

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens on the port or the next free one."""
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


def free_port(port: int) -> int:
    """Returns the port, or the next one of this machine that nothing listens on."""
    with listen(LOOPBACK[0], port) as listening:
        return listening.getsockname()[1]


def address_of(listening: socket.socket) -> str:
    """Returns the address for clients on this machine."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(app: App, listening: socket.socket) -> int:
    """Serves the application on the socket until the process is stopped; returns the exit code."""
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=5)
    signal.signal(signal.SIGTERM, _stop)  # uvicorn closes its connections, then raises the signal again
    with contextlib.suppress(KeyboardInterrupt, SystemExit):
        uvicorn.Server(config).run(sockets=[listening])
    return 0


def _stop(*_: object) -> None:
    raise SystemExit


class Guard:
    """Passes on requests that name this machine and do not come from a foreign web page."""

    def __init__(self, app: App, host: str) -> None:
        self._app = app
        self._host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or answers it with 403."""
        if scope["type"] == "http" and (reason := self._refusal(dict(scope["headers"]))):
            from starlette.responses import Response

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
        with contextlib.suppress(ValueError):
            if not origin or self._is_ours(urlsplit(origin).hostname):
                return ""
        return f"This server does not answer pages of {origin[:80]!r}."

    def _is_ours(self, name: str | None) -> bool:
        """Returns whether a name can only mean this machine: loopback, the given host or, beyond loopback, any IP address."""
        if name in LOOPBACK or name == self._host:
            return True
        with contextlib.suppress(ValueError):
            return self._host not in LOOPBACK and bool(ipaddress.ip_address(name or ""))
        return False
