"""A shared server: 401 without a valid token, 403 beyond its scopes, 429 beyond its writes, and a line in the log for each call.

The same holds over HTTP and for the official MCP client, for two people at once, and under the load of many.
"""

import asyncio
import json
import stat
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pytest import MonkeyPatch
from starlette.testclient import TestClient

from memory_assets.errors import ScopeError
from memory_assets.extras.sharing import tokens as access_tokens
from memory_assets.extras.sharing.access import SCOPE_OF, AuditLog, Call, Grant, WriteLimit
from memory_assets.extras.sharing.tokens import SCOPES, AccessTokens
from memory_assets.interfaces.http import application
from memory_assets.interfaces.mcp import http as mcp_http
from memory_assets.interfaces.mcp.protocol import Protocol
from memory_assets.interfaces.verbs import VERBS
from memory_assets.memory import MemoryAgent
from memory_assets.store import service_log
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store
from memory_assets_tests.bench.shared import ask
from memory_assets_tests.extras.sharing.team_store import (
    BLOG,
    BO,
    MIRA,
    PREFERENCE,
    SHOP,
    bearing,
    shared_access,
    team_store,
    token_of,
)
from memory_assets_tests.factories import START
from memory_assets_tests.http_server import served
from memory_assets_tests.small_store import FACT, PROPOSAL

ARCHIVED = {"question": "what is archived in a database", "corpus": ["memories"]}


@pytest.fixture
def store(monkeypatch: MonkeyPatch) -> Store:
    return team_store(monkeypatch)


def client(
    token: str = "", writes: int = 30, called: str = "127.0.0.1", names: tuple[str, ...] = ()
) -> TestClient:
    shared = shared_access(writes)
    app = application("127.0.0.1", access=replace(shared, names=names))
    return TestClient(
        app, base_url=f"http://{called}:3100", headers=bearing(token) if token else {}
    )


def test_a_request_without_a_valid_token_is_401(store: Store):
    token_of(MIRA)
    given = [b"", b"Bearer ", b"Bearer memtok_wrong", b"Basic bWlyYTptaXJh", b"Bearer \xff"]
    with client() as http:
        for path in ("/recall?question=uv", "/", "/openapi.json", "/nowhere"):
            for value in given:
                answer = http.get(path, headers={b"Authorization": value} if value else {})
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"].startswith("Bearer")
                assert (answer.json()["error"]["type"], FACT in answer.text) == (
                    "TokenError",
                    False,
                )


def test_a_revoked_token_is_401_on_the_running_server_at_once(store: Store):
    token = token_of(MIRA)
    with client(token) as http:
        assert http.get("/status").status_code == 200
        access_tokens.revoke(MemoryAgent().store, f"laptop of {MIRA}", now=store.settings.clock())
        assert http.get("/status").status_code == 401


def test_a_damaged_file_of_tokens_is_503_and_lets_nobody_in(store: Store):
    token = token_of(MIRA)
    (store.root / "tokens.json").write_text("{")
    with client(token) as http:
        answer = http.get("/status")
    assert (answer.status_code, answer.json()["error"]["type"]) == (503, "StoreError")


CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "recall": ("read", {"question": "uv"}, "GET"),
    "answer": ("read", {"question": "uv"}, "GET"),
    "explain": ("read", {"target": FACT}, "GET"),
    "triggers": ("read", {}, "GET"),
    "brief": ("read", {}, "GET"),
    "status": ("read", {}, "GET"),
    "remember": ("write", {"text": "The cellar has two doors."}, "POST"),
    "feedback": ("write", {"memory_ids": ["mem_0f3a5c1e"], "used": True}, "POST"),
    "review": ("review", {}, "GET"),
    "decide": ("review", {"decision": "approve", "proposals": ["p-20260101-001"]}, "POST"),
    "forget": ("review", {"target": "mem_ffffffff"}, "POST"),
}


