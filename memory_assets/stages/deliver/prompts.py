"""Asks a running server of tools which memories are near a prompt.

A server that was started with `--prompts` has its models loaded and listens on a socket in the
store (`store/sockets.py`), one for each session.

The question is one line of JSON, and so is the answer. A third line confirms that the answer was
shown; without it, the answer does not count as a recall. If the server does not answer in time,
nothing is shown. Imports the standard library only, because a harness waits for it.
"""

import os
import socket
import time

from memory_assets.store.sockets import connect

FOLDER = os.path.join("built", "prompts")
SECONDS = 1.5
"""Longest time that a prompt waits, with the start of the interpreter. A warm recall takes some
hundredths of a second.
"""

MOST_PROMPT = 2_000
"""Characters of a prompt that are sent, from its beginning, which says what it is about."""

MOST_ANSWER = 64_000
"""Bytes of an answer that are read."""

SHOWN = b"shown\n"


def ask_server(
    root: str, prompt: str, session: str, folder: str, seconds: float = SECONDS
) -> "tuple[str, socket.socket | None]":
    """Returns the block of memories, and the connection on which to send `SHOWN` afterwards.

    Without memories or a server in time, the text is empty and the connection is None.
    """
    import json

    until = time.monotonic() + seconds
    server = connect(os.path.join(root, FOLDER))
    if server is None:
        return "", None
    try:
        server.settimeout(max(until - time.monotonic(), 0.01))
        question = {"prompt": prompt[:MOST_PROMPT], "session": session, "folder": folder}
        server.sendall(json.dumps({**question, "seconds": seconds}).encode() + b"\n")
        text = _text_in(_read_line(server, until))
    except OSError:
        text = ""
    if not text:
        server.close()
    return text, server if text else None


def _read_line(server: socket.socket, until: float) -> bytes:
    line = b""
    while not line.endswith(b"\n") and len(line) < MOST_ANSWER:
        server.settimeout(max(until - time.monotonic(), 0.01))
        chunk = server.recv(65_536)
        if not chunk:
            break
        line += chunk
    return line


def _text_in(line: bytes) -> str:
    import json

    try:
        answer = json.loads(line)
    except ValueError:
        return ""
    text = answer.get("text") if isinstance(answer, dict) else ""
    return text if isinstance(text, str) else ""
