"""Tells the hooks of harnesses which memories are near a prompt (`stages/deliver/prompts.py`).

Runs in the MCP server, which lives as long as its session and has everything loaded: a prompt does
not wait for a start. Another user cannot connect: the socket is in the store and has the mode 0600.
Without Unix sockets (Windows) nothing listens, and prompts get no memories.
"""

import contextlib
import json
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from memory_assets.memory import sockets
from memory_assets.memory.places import find_data, is_sample
from memory_assets.memory.sockets import PROMPTS_FOLDER, SHOWN

MOST_LINE = 64_000
"""Bytes of the line with a hook's query."""

WAIT_SECONDS = 5.0
"""Longest wait for a line of a hook."""


def listen() -> Path | None:
    """Starts a thread that answers hooks; returns the path of its socket, None without one."""
    root = Path(find_data())
    folder = root / PROMPTS_FOLDER
    # The bundled sample is not shown to sessions.
    is_built = not is_sample() and (root / "VERSION").is_file()
    if not sockets.HAS_SOCKETS or not is_built:
        return None
    try:
        server = sockets.listen(str(folder))
    except OSError as error:
        print(f"memory: recall at each prompt is off: {error}", file=sys.stderr)
        return None
    threading.Thread(target=_accept, args=(server,), daemon=True).start()
    return folder / server.getsockname()


def _accept(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    """Answers one prompt, and records the recall once the hook has shown it.

    After an error the hook gets no answer, and the prompt stays as it is.
    """
    deadline = time.monotonic()
    with connection, contextlib.suppress(OSError), connection.makefile("rb") as lines:
        connection.settimeout(WAIT_SECONDS)
        try:
            query = json.loads(lines.readline(MOST_LINE))
            deadline += min(float(query["seconds"]), WAIT_SECONDS)
            text, confirm = _find_near(query)
        except Exception as error:
            print(f"memory: no recall at a prompt: {error}", file=sys.stderr)
            return
        if time.monotonic() > deadline:
            return  # the hook has given up
        connection.sendall(json.dumps({"text": text}).encode() + b"\n")
        if text and lines.readline(len(SHOWN)) == SHOWN:
            confirm()


def _find_near(query: dict[str, Any]) -> tuple[str, Any]:
    """Returns the memories near the prompt as text, and a function that records the recall."""
    from memory_assets.interfaces.dispatcher import present_agent

    agent = present_agent()
    memories = agent.near_prompt(
        str(query["prompt"]), session=str(query["session"]), folder=str(query["folder"])
    )
    return memories.text, lambda: agent.shown_at_prompt(memories)
