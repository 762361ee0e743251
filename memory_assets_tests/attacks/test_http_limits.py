"""The rules of the HTTP servers against pages of other sites, floods and connections that say nothing.

What is not meant for this server is refused before anything reads it: a Host that is no host (400) or another's (403), a request that
a browser marks as coming from another site (403), addresses, questions and bodies that are too long (413, 414). A few requests
are answered at a time, a few wait, the others get 503 with Retry-After. Nobody's request is worked on, and silence ends.
"""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import uvicorn

from memory_assets.interfaces import dispatcher, loopback
from memory_assets.interfaces.http import LONGEST_QUESTION, application
from memory_assets.interfaces.loopback import MOST_AT_ONCE, MOST_WAITING, Guard, address_of, limited_protocol, listen

Answered = tuple[int, dict[bytes, bytes], bytes]


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with 200."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


async def ask(guard: Guard, gone: asyncio.Event | None = None, **headers: str) -> Answered:
    """Returns status, headers and body of the guard's answer; the client goes away when `gone` is set."""
    given = {"host": "127.0.0.1:3100", **{name.replace("_", "-"): value for name, value in headers.items()}}
    scope = {
        "type": "http", "method": "GET", "path": "/recall", "raw_path": b"/recall", "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }  # fmt: skip
    asked, sent = iter([{"type": "http.request", "body": b"", "more_body": False}]), list[dict[str, Any]]()

    async def receive() -> dict[str, Any]:
        if message := next(asked, None):
            return message
        await (gone or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(dict(message))

    await guard(scope, receive, send)
    if not sent:
        return 0, {}, b""
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(one.get("body", b"") for one in sent[1:])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "["}, 400),
        ({"host": "[::1"}, 400),
        ({"host": "evil.example"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:3100"}, 200),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "same-origin"}, 200),
        ({"sec_fetch_site": "none"}, 200),
    ],
)
def test_only_what_is_meant_for_this_server_is_answered(headers: dict[str, str], status: int) -> None:
    answered = asyncio.run(ask(Guard(echo, "127.0.0.1"), None, **headers))
    assert answered[0] == status
    assert status == 200 or json.loads(answered[2])["ok"] is False


def test_a_flood_gets_503_with_a_time_to_come_back_and_the_others_their_answers() -> None:
    async def flood() -> list[Answered]:
        go, running = asyncio.Event(), list[int]()

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            running.append(1)
            assert len(running) <= MOST_AT_ONCE
            await go.wait()
            running.pop()
            await echo(scope, receive, send)

        guard = Guard(slow, "127.0.0.1")
        asked = [asyncio.ensure_future(ask(guard)) for _ in range(MOST_AT_ONCE + MOST_WAITING + 5)]
        await asyncio.sleep(0.05)
        go.set()
        return await asyncio.gather(*asked)

    answered = asyncio.run(flood())
    statuses = [status for status, _, _ in answered]
    assert (statuses.count(200), statuses.count(503)) == (MOST_AT_ONCE + MOST_WAITING, 5)
    assert all(headers[b"retry-after"] == b"2" for status, headers, _ in answered if status == 503)


def test_a_request_is_cancelled_when_its_client_has_gone_running_or_waiting() -> None:
    async def abandon() -> tuple[int, int]:
        begun, cancelled = list[int](), list[int]()

        async def endless(scope: Any, receive: Any, send: Any) -> None:
            begun.append(1)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(1)
                raise

        guard, gone = Guard(endless, "127.0.0.1"), asyncio.Event()
        asked = [asyncio.ensure_future(ask(guard, gone)) for _ in range(MOST_AT_ONCE + 3)]
        await asyncio.sleep(0.05)
        gone.set()
        await asyncio.wait_for(asyncio.gather(*asked), 5)
        return len(begun), len(cancelled)

    begun, cancelled = asyncio.run(abandon())
    assert begun == cancelled >= MOST_AT_ONCE


def test_a_body_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "ARRIVAL_SECONDS", 0.05)

    async def trickle() -> int:
        sent = list[dict[str, Any]]()

        async def never() -> Any:
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(dict(message))

        scope = {"type": "http", "headers": [(b"host", b"127.0.0.1")], "raw_path": b"/", "query_string": b""}
        await Guard(echo, "127.0.0.1")(scope, never, send)
        return sent[0]["status"]

    assert asyncio.run(trickle()) == 408


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(loopback, "ARRIVAL_SECONDS", 0.2)
    monkeypatch.setattr(dispatcher, "ask", lambda *_: {"results": []})
    listening = listen("127.0.0.1", 3300)
    server = uvicorn.Server(uvicorn.Config(application("127.0.0.1"), log_level="error", http=limited_protocol()))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield address_of(listening)
    server.should_exit = True
    thread.join(5)


def test_half_open_connections_end_and_long_questions_are_refused_clearly(address: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    for begun in (b"", b"GET /recall HTTP/1.1\r\nHost: 127"):
        with socket.create_connection((host, int(port)), timeout=5) as silent:
            silent.sendall(begun)
            assert silent.recv(100) == b"" or begun
    assert httpx.get(f"{address}/recall", params={"question": "deploy"}).status_code == 200
    long = httpx.post(f"{address}/recall", json={"question": "x" * (LONGEST_QUESTION + 1)})
    assert (long.status_code, "limit is 16,384" in long.json()["error"]["message"]) == (413, True)
    assert httpx.get(f"{address}/recall", params={"question": "x" * 9_000}).status_code == 414
