"""Asks a running server of tools which memories are near a prompt, and says nothing where it does
not answer in time.

A server that was started with `--prompts` has its models loaded and listens on a socket in the
store:

    MEMORY_DATA/built/prompts/<process id>.sock    one for each session, for the user of the store
    alone

One line goes each way, both JSON. The third line says that the answer was shown, so that only then
it counts as a recall. Standard library only, because a harness waits for it.
"""

import os
import socket
import time

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = os.path.join("built", "prompts")
SUFFIX = ".sock"
SECONDS = 1.5
"""How long a prompt may wait in all, the start of the interpreter included. A warm recall takes
some hundredths of a second.
"""

MOST_PROMPT = 2_000
"""Characters of a prompt that are sent: what it is about is said at its beginning."""

MOST_ANSWER = 64_000
SHOWN = b"shown\n"


def near(
    root: str, prompt: str, session: str, folder: str, seconds: float = SECONDS
) -> "tuple[str, socket.socket | None]":
    """Returns the block of memories and the connection on which to confirm that it was shown; empty
    where there is none.
    """
    import json

    until = time.monotonic() + seconds
    server = next(_servers(root), None)
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


def _servers(root: str) -> "Iterator[socket.socket]":
    """Yields connections, to the server that was started last first; a socket whose server is gone
    is deleted.
    """
    folder = os.path.join(root, FOLDER)
    try:
        # The path of a socket may have a hundred characters only; nothing else runs in this
        # process.
        os.chdir(folder)
        names = sorted(
            (name for name in os.listdir(".") if name.endswith(SUFFIX)),
            key=lambda name: -os.stat(name).st_mtime,
        )
    except OSError:
        return
    for name in names:
        server = socket.socket(socket.AF_UNIX)
        server.settimeout(0.2)
        try:
            server.connect(name)
        except ConnectionRefusedError:
            server.close()
            os.unlink(name)
        except OSError:
            server.close()
        else:
            yield server


def _read_line(server: socket.socket, until: float) -> bytes:
    line = b""
    while not line.endswith(b"\n") and len(line) < MOST_ANSWER:
        server.settimeout(max(until - time.monotonic(), 0.01))
        more = server.recv(65_536)
        if not more:
            break
        line += more
    return line


def _text_in(line: bytes) -> str:
    import json

    try:
        answer = json.loads(line)
    except ValueError:
        return ""
    text = answer.get("text") if isinstance(answer, dict) else ""
    return text if isinstance(text, str) else ""
