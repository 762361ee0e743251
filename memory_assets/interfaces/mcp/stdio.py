"""The MCP server over stdio: one JSON object per line; the facade is loaded in the background.

A harness starts this server with every session. It drops a server that answers the handshake slowly
or prints anything but the protocol. So the handshake needs only the standard library, and what
libraries and C code print goes to stderr. A few threads run the calls of tools; the thread that
reads the requests answers everything else itself.
"""

import contextlib
import itertools
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO

from memory_assets.interfaces.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    Protocol,
    RefusedError,
)

LONGEST_LINE = 4 * 1024 * 1024
"""Bytes of one message; the limit of the official server over HTTP."""

AT_ONCE = 4
"""Number of concurrent calls; two cores have no use for more."""

MOST_SECONDS = 600.0
"""How long a person may think about a question that the client asks."""

RequestId = str | int


def serve(
    *,
    is_writing: bool = False,
    is_structured: bool = False,
    is_for_prompts: bool = False,
    is_idle: bool = False,
) -> int:
    """Serves until the client disconnects or the process is stopped; returns the exit code.

    `is_idle`: without tools, because the client has another server of ours.
    """
    requests, answers = claim_streams()
    socket = _listen() if is_for_prompts else None
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    # A process that was started in the background may have inherited that SIGINT is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = 0
    try:
        protocol = Protocol(is_writing=is_writing, is_structured=is_structured, is_idle=is_idle)
        Server(protocol, answers, is_warming=is_idle or socket is not None).run(requests)
    except KeyboardInterrupt:
        code = 130
    except SystemExit:
        code = 0
    if socket is not None:
        socket.unlink(missing_ok=True)
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
    os._exit(code)  # threads may be in the middle of an import


def claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """Returns the original stdin and stdout.

    All other code of this process then reads nothing from stdin, and prints to stderr.
    """
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("r+b") as null_device:
        os.dup2(null_device.fileno(), 0)
        try:
            os.dup2(2, 1)
        except OSError:  # started without a stderr
            os.dup2(null_device.fileno(), 1)
            os.dup2(null_device.fileno(), 2)
    return requests, answers


