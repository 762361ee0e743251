"""What a server of tools costs a session: the time to its handshake, and the tokens of its definitions and of a recall.

Harnesses start one with every session, wait for it, and drop it when it is slow. The handshake is compared with a bare
interpreter's start and the official server's. Definitions are in the context of every session; tokens are estimated.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean

from pytest import MonkeyPatch

from memory_assets.interfaces.mcp.protocol import Protocol
from memory_assets.text.words import count_tokens
from memory_assets_tests.bench.row import Row, best_of, run
from memory_assets_tests.story import environment, lay_out_sample
from memory_assets_tests.story import run as run_on

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}
MOST_OF_DEFINITIONS, MOST_OF_RECALL = 1_300, 900
"""Tokens of all tools, those that write included, and of the longest answer to `QUESTIONS` over the sample."""

QUESTIONS = (
    "how do we install packages here",
    "what is forbidden with git",
    "which units do heights have, and what did we decide about dates in the interface",
    "why did the deployment fail",
    "what is left to do",
)
MOST_SECONDS = 0.3
"""Well under a second, also where two other processes are busy."""

ROUNDS = 7

BARE = "pass"
OURS = "import sys; sys.argv = ['memory', 'serve', 'mcp']; from memory_assets.interfaces.entry import main; sys.exit(main())"
OFFICIAL = (
    "import anyio; from mcp.server.lowlevel import Server; from mcp.server.stdio import stdio_server\n"
    "async def main():\n"
    "    server = Server('bench')\n"
    "    async with stdio_server() as streams:\n"
    "        await server.run(*streams, server.create_initialization_options())\n"
    "anyio.run(main)"
)


def doors(small: bool = False) -> list[Row]:
    """Returns the time to the handshake: of our server, of a bare interpreter, and of the official server with no tools."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "MEMORY_DATA": str(Path(folder, "store"))}
        bare, ours, official = best_of(
            1 if small else ROUNDS,
            lambda: run([sys.executable, "-c", BARE], environ),
            lambda: greet(OURS, environ),
            lambda: greet(OFFICIAL, environ),
        )
    figures = f"handshake {ours:.3f} s, bare interpreter {bare:.3f} s, official server without tools {official:.3f} s"
    defined, recalled = definition_tokens(), recall_tokens(small)
    return [
        Row(
            "tools: tokens of the definitions",
            sum(defined.values()),
            f"largest: {max(defined.values())}",
            limit=MOST_OF_DEFINITIONS,
        ),
        Row(
            "tools: tokens of a recall",
            max(recalled),
            f"mean {mean(recalled):.0f}",
            limit=MOST_OF_RECALL,
        ),
        Row("tools: seconds from start to handshake", ours, figures, limit=MOST_SECONDS),
        Row(
            "tools: handshake / official server's",
            ours / official,
            f"{ours / bare:.1f} times a bare interpreter",
            limit=0.5,
        ),
    ]


def definition_tokens() -> dict[str, int]:
    """Returns the tokens of what a model sees of each tool."""
    tools = Protocol(is_writing=True).tools()["tools"]
    seen = {
        tool["name"]: {part: tool[part] for part in ("name", "description", "inputSchema")}
        for tool in tools
    }
    return {
        name: count_tokens(json.dumps(parts, ensure_ascii=False, separators=(",", ":")))
        for name, parts in seen.items()
    }


def recall_tokens(small: bool) -> list[int]:
    """Returns the tokens of what a model sees of the answer to each question, over the sample or a part of it."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-tools-") as folder,
        MonkeyPatch.context() as patch,
    ):
        sources, data = (
            lay_out_sample(Path(folder, "transcripts"), *(["/pi/"] if small else [])),
            Path(folder, "store"),
        )
        run_on("ingest", data, sources)
        for name, value in environment(data, sources).items():
            patch.setenv(name, value)
        protocol = Protocol()
        answers = [
            protocol.call({"name": "memory_recall", "arguments": {"question": question}})
            for question in QUESTIONS
        ]
    return [sum(count_tokens(part["text"]) for part in answer["content"]) for answer in answers]


def greet(code: str, environ: dict[str, str]) -> None:
    """Starts a server, waits for its answer to the handshake, and ends it."""
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environ, stdin=pipe, stdout=pipe, stderr=nothing
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        process.kill()
    if "result" not in answer:
        raise SystemExit(f"The handshake failed: {answer}")