def test_every_verb_needs_its_scope(store: Store):
    tokens = {scope: token_of(MIRA, scopes=[scope], name=scope) for scope in SCOPES}
    with client() as http:
        for verb, (needed, given, method) in CALLS.items():
            sent: dict[str, Any] = {"params": given} if method == "GET" else {"json": given}
            for scope, token in tokens.items():
                answer = http.request(method, f"/{verb}", headers=bearing(token), **sent)
                if scope == needed:
                    assert answer.status_code in (200, 404), (verb, answer.text)
                else:
                    assert (answer.status_code, answer.json()["error"]["type"]) == (
                        403,
                        "ScopeError",
                    ), verb


def test_no_token_opens_a_verb_without_a_scope(store: Store):
    token = token_of(MIRA, scopes=list(SCOPES))
    closed = [verb for verb in VERBS if verb.name not in SCOPE_OF]
    with client(token) as http:
        for verb in closed:
            for sent in ({}, dict(verb.example)):
                answer = http.post(f"/{verb.name}", json=sent)
                assert (answer.status_code, answer.json()["error"]["type"]) == (403, "ScopeError")
    grant = Grant(AccessTokens(store.root).every()[0], WriteLimit(30))
    for name in ("slog", "restore", "scan", "__init__"):
        with pytest.raises(ScopeError, match="no token opens it"):
            grant.agent_for(name)


def test_a_write_too_many_is_429_and_reading_goes_on(store: Store):
    token = token_of(MIRA, scopes=["read", "write"])
    with client(token, writes=2) as http:
        written = [
            http.post("/remember", json={"text": f"Door {number} of the cellar is red."})
            for number in range(3)
        ]
        assert [one.status_code for one in written] == [200, 200, 429]
        assert 1 <= int(written[2].headers["retry-after"]) <= 60
        assert written[2].json()["error"]["type"] == "TooManyWritesError"
        assert http.get("/recall", params={"question": "uv"}).status_code == 200
        other = token_of(BO, scopes=["write"])
        assert (
            http.post(
                "/remember", json={"text": "The attic is dry."}, headers=bearing(other)
            ).status_code
            == 200
        )


def test_every_call_is_logged_without_its_texts(store: Store):
    token = token_of(BO, "shop", ["read", "write"], name="ci")
    with client(token) as http:
        http.get("/recall", params={"question": "a very secret question"})
        http.post("/remember", json={"text": "A secret fact about doors."})
        http.get("/review")
        http.get("/status", headers=bearing("memtok_wrong"))
    path = store.root / "logs" / "audit.jsonl"
    content = path.read_text()
    lines = [json.loads(line) for line in content.splitlines()]
    assert list(lines[0]) == ["at", "token", "person", "name", "verb", "status", "ms"]
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    made = AccessTokens(store.root).every()[0]
    assert [
        (one["token"], one["person"], one["name"], one["verb"], one["status"]) for one in lines
    ] == [
        (made.id, BO, "ci", "recall", 200),
        (made.id, BO, "ci", "remember", 200),
        (made.id, BO, "ci", "review", 403),
        ("", "", "", "status", 401),
    ]
    assert "secret" not in content and token not in content


def test_a_shared_server_answers_to_the_names_of_its_proxy_only(store: Store):
    token = token_of(MIRA)
    with client(token, called="memory.example", names=("memory.example",)) as http:
        assert http.get("/status").status_code == 200
    with client(token, called="memory.example") as http:
        assert http.get("/status").status_code == 403


def connect(url: str, token: str) -> Client:
    """Returns the official client with the token."""
    return Client(
        streamable_http_client(f"{url}/mcp", http_client=httpx2.AsyncClient(headers=bearing(token)))
    )


def mcp_application(writes: int = 30) -> Any:
    return mcp_http.application(Protocol(is_structured=True), "127.0.0.1", shared_access(writes))


def texts_of(result: Any) -> list[str]:
    return [one["text"] for one in result.structured_content["data"]["results"]]


