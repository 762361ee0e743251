"""The official client is at home with the server of tools, over stdin and stdout and over HTTP."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from mcp import Client, MCPError, StdioServerParameters

from memory_assets.interfaces.mcp.http import application
from memory_assets.interfaces.mcp.protocol import Protocol
from memory_assets_tests.http_server import served
from memory_assets_tests.small_store import FACT, PROPOSAL, index, small_store

Connect = Callable[[], Any]


def over_stdio(*words: str, mode: str = "auto") -> Client:
    code = f"import sys; sys.argv = ['memory', 'serve', 'mcp', '--structured', *{list(words)!r}]; from memory_assets.interfaces.entry import main; sys.exit(main())"
    return Client(
        StdioServerParameters(command=sys.executable, args=["-c", code], env=dict(os.environ)),
        mode=mode,
    )


@asynccontextmanager
async def over_http(*words: str, mode: str = "auto") -> AsyncIterator[Client]:
    protocol = Protocol(is_writing="--write" in words, is_structured=True)
    with served(application(protocol, "127.0.0.1")) as url:
        async with Client(f"{url}/mcp", mode=mode) as client:
            yield client


OLD = "2025-11-25"


@pytest.mark.parametrize(
    ("connect", "mode", "spoken"),
    [
        (over_stdio, "auto", OLD),
        (over_stdio, "legacy", OLD),
        (over_http, "auto", "2026-07-28"),
        (over_http, "legacy", OLD),
    ],
)
def test_clients_of_either_age_are_served(connect: Connect, mode: str, spoken: str):
    index(small_store())

    async def talk() -> None:
        async with connect(mode=mode) as client:
            assert (client.protocol_version, client.server_info.name) == (spoken, "memory_assets")
            assert "only reads" in client.instructions
            said = await client.call_tool(
                "memory_recall", {"question": "how do we install packages"}
            )
            assert said.structured_content["data"]["results"][0]["text"] == FACT
            with pytest.raises(MCPError, match="There is no tool 'memory_sing'"):
                await client.call_tool("memory_sing", {})
            refused = await client.call_tool("memory_recall", {"question": "q", "limit": 99})
            assert refused.is_error
            assert refused.structured_content["error"]["type"] == "QuestionError"
            assert "memory_decide" not in {tool.name for tool in (await client.list_tools()).tools}

    asyncio.run(talk())


@pytest.mark.parametrize("connect", [over_stdio, over_http])
def test_a_decision_is_carried_out_where_writing_is_allowed(connect: Connect):
    small_store()

    async def talk() -> None:
        async with connect("--write") as client:
            rejected = {"decision": "reject", "proposals": [PROPOSAL], "reason": "once"}
            decided = await client.call_tool("memory_decide", rejected)
            assert decided.structured_content["data"]["decided"][0]["state"] == "rejected"
            approved = {"decision": "approve", "proposals": [PROPOSAL]}
            again = await client.call_tool("memory_decide", approved)
            assert again.is_error
            assert "already rejected" in again.content[0].text

    asyncio.run(talk())


def test_over_http_strange_hosts_and_browsers_are_turned_away():
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    sent = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    with served(application(Protocol(is_structured=True), "127.0.0.1")) as url:
        for strange in ({"host": "evil.example"}, {"user-agent": "Mozilla/5.0"}):
            assert httpx.post(f"{url}/mcp", json=hello, headers=sent | strange).status_code == 403
