"""The server of tools on stdin and stdout: one JSON object a line, answered at once, with the facade loaded meanwhile.

Harnesses start it with every session and drop a server that is slow to introduce itself or says anything but the protocol.
So the handshake needs the standard library alone, and stdout is taken away from everybody else: what a library, or a piece of
C, prints goes to stderr. Calls are carried out by a few threads; everything else is answered by the reader itself.
"""

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from memory_assets.interfaces.mcp.protocol import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, Protocol, RefusedError

LONGEST_LINE = 4 * 1024 * 1024
"""Bytes of one message; the official server takes no more over HTTP."""

AT_ONCE = 4
"""Calls that are carried out at the same time; two cores have no use for more."""

RequestId = str | int


def serve(*, is_writing: bool = False) -> int:
    """Serves until the client hangs up or the process is told to stop; returns the exit code."""
    requests, answers = claim_streams()
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts us in the background may have it ignored
    code = 0
    try:
        Server(Protocol(is_writing=is_writing), answers).run(requests)
    except (KeyboardInterrupt, SystemExit) as stopped:
        code = 130 if isinstance(stopped, KeyboardInterrupt) else 0
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
    os._exit(code)  # threads may be in the middle of an import; nobody waits for what they are doing


def _stop(*_: object) -> None:
    raise SystemExit


def claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """Returns stdin and stdout as they were; from now on both are dead ends for everybody else in this process."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        try:
            os.dup2(2, 1)
        except OSError:  # started without a stderr
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
    return requests, answers


class Server:
    """Reads requests line by line and writes each answer as one line, whoever made it."""

    def __init__(self, protocol: Protocol, answers: BinaryIO) -> None:
        self._protocol = protocol
        self._answers = answers
        self._writing = threading.Lock()
        self._calls: queue.SimpleQueue[tuple[RequestId, str, Any] | None] = queue.SimpleQueue()
        self._waiting: set[RequestId] = set()
        """Ids of calls that still want an answer."""
        self._workers: list[threading.Thread] = []
        self._is_warming = False

    def run(self, requests: BinaryIO) -> None:
        """Answers until nothing more comes, then finishes what was asked."""
        try:
            while line := requests.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    _skip_line(requests, line)
                    self._refuse(None, RefusedError(INVALID_REQUEST, f"A message is longer than {LONGEST_LINE:,} bytes."))
                elif line.strip():
                    self._take(line)
        except BrokenPipeError:
            return
        self._finish()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            self._refuse(None, RefusedError(PARSE_ERROR, f"This is not JSON: {str(error)[:200]}."))
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._refuse(None, RefusedError(INVALID_REQUEST, 'A message is one object with "jsonrpc": "2.0".'))
        elif "method" in message:
            self._take_method(message)
        elif "result" not in message and "error" not in message:
            self._refuse(_id_in(message), RefusedError(INVALID_REQUEST, "A message needs a method."))

    def _take_method(self, message: Mapping[str, Any]) -> None:
        method, params = message["method"], message.get("params")
        request_id = _id_in(message)
        if not isinstance(method, str) or ("id" in message and request_id is None):
            self._refuse(request_id, RefusedError(INVALID_REQUEST, "A method is text, and an id is text or a whole number."))
        elif request_id is None:
            self._notice(method, params)
        elif method == "tools/call":
            self._waiting.add(request_id)
            self._calls.put((request_id, method, params))
            self._hire()
        else:
            self._answer(request_id, method, params)

    def _notice(self, method: str, params: Any) -> None:
        """A cancelled call is not begun, and not answered where it was begun already."""
        if method == "notifications/cancelled" and isinstance(params, dict):
            with contextlib.suppress(TypeError):
                self._waiting.discard(params.get("requestId"))

    def _answer(self, request_id: RequestId, method: str, params: Any) -> None:
        try:
            self._say({"jsonrpc": "2.0", "id": request_id, "result": self._protocol.answer(method, params or {})})
        except RefusedError as refusal:
            self._refuse(request_id, refusal)
        if method == "initialize":
            self._warm_up()

    def _hire(self) -> None:
        if len(self._workers) < min(AT_ONCE, len(self._waiting)):
            worker = threading.Thread(target=self._work, daemon=True)
            self._workers.append(worker)
            worker.start()

    def _work(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            while call := self._calls.get():
                if call[0] in self._waiting:
                    self._carry_out(*call)

    def _carry_out(self, request_id: RequestId, method: str, params: Any) -> None:
        answer: dict[str, Any]
        try:
            answer = {"result": self._protocol.answer(method, params or {})}
        except RefusedError as refusal:
            answer = {"error": refusal.to_dict()}
        except Exception as error:  # the client would wait for ever for an answer that a fault of ours has swallowed
            answer = {"error": RefusedError(INTERNAL_ERROR, f"{type(error).__name__}: {error}").to_dict()}
        if request_id in self._waiting:
            self._waiting.discard(request_id)
            self._say({"jsonrpc": "2.0", "id": request_id, **answer})

    def _warm_up(self) -> None:
        if not self._is_warming:
            self._is_warming = True
            threading.Thread(target=lambda: self._protocol.dispatcher.try_to_warm_up(), daemon=True).start()

    def _finish(self) -> None:
        for _ in self._workers:
            self._calls.put(None)
        for worker in self._workers:
            worker.join()

    def _refuse(self, request_id: RequestId | None, refusal: RefusedError) -> None:
        self._say({"jsonrpc": "2.0", "id": request_id, "error": refusal.to_dict()})

    def _say(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        with self._writing:
            self._answers.write(line)
            self._answers.flush()


def _id_in(message: Mapping[str, Any]) -> RequestId | None:
    found = message.get("id")
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def _skip_line(requests: BinaryIO, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = requests.readline(LONGEST_LINE)