def test_two_agents_share_facts_and_not_preferences_over_mcp(store: Store):
    mira, bo = token_of(MIRA, "shop", SCOPES), token_of(BO, "blog", ["read", "write"])

    async def talk(url: str) -> None:
        async with connect(url, mira) as first, connect(url, bo) as second:
            tools = [
                {one.name for one in (await each.list_tools()).tools} for each in (first, second)
            ]
            assert {"memory_decide", "memory_forget", "memory_review"} == tools[0] - tools[1]
            orders = [
                texts_of(await each.call_tool("memory_recall", ARCHIVED))
                for each in (first, second)
            ]
            assert [[text for text in one if text in (SHOP, BLOG)] for one in orders] == [
                [SHOP, BLOG],
                [BLOG, SHOP],
            ]
            own = [
                texts_of(await each.call_tool("memory_recall", {"question": "our preferences"}))
                for each in (first, second)
            ]
            assert own == [[PREFERENCE[MIRA]], [PREFERENCE[BO]]]
            read = await second.read_resource("memory://briefing")
            assert PREFERENCE[BO] in str(read) and PREFERENCE[MIRA] not in str(read)
            listed = [
                {str(one.uri) for one in (await each.list_resources()).resources}
                for each in (first, second)
            ]
            assert listed[0] - listed[1] == {"memory://review"}
            assert PROPOSAL in str(await first.read_resource("memory://review"))

    with served(mcp_application()) as url:
        asyncio.run(talk(url))


TOOL_CALL = (
    '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "%s", "arguments": %s}}'
)
HARMLESS = '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"name": "memory_status", "arguments": {}}, '


def written(name: str, arguments: dict[str, Any]) -> str:
    return TOOL_CALL % (name, json.dumps(arguments))


def with_number(number: str) -> Callable[[str, dict[str, Any]], bytes]:
    """Returns what writes the call with this number beside its parameters."""
    return lambda name, given: f'{{"extra": {number}, {written(name, given)[1:]}'.encode()


BODIES: dict[str, Callable[[str, dict[str, Any]], bytes]] = {
    "plain": lambda name, given: written(name, given).encode(),
    "NaN": with_number("NaN"),
    "Infinity": with_number("[-Infinity, Infinity]"),
    "NaN in the arguments": lambda name, given: (
        written(name, given).replace("}}}", ', "limit": NaN}}}').encode()
    ),
    "NaN in the meta": lambda name, given: (
        written(name, given).replace("}}}", '}, "_meta": {"x": NaN}}}').encode()
    ),
    "long number": with_number("9" * 400),
    "large exponent": with_number("1e999"),
    "half a surrogate": with_number(r'"\ud800"'),
    "control character": with_number('"\x01"'),
    "nested": with_number("[" * 190 + "]" * 190),
    "nested deeply": with_number("[" * 5_000 + "]" * 5_000),
    "duplicate keys": lambda name, given: (HARMLESS + written(name, given)[1:]).encode(),
    "duplicate keys, the other way": lambda name, given: (
        written(name, given)[:-1] + ", " + HARMLESS[1:-2] + "}"
    ).encode(),
    "duplicate names": lambda name, given: (
        written(name, given).replace('"name"', '"name": "memory_status", "name"').encode()
    ),
    "escaped name": lambda name, given: (
        written(name, given).replace("memory_", r"\u006demory_").encode()
    ),
    "other case": lambda name, given: written(name.upper(), given).encode(),
    "spaces": lambda name, given: written(f" {name} ", given).encode(),
    "batch": lambda name, given: f"[{HARMLESS[:-2]}}}, {written(name, given)}]".encode(),
    "notification": lambda name, given: written(name, given).replace('"id": 1, ', "").encode(),
    "UTF-8 with a mark": lambda name, given: written(name, given).encode("utf-8-sig"),
    "UTF-16": lambda name, given: written(name, given).encode("utf-16"),
    "UTF-32": lambda name, given: written(name, given).encode("utf-32"),
    "two values": lambda name, given: (written(name, given) * 2).encode(),
    "comment": lambda name, given: f"/* */{written(name, given)}".encode(),
    "empty": lambda name, given: b"",
}
TYPES = ("application/json", "application/json; charset=utf-16", "text/plain")


def sent(
    url: str, token: str, body: bytes, content_type: str = "application/json"
) -> httpx.Response:
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
        "Content-Type": content_type,
    }
    return httpx.post(f"{url}/mcp", content=body, headers={**bearing(token), **headers}, timeout=30)