class Server:
    """Reads requests line by line and writes each answer as one line."""

    def __init__(self, protocol: Protocol, answers: BinaryIO, *, is_warming: bool = False) -> None:
        self._protocol = protocol
        self._answers = answers
        self._writing = threading.Lock()
        self._numbers = itertools.count(1)
        self._open_calls: set[RequestId] = set()
        """Ids of calls that are not answered yet."""
        self._is_warming = is_warming
        """Whether a thread loads the facade already."""
        self._questions: dict[RequestId, queue.SimpleQueue[Mapping[str, Any]]] = {}
        """Id of a request to the client → where its answer is awaited."""
        self._is_over = False
        """Whether the input ended, so that the client answers nothing any more."""
        protocol.ask_client = self.ask_client

    @cached_property
    def _workers(self):
        # Imported late: the import takes a third of the time of a handshake.
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(AT_ONCE)

    def run(self, requests: BinaryIO) -> None:
        """Answers until the input ends, then finishes the open calls."""
        try:
            for line in iter(partial(requests.readline, LONGEST_LINE + 1), b""):
                if len(line) > LONGEST_LINE:
                    _skip_line(requests, line)
                    message = f"A message is longer than {LONGEST_LINE:,} bytes."
                    self._refuse(None, INVALID_REQUEST, message)
                elif line.strip():
                    self._handle_line(line)
        except BrokenPipeError:
            return
        self._is_over = True
        for answer in list(self._questions.values()):
            answer.put({})
        self._workers.shutdown()

    def _handle_line(self, line: bytes) -> None:
        try:
            message = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            self._refuse(None, PARSE_ERROR, f"This is not JSON: {str(error)[:200]}.")
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._refuse(None, INVALID_REQUEST, 'A message is one object with "jsonrpc": "2.0".')
        elif "method" in message:
            self._handle_method(message)
        elif "result" in message or "error" in message:
            answer = self._questions.get(_id_in(message) or "")
            result = message.get("result")
            if answer is not None:
                answer.put(result if isinstance(result, dict) else {})
        else:
            self._refuse(_id_in(message), INVALID_REQUEST, "A message needs a method.")

    def _handle_method(self, message: Mapping[str, Any]) -> None:
        method = message["method"]
        params = message.get("params")
        request_id = _id_in(message)
        if not isinstance(method, str) or ("id" in message and request_id is None):
            refusal = "A method is text, and an id is text or a whole number."
            self._refuse(request_id, INVALID_REQUEST, refusal)
        elif request_id is None:
            self._handle_notification(method, params)
        elif method in ("tools/call", "prompts/get"):
            self._open_calls.add(request_id)
            self._workers.submit(self._run_call, request_id, method, params)
        else:
            self._send({"jsonrpc": "2.0", "id": request_id, **self._answer(method, params)})
            if method == "initialize" and not self._is_warming:
                self._is_warming = True
                threading.Thread(target=_load, daemon=True).start()

    def ask_client(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Sends a request to the client and returns its result; empty without one in time."""
        question_id = f"memory-{next(self._numbers)}"
        answer = self._questions[question_id] = queue.SimpleQueue()
        if self._is_over:
            answer.put({})
        self._send({"jsonrpc": "2.0", "id": question_id, "method": method, "params": params})
        try:
            return answer.get(timeout=MOST_SECONDS)
        except queue.Empty:
            return {}
        finally:
            del self._questions[question_id]

    def _handle_notification(self, method: str, params: Any) -> None:
        """Cancels the call that the client names: it is not started, or its answer is not sent."""
        if method == "notifications/cancelled" and isinstance(params, dict):
            with contextlib.suppress(TypeError):
                self._open_calls.discard(params.get("requestId"))

    def _answer(self, method: str, params: Any) -> dict[str, Any]:
        """Returns the result or the error of a method.

        Every exception becomes an error: a client without an answer would wait for ever.
        """
        try:
            return {"result": self._protocol.answer(method, params or {})}
        except RefusedError as refusal:
            return {"error": refusal.to_dict()}
        except Exception as error:
            refusal = RefusedError(INTERNAL_ERROR, f"{type(error).__name__}: {error}")
            return {"error": refusal.to_dict()}

    def _run_call(self, request_id: RequestId, method: str, params: Any) -> None:
        if request_id not in self._open_calls:
            return
        answer = self._answer(method, params)
        if request_id in self._open_calls:
            self._open_calls.discard(request_id)
            self._send({"jsonrpc": "2.0", "id": request_id, **answer})

    def _refuse(self, request_id: RequestId | None, code: int, message: str) -> None:
        error = RefusedError(code, message).to_dict()
        self._send({"jsonrpc": "2.0", "id": request_id, "error": error})

    def _send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        with self._writing:
            self._answers.write(line.encode("utf-8", "replace") + b"\n")
            self._answers.flush()


def _listen() -> Path | None:
    """Answers hooks from now on; returns the path of the socket, or None where nothing listens.

    Loads the facade at once, because the first prompt may come before the handshake.
    """
    from memory_assets.interfaces.mcp.prompts import listen

    socket = listen()
    if socket is not None:
        threading.Thread(target=_load, daemon=True).start()
    return socket


def _load() -> None:
    from memory_assets.interfaces.dispatcher import try_to_warm_up

    try_to_warm_up()


def _id_in(message: Mapping[str, Any]) -> RequestId | None:
    request_id = message.get("id")
    is_id = isinstance(request_id, str | int) and not isinstance(request_id, bool)
    return request_id if is_id else None


def _skip_line(requests: BinaryIO, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = requests.readline(LONGEST_LINE)
