"""The server of tools on stdin and stdout: the handshake, nothing but protocol on stdout, and an answer to every mistake."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from memory_assets.interfaces.mcp.protocol import SAMPLE, VERSIONS, Protocol
from memory_assets_tests.mcp_process import PATIENCE, STARTED, McpProcess
from memory_assets_tests.small_store import PROPOSAL, index, made_the_sample, small_store

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture
def server() -> Iterator[McpProcess]:
    index(small_store())
    with McpProcess() as process:
        yield process


@pytest.mark.parametrize(
    ("wanted", "agreed"),
    [*zip(VERSIONS, VERSIONS, strict=True), ("2099-01-01", VERSIONS[-1]), (None, VERSIONS[-1])],
)
def test_the_revision_asked_for_is_spoken_if_it_is_known_else_the_newest(
    wanted: str | None, agreed: str
):
    assert Protocol().initialize({"protocolVersion": wanted})["protocolVersion"] == agreed


def test_the_handshake_introduces_the_server_and_says_that_it_only_reads(server: McpProcess):
    said = server.ask("initialize", HELLO)["result"]
    assert (said["protocolVersion"], said["serverInfo"]["name"]) == ("2025-06-18", "memory_assets")
    assert set(said["capabilities"]) == {"tools", "prompts", "resources"}
    assert "only reads" in said["instructions"]
    server.send("notifications/initialized")
    assert server.ask("ping", request_id="p") == {"jsonrpc": "2.0", "id": "p", "result": {}}


def test_a_server_that_answers_from_the_bundled_sample_says_so_everywhere():
    store = small_store()
    protocol, call = Protocol(is_structured=True), {"name": "memory_brief", "arguments": {}}

    def said() -> list[str]:
        told = protocol.call(call)
        (page,) = protocol.read({"uri": "memory://briefing"})["contents"]
        warnings = str(told["structuredContent"]["warnings"])
        return [protocol.instructions, told["content"][0]["text"], warnings, page["text"]]

    assert not any(SAMPLE in text for text in said())
    made_the_sample(store)
    assert all(SAMPLE in text for text in said())


def test_nothing_heavy_is_imported_before_the_handshake_is_over():
    code = (
        "import sys, json; from memory_assets.interfaces.mcp.stdio import Server; from memory_assets.interfaces.mcp.protocol import Protocol\n"
        "p = Protocol(); p.initialize({}); p.tools(); p.resources(); print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert not imported & set("pydantic polars numpy orjson rich typer mcp dagster".split())


def test_only_tools_that_read_are_offered_unless_asked_for(server: McpProcess):
    tools = server.ask("tools/list")["result"]["tools"]
    verbs = ("recall", "explain", "brief", "review", "status")
    assert {f"memory_{verb}" for verb in verbs} <= {one["name"] for one in tools}
    writing = [one["name"] for one in tools if not one["annotations"]["readOnlyHint"]]
    assert writing == ["memory_distill"]
    refused = server.call("memory_decide", decision="approve", proposals=[PROPOSAL])["result"]
    assert refused["isError"] is True
    assert "`memory serve mcp --write`" in refused["content"][0]["text"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{not json", -32700),
        (b"\xff\xfe\x00", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'"text"', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/sing"}', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_sing"}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["a"]}}', -32602),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_recall","arguments":"q"}}',
            -32602,
        ),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memory://../../etc/passwd"}}',
            -32002,
        ),
        (b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}', -32002),
    ],
)
def test_every_mistake_gets_its_error_and_the_server_lives_on(line: bytes, code: int):
    with McpProcess() as server:
        server.write(line)
        assert server.next()["error"]["code"] == code
        assert server.ask("ping", request_id="alive")["result"] == {}


NOISY = """
import ctypes, os, sys
from memory_assets.interfaces import dispatcher
def shout(verb, given, reader=None):
    print("python speaks")
    sys.__stdout__.write("and again\\n"); sys.__stdout__.flush()
    os.write(1, b"the descriptor speaks\\n")
    libc = ctypes.CDLL(None); libc.puts(b"C speaks"); libc.fflush(None)
    os.system("echo a child speaks; cat")
    raise RuntimeError("and it fails")
dispatcher.ask = shout
"""


def test_stdout_holds_nothing_but_the_protocol_whoever_prints():
    with McpProcess(before=f"exec({NOISY!r})") as server:
        said = server.call("memory_recall", question="q")["result"]
        code, rest, errors = server.hang_up()
    assert said["isError"] is True
    assert "RuntimeError: and it fails" in said["content"][0]["text"]
    assert (code, rest) == (0, [])
    for words in (
        "python speaks",
        "and again",
        "the descriptor speaks",
        "C speaks",
        "a child speaks",
    ):
        assert words in errors


SLOW = """
import time
from memory_assets.interfaces import dispatcher
from memory_assets.interfaces.views import registry
from memory_assets.services.review.proposals import Review
def wait(verb, given, reader=None):
    time.sleep(float(given["question"]))
    return Review(())
dispatcher.ask = wait
registry.VIEWS = {"recall": registry.VIEWS["review"]}
"""


def test_a_quick_call_overtakes_a_slow_one_and_both_are_answered():
    with McpProcess(before=f"exec({SLOW!r})") as server:
        server.send(
            "tools/call", {"name": "memory_recall", "arguments": {"question": "1.5"}}, id="slow"
        )
        server.send(
            "tools/call", {"name": "memory_recall", "arguments": {"question": "0"}}, id="quick"
        )
        server.send("ping", {}, id="ping")
        answered = [server.next()["id"] for _ in range(3)]
        assert (sorted(answered[:2]), answered[2]) == (["ping", "quick"], "slow")


def test_a_cancelled_call_is_not_answered():
    with McpProcess(before=f"exec({SLOW!r})") as server:
        server.send("tools/call", {"name": "memory_recall", "arguments": {"question": "1"}}, id=1)
        server.send("notifications/cancelled", {"requestId": 1, "reason": "the user moved on"})
        server.send("notifications/cancelled", {"requestId": ["strange"]})
        server.send("tools/call", {"name": "memory_recall", "arguments": {"question": "1.5"}}, id=2)
        assert server.next()["id"] == 2


def test_a_client_that_is_gone_ends_the_server():
    small_store()
    code = STARTED.format(words="'serve', 'mcp'", before="pass")
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen([sys.executable, "-c", code], **pipes)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.write(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status"}}\n' * 3
    )
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    with process.stderr as errors:
        assert b"Traceback" not in errors.read()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_stop_stops_at_once_and_silently(number: signal.Signals):
    with McpProcess(before=f"exec({SLOW!r})") as server:
        assert server.ask("initialize", HELLO)["id"] == 1
        server.send("tools/call", {"name": "memory_recall", "arguments": {"question": "30"}}, id=2)
        assert server.ask("ping")["result"] == {}
        started = time.monotonic()
        server.process.send_signal(number)
        code = server.process.wait(PATIENCE)
        assert time.monotonic() - started < 5
        assert (code, server.lines.get(timeout=PATIENCE)) == (
            0 if number == signal.SIGTERM else 130,
            b"",
        )
        assert b"Traceback" not in b"".join(server._errors)
