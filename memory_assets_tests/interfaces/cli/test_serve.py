"""Servers answer this machine alone, unless an optional capability decides about each request."""

from functools import partial

import pytest
from pytest import MonkeyPatch

from memory_assets.errors import QuestionError
from memory_assets.interfaces.cli import serve
from memory_assets_tests.small_store import small_store

SERVERS = [partial(serve.http, port=3460), partial(serve.mcp, port=3460, http=True), serve.mcp]


@pytest.fixture(autouse=True)
def without_capabilities(monkeypatch: MonkeyPatch):
    monkeypatch.setattr(serve, "loaded", lambda _: iter(()))


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.1.5", "memory.example", "127.0.0.1.com"]
)
@pytest.mark.parametrize("server", SERVERS)
def test_no_server_listens_beyond_this_machine(
    server: partial, host: str, monkeypatch: MonkeyPatch
):
    monkeypatch.setattr(serve.ports, "listen", lambda *_: pytest.fail("it listens"))
    for is_writing in (False, True):
        with pytest.raises(QuestionError, match="only this one is served"):
            server(host=host, write=is_writing)


@pytest.mark.parametrize("server", SERVERS[:2])
def test_the_owner_is_served_on_this_machine(server: partial):
    small_store()
    reply = server()
    assert (reply.data["is_shared"], [*reply.warnings]) == (False, [])
    assert "read-only; --write allows writing" in str([*reply.parts])
