"""How soon a server of tools answers the handshake, from the start of its process; beside a bare interpreter and the official server.

Harnesses start one with every session, wait for it, and drop it when it is slow.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from memory_assets_tests.bench.row import Row, best_of, run

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
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
    return [
        Row("tools: seconds from start to handshake", ours, figures, limit=MOST_SECONDS),
        Row("tools: handshake / official server's", ours / official, f"{ours / bare:.1f} times a bare interpreter", limit=0.5),
    ]


def greet(code: str, environ: dict[str, str]) -> None:
    """Starts a server, waits for its answer to the handshake, and ends it."""
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen([sys.executable, "-c", code], env=environ, stdin=pipe, stdout=pipe, stderr=nothing) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        process.kill()
    if "result" not in answer:
        raise SystemExit(f"The handshake failed: {answer}")