def saved() -> int:
    return len(MemoryAgent().store.ledger.events())


def audited(store: Store) -> list[tuple[str, int]]:
    lines = [
        json.loads(line) for line in (store.root / "logs" / "audit.jsonl").read_text().splitlines()
    ]
    return [(one["verb"], one["status"]) for one in lines]


NOTE = {"text": "The attic has a beam of oak."}


def test_no_form_of_a_body_gives_a_token_more_than_its_scopes(store: Store):
    read, push = token_of(MIRA, scopes=["read"]), token_of(MIRA, scopes=["push"], name="push")
    before = saved()
    forbidden: list[tuple[str, str, dict[str, Any]]] = [
        (read, "memory_remember", NOTE),
        (read, "memory_review", {}),
        (read, "memory_forget", {"target": "mem_ffffffff", "apply": True}),
        (push, "memory_recall", ARCHIVED),
        (push, "memory_remember", NOTE),
    ]
    with served(mcp_application()) as url:
        for form, write in BODIES.items():
            for token, tool, given in forbidden:
                for content_type in TYPES if form in ("plain", "NaN") else TYPES[:1]:
                    answer = sent(url, token, write(tool, given), content_type)
                    texts = (SHOP, BLOG, PROPOSAL, "mem_ffffffff")
                    assert not [text for text in texts if text in answer.text], (form, tool)
                    assert answer.status_code < 500, (form, tool)
                    assert form != "plain" or answer.status_code in (403, 415, 400)
    assert saved() == before
    assert ("remember", 200) not in audited(store) and ("remember", 403) in audited(store)


@pytest.mark.parametrize(
    "form",
    "NaN,Infinity,NaN in the arguments,NaN in the meta,UTF-16,two values,empty".split(","),
)
def test_a_body_that_is_no_json_is_400(store: Store, form: str):
    body = BODIES[form]("memory_recall", ARCHIVED)
    with served(mcp_application()) as url:
        assert sent(url, token_of(MIRA, scopes=list(SCOPES)), body).status_code == 400
        assert sent(url, "memtok_wrong", body).status_code == 401
    with served(mcp_http.application(Protocol(), "127.0.0.1")) as url:
        assert sent(url, "none", body).status_code == 400


def test_many_clients_are_answered_or_asked_to_come_back(store: Store):
    """A small version of `make bench ROWS=shared`: no error of the server, and few are asked to come back."""
    with served(application("127.0.0.1", access=shared_access())) as url:
        statuses = [status for status, _ in ask(url, token_of(MIRA), clients=25, requests=100)]
    assert len(statuses) == 100 and set(statuses) <= {200, 503}
    assert statuses.count(503) <= 1


def test_the_reader_is_taken_from_the_token_and_not_from_the_request(store: Store):
    token = token_of(BO)
    with client(token) as http:
        answer = http.post(
            "/recall", json={"question": "our preferences", "person": MIRA, "profile": "deep"}
        )
        assert PREFERENCE[MIRA] not in answer.text
        assert http.post("/remember", json={"text": "x", "asker": MIRA}).status_code == 403


CALL = Call("3fa94c01", "Ada", "laptop", "recall", 200, 12)


def test_a_long_log_is_renamed_and_older_ones_go(monkeypatch: MonkeyPatch):
    monkeypatch.setattr(service_log, "MOST_BYTES", 400)
    log = AuditLog(read_settings().data, lambda: START)
    for _ in range(40):
        log(CALL)
    names = sorted(path.name for path in log.path.parent.iterdir())
    assert names == ["audit.jsonl", *(f"audit.jsonl.{number}" for number in range(1, 5))]
    assert all(
        path.stat().st_size <= 400 and stat.S_IMODE(path.stat().st_mode) == 0o600
        for path in log.path.parent.iterdir()
    )


def test_a_log_that_cannot_be_written_stops_nothing():
    log = AuditLog(read_settings().data, lambda: START)
    log.path.mkdir()
    log(CALL)
    assert log.path.is_dir()
