"""The MCP server as a harness runs it: a process with pipes; every line of its stdout must belong to the protocol."""

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

STARTED = "import sys; sys.argv = ['memory', {words}]; {before}; from memory_assets.interfaces.entry import main; sys.exit(main())"
PATIENCE = 60.0


class McpProcess:
    """A running server; speaks raw lines, so that it can also be spoken to wrongly."""

    def __init__(self, *words: str, before: str = "pass", cwd: Path | None = None) -> None:
        code = STARTED.format(words=", ".join(map(repr, ("serve", "mcp", *words))), before=before)
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], env=os.environ.copy(), cwd=cwd, **pipes
        )
        self.lines: queue.Queue[bytes] = queue.Queue()
        self._errors: list[bytes] = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(
            target=lambda: self._errors.extend(self.process.stderr or ()), daemon=True
        ).start()

    def __enter__(self) -> "McpProcess":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.lines.put(line)
        self.lines.put(b"")

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: Any = None, **more: Any) -> None:
        given = {} if params is None else {"params": params}
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, **given, **more}).encode())

    def next(self) -> dict[str, Any]:
        """The next message; fails where a line is anything but one."""
        line = self.lines.get(timeout=PATIENCE)
        assert line, f"the server ended: {b''.join(self._errors).decode()}"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, method: str, params: Any = None, request_id: int | str = 1) -> dict[str, Any]:
        self.send(method, params, id=request_id)
        return self.next()

    def call(self, tool: str, request_id: int | str = 1, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, request_id)

    def hang_up(self) -> tuple[int, list[dict[str, Any]], str]:
        """Closes stdin; returns the exit code, what was still answered, and stderr."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        rest = []
        while line := self.lines.get(timeout=PATIENCE):
            rest.append(json.loads(line))
        return code, rest, b"".join(self._errors).decode()
