"""Runs the HTTP servers behind a guard against web pages and against too many requests.

A web page can make a browser send requests to a port of this machine, under a host name that
resolves to it. Before anything reads a request, the guard refuses it in three cases: its Host or
Origin header names another machine; the browser marks it as coming from another site; it looks like
any browser's (`browsers.py`), and is not for a page that people open.

The guard answers a few requests at a time, lets a few more wait, and refuses further ones with 503.
It cancels a request whose client disconnects, and refuses one that does not arrive within seconds.
"""

import asyncio
import contextlib
import ipaddress
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Collection, MutableMapping, Sequence
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from memory_assets.errors import QuestionError
from memory_assets.interfaces import browsers
from memory_assets.interfaces.ports import LOOPBACK

MOST_AT_ONCE = 4
"""Requests that are answered at the same time; each takes a processor and memory of the index."""

MOST_WAITING = 16
"""Requests that wait for their turn at the same time."""

RETRY_SECONDS = 2
"""After this time a client may ask again whose request was refused with 503."""

WAIT_SECONDS = 30.0
"""How long a request may wait for its turn."""

ARRIVAL_SECONDS = 10.0
"""Within this time the whole request must arrive."""

LONGEST_BODY = 4 * 1024 * 1024
LONGEST_HEADERS = 16 * 1024
LONGEST_ADDRESS = 8 * 1024
"""These three in bytes."""

