"""Answers the hooks of harnesses, beside a server of tools, which memories are near a prompt
(`stages/deliver/prompts.py`).

The server of tools runs as long as its session and has everything loaded, so that a prompt does not
wait for a start. Another user cannot connect: the socket is in the store and has the mode 0600.
Where sockets of files are missing (Windows), nothing listens and nothing is shown.
"""

import contextlib
import json
import os
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from memory_assets.memory.places import find_data, is_sample
from memory_assets.memory.prompt_sockets import FOLDER, SHOWN, SUFFIX

MOST_LINE = 64_000
WAIT_SECONDS = 5.0
"""For a line of a hook; one that is killed closes its connection."""


def listen() -> Path | None:
    """Listens in a thread from now on; returns the socket, None where that is not possible."""
    root = Path(find_data())
    folder = root / FOLDER
    is_built = not is_sample() and (root / "VERSION").is_file()
    # The bundled sample is not shown to sessions.
    if not hasattr(socket, "AF_UNIX") or not is_built:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _delete_left(folder)
        server = _bound(folder)
        path = folder / f"{os.getpid()}{SUFFIX}"
    except OSError as error:
        print(f"memory: recall at each prompt is off: {error}", file=sys.stderr)
        return None
    threading.Thread(target=_accept, args=(server,), daemon=True).start()
    return path


def _delete_left(folder: Path) -> None:
    """Deletes the sockets of servers that were killed."""
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            os.kill(int(path.stem), 0)
        except (ProcessLookupError, ValueError, OverflowError):
            path.unlink(missing_ok=True)
        except PermissionError:
            continue


def _bound(folder: Path) -> socket.socket:
    """Returns the listening socket in the folder. No thread runs yet, so that the working folder
    may change for a moment.
    """
    server = socket.socket(socket.AF_UNIX)
    name = f"{os.getpid()}{SUFFIX}"
    working_folder = os.open(".", os.O_RDONLY)
    mask = os.umask(0o177)
    try:
        os.chdir(folder)  # the path of a socket may have a hundred characters only
        Path(name).unlink(missing_ok=True)
        server.bind(name)
        server.listen()
    finally:
        os.fchdir(working_folder)
        os.close(working_folder)
        os.umask(mask)
    return server


def _accept(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    """Answers one prompt, and records the recall once the hook has shown it; an error leaves the
    prompt as it is.
    """
    until = time.monotonic()
    with connection, contextlib.suppress(OSError), connection.makefile("rb") as lines:
        connection.settimeout(WAIT_SECONDS)
        try:
            asked = json.loads(lines.readline(MOST_LINE))
            until += min(float(asked["seconds"]), WAIT_SECONDS)
            text, confirm = _near(asked)
        except Exception as error:
            print(f"memory: no recall at a prompt: {error}", file=sys.stderr)
            return
        if time.monotonic() > until:
            return  # the hook has given up
        connection.sendall(json.dumps({"text": text}).encode() + b"\n")
        if text and lines.readline(len(SHOWN)) == SHOWN:
            confirm()


def _near(asked: dict[str, Any]) -> tuple[str, Any]:
    from memory_assets.interfaces.dispatcher import present_agent

    agent = present_agent()
    memories = agent.near_prompt(
        str(asked["prompt"]), session=str(asked["session"]), folder=str(asked["folder"])
    )
    return memories.text, lambda: agent.shown_at_prompt(memories)
