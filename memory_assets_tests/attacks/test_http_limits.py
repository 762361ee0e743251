"""The rules of the HTTP servers against web pages, floods and silent connections.

What is not meant for this server is refused before anything reads it: a Host that is no host (400) or another's (403), a request that
a browser marks as coming from another site (403), any other request of a browser without the header that pages cannot send (403),
addresses, questions and bodies that are too long (413, 414). A few requests are answered at a time, a few wait, the others get 503
with Retry-After. Requests whose client has gone are cancelled, and silent connections end.
"""

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from memory_assets.interfaces import dispatcher, guard
from memory_assets.interfaces.guard import MOST_AT_ONCE, MOST_WAITING, Guard, limited_protocol
from memory_assets.interfaces.http import LONGEST_QUESTION, application
from memory_assets_tests.http_server import served

Answered = tuple[int, dict[bytes, bytes], bytes]


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with 200."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


async def ask(
    guard: Guard, gone: asyncio.Event | None = None, path: str = "/recall", **headers: str
) -> Answered:
    """Returns status, headers and body of the guard's answer; the client goes away when `gone` is set."""
    given = {
        "host": "127.0.0.1:3100",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }  # fmt: skip
    asked, sent = (
        iter([{"type": "http.request", "body": b"", "more_body": False}]),
        list[dict[str, Any]](),
    )

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
    return (
        sent[0]["status"],
        dict(sent[0]["headers"]),
        b"".join(one.get("body", b"") for one in sent[1:]),
    )


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "["}, 400),
        ({"host": "[::1"}, 400),
        *(({"host": f"{name}evil.example"}, 403) for name in ("", "127.0.0.1.", "localhost.")),
        *(
            ({"origin": page}, 403)
            for page in ("https://evil.example", "http://[broken", "file://")
        ),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
    ],
)
def test_only_what_is_meant_for_this_server_is_answered(
    headers: dict[str, str], status: int
) -> None:
    """Also beside the header that pages cannot send, and on pages for people."""
    guard = Guard(echo, "127.0.0.1", pages=["/"])
    for more in ({}, {"x_memory_request": "1"}, {"path": "/"}):
        answered = asyncio.run(ask(guard, None, **headers, **more))
        assert answered[0] == status
        assert status == 200 or json.loads(answered[2])["ok"] is False


BROWSERS = {
    "user agent": {
        "user_agent": "Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) AppleWebKit/605.1.15",
        "accept": "*/*",
    },
    "image": {"accept": "image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"},
    "document": {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
    "style sheet": {"accept": "text/css,*/*;q=0.1"},
    "sound": {"accept": "audio/webm,audio/ogg,audio/*;q=0.9,*/*;q=0.5"},
    "referer": {"referer": "https://evil.example/"},
    "origin": {"origin": "http://127.0.0.1:3100"},
    "origin at another port": {"origin": "http://localhost:5173"},
    "cookie": {"cookie": "session=1"},
    "typed address": {"sec_fetch_site": "none"},
    "page of the same origin": {"sec_fetch_site": "same-origin"},
    "mode": {"sec_fetch_mode": "no-cors"},
    "destination": {"sec_fetch_dest": "image"},
    "client hint": {"sec_ch_ua_mobile": "?0"},
    "navigation": {"upgrade_insecure_requests": "1"},
}


@pytest.mark.parametrize("sign", BROWSERS)
def test_every_sign_of_a_browser_needs_the_header_that_pages_cannot_send(sign: str) -> None:
    guard, headers = Guard(echo, "127.0.0.1", pages=["/"]), BROWSERS[sign]
    status, _, body = asyncio.run(ask(guard, None, **headers))
    assert (status, "`X-Memory-Request: 1`" in json.loads(body)["error"]["message"]) == (403, True)
    assert asyncio.run(ask(guard, None, **headers, x_memory_request="1"))[0] == 200
    assert asyncio.run(ask(guard, None, path="/", **headers))[0] == 200


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
    monkeypatch.setattr(guard, "ARRIVAL_SECONDS", 0.05)

    async def trickle() -> int:
        sent = list[dict[str, Any]]()

        async def never() -> Any:
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(dict(message))

        scope = {
            "type": "http",
            "headers": [(b"host", b"127.0.0.1")],
            "raw_path": b"/",
            "query_string": b"",
        }
        await Guard(echo, "127.0.0.1")(scope, never, send)
        return sent[0]["status"]

    assert asyncio.run(trickle()) == 408


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(guard, "ARRIVAL_SECONDS", 0.2)
    monkeypatch.setattr(dispatcher, "ask", lambda *_: {"results": []})
    with served(application("127.0.0.1"), http=limited_protocol()) as address:
        yield address


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost:5173", "null"])
def test_a_browser_that_asks_whether_a_page_may_send_the_header_is_refused(
    address: str, origin: str
) -> None:
    wanted = {
        "origin": origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "x-memory-request",
    }
    for path in ("/recall", "/", "/openapi.json"):
        answer = httpx.options(address + path, headers=wanted)
        assert answer.status_code in (403, 405)
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_a_browser_opens_the_pages_for_people_and_nothing_else(address: str) -> None:
    browser = {
        "user-agent": "Mozilla/5.0",
        "accept": "text/html,*/*;q=0.8",
        "sec-fetch-site": "none",
        "sec-fetch-mode": "navigate",
    }
    statuses = [
        httpx.get(address + path, headers=browser).status_code
        for path in ("/", "/openapi.json", "/status")
    ]
    assert statuses == [200, 200, 403]
    assert (
        httpx.get(f"{address}/status", headers={**browser, "x-memory-request": "1"}).status_code
        == 200
    )


def test_a_later_request_of_a_connection_has_the_same_time_and_size(address: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    whole = f"GET /recall?question=deploy HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    large = whole.replace(b"\r\n\r\n", b"\r\nX-Large: " + b"x" * 16_384 + b"\r\n\r\n")
    with socket.create_connection((host, int(port)), timeout=5) as kept:
        for _ in range(3):
            kept.sendall(whole)
            assert kept.recv(4_096).startswith(b"HTTP/1.1 200")
        for byte in b"GET /recall HTTP/1.1\r\nHost: 127.0.0.1":
            time.sleep(0.05)
            try:
                kept.sendall(bytes([byte]))
            except OSError:
                break
        else:
            pytest.fail("headers may arrive as slowly as a client likes")
    with socket.create_connection((host, int(port)), timeout=5) as kept:
        kept.sendall(whole)
        assert kept.recv(4_096).startswith(b"HTTP/1.1 200")
        kept.sendall(large)
        assert kept.recv(4_096)[:12] in (b"HTTP/1.1 431", b"HTTP/1.1 400")


def test_half_open_connections_end_and_long_questions_are_refused_clearly(address: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    for begun in (b"", b"GET /recall HTTP/1.1\r\nHost: 127"):
        with socket.create_connection((host, int(port)), timeout=5) as silent:
            silent.sendall(begun)
            assert silent.recv(100) == b"" or begun
    assert httpx.get(f"{address}/recall", params={"question": "deploy"}).status_code == 200
    large = httpx.get(f"{address}/recall", headers={"x-large": "x" * 16_384})
    assert large.status_code in (431, 400)  # h11's own limit, if they come in pieces
    long = httpx.post(f"{address}/recall", json={"question": "x" * (LONGEST_QUESTION + 1)})
    assert (long.status_code, "limit is 16,384" in long.json()["error"]["message"]) == (413, True)
    assert httpx.get(f"{address}/recall", params={"question": "x" * 9_000}).status_code == 414