MOST_CONNECTIONS = 64
"""Open connections, so that clients that connect and send nothing cannot use up the server."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def run(
    app: App,
    listener: socket.socket,
    tls: tuple[str, str] | None = None,
    most_connections: int = MOST_CONNECTIONS,
) -> int:
    """Serves the application on the socket until the process is stopped; returns the exit code.

    `tls` names the files of the certificate and of its key.
    """
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=5,
        http=limited_protocol(most_connections),
        ssl_certfile=tls[0] if tls else None,
        ssl_keyfile=tls[1] if tls else None,
        h11_max_incomplete_event_size=LONGEST_HEADERS,
    )
    # uvicorn closes its connections, then raises the signal again for the handler set here.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with contextlib.suppress(KeyboardInterrupt, SystemExit):
        uvicorn.Server(config).run(sockets=[listener])
    return 0


def limited_protocol(most_connections: int = MOST_CONNECTIONS) -> "type[asyncio.Protocol]":
    """Returns uvicorn's protocol with limits on open connections and on silent ones."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class LimitedProtocol(H11Protocol):
        """Closes connections beyond the limit, and those with a request whose headers are late."""

        _arrival: asyncio.TimerHandle | None = None
        """Closes the connection; runs while the headers of a request are awaited."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            super().connection_made(transport)
            if len(self.connections) > most_connections:
                transport.abort()
            self._await_headers()

        def data_received(self, data: bytes) -> None:
            """Reads the bytes; where they end no headers, these are awaited for a while."""
            super().data_received(data)
            if self.cycle is None or self.cycle.response_complete:
                self._await_headers()
            else:
                self._stop_waiting()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _await_headers(self) -> None:
            if self._arrival is None:
                self._arrival = self.loop.call_later(ARRIVAL_SECONDS, self.transport.close)

        def _stop_waiting(self) -> None:
            if self._arrival is not None:
                self._arrival.cancel()
            self._arrival = None

    return LimitedProtocol


NOT_FOR_BROWSERS = (
    "This server answers programs, not browsers. A program sends the header "
    f"`{browsers.OWN_HEADER}: 1`."
)
HOW_TO_NAME = "A shared server answers to a name if it is started with `--public-name NAME`."


class Guard:
    """Passes on requests that name this machine and do not come from a web page, a few at a time.

    `pages` are the paths that people open in a browser; for these, only requests from pages of
    other sites are refused; with `is_for_browsers` every path is one. `names` are further host
    names under which clients reach this server.
    """

    def __init__(
        self,
        app: App,
        host: str,
        *,
        pages: Collection[str] = (),
        names: Collection[str] = (),
        most_waiting: int = MOST_WAITING,
        is_for_browsers: bool = False,
    ) -> None:
        self._app = app
        self._host = host
        self._names = names
        self._most_waiting = most_waiting
        self._pages = pages
        self._is_for_browsers = is_for_browsers
        self._open_count = 0
        self._turns: asyncio.Semaphore | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or answers it with 400, 403, 414, 431 or 503."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, reason = self._refusal(scope)
        if not reason and self._open_count >= MOST_AT_ONCE + self._most_waiting:
            status = 503
            reason = f"Too many requests are waiting; ask again in {RETRY_SECONDS} seconds."
        if reason:
            await _refuse(scope, receive, send, status, reason)
            return
        self._turns = self._turns or asyncio.Semaphore(MOST_AT_ONCE)
        self._open_count += 1
        try:
            await self._answer(self._turns, scope, receive, send)
        finally:
            self._open_count -= 1

    async def _answer(
        self, turns: "asyncio.Semaphore", scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answers the request in its turn, unless it arrives too late or its client disconnects."""
        try:
            messages = await asyncio.wait_for(read_all(receive), ARRIVAL_SECONDS)
        except TimeoutError:
            reason = f"The request did not arrive within {ARRIVAL_SECONDS:.0f} seconds."
            await _refuse(scope, receive, send, 408, reason)
            return
        answer = self._answer_in_turn(turns, scope, replay(messages, receive), send)
        await _answer_while_connected(answer, messages, receive)

    async def _answer_in_turn(
        self, turns: "asyncio.Semaphore", scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            await asyncio.wait_for(turns.acquire(), WAIT_SECONDS)
        except TimeoutError:
            reason = f"Other requests take long; ask again in {RETRY_SECONDS} seconds."
            await _refuse(scope, receive, send, 503, reason)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            turns.release()

    def _refusal(self, scope: Scope) -> tuple[int, str]:
        """Returns the status and the reason for refusing a request; the reason is empty if it may
        pass.
        """
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if len(scope.get("raw_path", b"")) + len(scope.get("query_string", b"")) > LONGEST_ADDRESS:
            limit = f"The address is longer than {LONGEST_ADDRESS:,} bytes"
            return 414, f"{limit}; send a long question with POST."
        if sum(map(len, chain.from_iterable(scope["headers"]))) > LONGEST_HEADERS:
            return 431, f"The headers are longer than {LONGEST_HEADERS:,} bytes."
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            return 400, f"The Host header {host[:80]!r} names no host."
        if not self._is_own_name(name):
            refusal = f"This server does not answer to the name {host[:80]!r}"
            return 403, f"{refusal}; ask for 127.0.0.1. {HOW_TO_NAME}"
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            return 403, "This server does not answer web pages of other sites."
        if origin and not self._is_own_origin(origin):
            return 403, f"This server does not answer pages of {origin[:80]!r}."
        is_page = self._is_for_browsers or scope.get("path") in self._pages
        is_allowed = is_page or browsers.has_own_header(scope["headers"])
        if browsers.is_from_browser(scope["headers"]) and not is_allowed:
            return 403, NOT_FOR_BROWSERS
        return 0, ""

    def _is_own_origin(self, origin: str) -> bool:
        with contextlib.suppress(ValueError):
            return self._is_own_name(urlsplit(origin).hostname)
        return False

    def _is_own_name(self, name: str | None) -> bool:
        """Returns whether a host name can only mean this server.

        That is loopback, the host that it listens on, or one of its names. A server that listens
        beyond loopback also answers to any IP address: only names can be made to point here.
        """
        if name in LOOPBACK or name == self._host or name in self._names:
            return True
        with contextlib.suppress(ValueError):
            return self._host not in LOOPBACK and bool(ipaddress.ip_address(name or ""))
        return False


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, reason: str) -> None:
    from starlette.responses import Response

    from memory_assets.interfaces.envelope import failure_envelope, to_json

    headers = {"Retry-After": str(RETRY_SECONDS)} if status == 503 else {}
    body = to_json(failure_envelope(QuestionError(reason)))
    await Response(body, status, headers, media_type="application/json")(scope, receive, send)


async def read_all(receive: Receive) -> list[MutableMapping[str, Any]]:
    """Returns the ASGI messages with the request's body.

    Stops at `LONGEST_BODY`; then the last message has `more_body`.
    """
    messages = [await receive()]
    size = len(messages[0].get("body", b""))
    while messages[-1].get("more_body") and size <= LONGEST_BODY:
        messages.append(await receive())
        size += len(messages[-1].get("body", b""))
    return messages


def replay(messages: Sequence[MutableMapping[str, Any]], receive: Receive) -> Receive:
    """Returns a `receive` that repeats these messages, then passes on further ones."""
    remaining = list(messages)

    async def receive_again() -> MutableMapping[str, Any]:
        return remaining.pop(0) if remaining else await receive()

    return receive_again


async def _answer_while_connected(
    answer: Awaitable[None], messages: Sequence[MutableMapping[str, Any]], receive: Receive
) -> None:
    """Waits for the answer, and cancels it when the client closes the connection."""
    answering = asyncio.ensure_future(answer)
    if messages[-1].get("more_body"):
        await answering  # which itself receives the other messages
        return
    disconnect = asyncio.ensure_future(_wait_for_disconnect(receive))
    await asyncio.wait((answering, disconnect), return_when=asyncio.FIRST_COMPLETED)
    for task in (answering, disconnect):
        if not task.done():
            task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await answering


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
