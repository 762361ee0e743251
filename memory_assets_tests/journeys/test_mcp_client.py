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
from memory_assets_tests.small_store import FACT, MEMORY, PROPOSAL, index, small_store

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


@pytest.mark.parametrize("connect", [over_stdio, over_http])
def test_tools_are_listed_called_and_refused(connect: Connect):
    index(small_store())

    async def talk() -> None:
        async with connect() as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert {
                "memory_recall",
                "memory_explain",
                "memory_brief",
                "memory_review",
                "memory_status",
            } <= set(tools)
            assert "memory_decide" not in tools
            assert tools["memory_recall"].annotations.read_only_hint is True  # type: ignore[union-attr]
            said = await client.call_tool(
                "memory_recall", {"question": "how do we install packages", "limit": 1}
            )
            assert FACT in said.content[0].text  # type: ignore[union-attr]
            assert said.structured_content["data"]["results"][0]["memory_id"] == MEMORY
            wrong = await client.call_tool("memory_recall", {"question": "q", "limit": 99})
            assert (wrong.is_error, wrong.structured_content["error"]["type"]) == (
                True,
                "QuestionError",
            )
            with pytest.raises(MCPError, match="There is no tool 'memory_sing'"):
                await client.call_tool("memory_sing", {})

    asyncio.run(talk())


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
    small_store()

    async def talk() -> None:
        async with connect(mode=mode) as client:
            assert (client.protocol_version, client.server_info.name) == (spoken, "memory_assets")
            assert "only reads" in client.instructions
            assert (await client.call_tool("memory_status", {})).structured_content["data"][
                "pending"
            ] == 1

    asyncio.run(talk())


@pytest.mark.slow
@pytest.mark.parametrize("connect", [over_stdio, over_http])
def test_a_decision_is_carried_out_where_writing_is_allowed(connect: Connect):
    small_store()

    async def talk() -> None:
        async with connect("--write") as client:
            decided = await client.call_tool(
                "memory_decide", {"decision": "reject", "proposals": [PROPOSAL], "reason": "once"}
            )
            assert decided.structured_content["data"]["decided"][0]["state"] == "rejected"
            again = await client.call_tool(
                "memory_decide", {"decision": "approve", "proposals": [PROPOSAL]}
            )
            assert (again.is_error, "already rejected" in again.content[0].text) == (True, True)  # type: ignore[union-attr]

    asyncio.run(talk())


def test_over_http_strange_hosts_and_browsers_are_turned_away():
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    sent = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    with served(application(Protocol(is_structured=True), "127.0.0.1")) as url:
        for strange in ({"host": "evil.example"}, {"user-agent": "Mozilla/5.0"}):
            assert httpx.post(f"{url}/mcp", json=hello, headers=sent | strange).status_code == 403
