"""A local server that speaks the Messages API and its batches as the vendor's does, faults included.

What it answers is a function of the request's body; it logs every request. It runs in the process of the test, so it
survives the clients that a test starts and kills.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-0123"
MODELS = ("claude-haiku-4-5", "claude-sonnet-4-5")
CREATED = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Fault:
    """An answer that is none: a status with the API's own error, or something stranger."""

    status: int = 500
    kind: str = "api_error"
    message: str = "Something went wrong."
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """A body of another sort, sent as it is."""
    seconds: float = 0.0
    """How long it takes to come."""
    is_dropped: bool = False
    """The connection ends in the middle of the body."""


OVERLOADED = Fault(529, "overloaded_error", "Overloaded")


@dataclass(frozen=True)
class Said:
    """An answer with what else the API tells of it."""

    text: str
    stop_reason: str = "end_turn"
    seconds: float = 0.0


Answer = Callable[[dict[str, Any]], "str | Said | Fault"]


@dataclass
class MessagesApi:
    """The server's state: what it was asked, and its batches."""

    answer: Answer
    polls_needed: int = 1
    """How often a batch is asked for before it has ended."""
    on_request: Callable[[dict[str, Any]], None] = lambda entry: None
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def log(self, method: str, path: str, headers: dict[str, str], body: dict[str, Any]) -> None:
        entry = {"method": method, "path": path, "headers": headers, "body": body, "at": time.time()}
        with self.lock:
            self.requests.append(entry)
            self.on_request(entry)

    def questions(self) -> list[dict[str, Any]]:
        """Every question that was put, alone or in a batch."""
        alone = [entry["body"] for entry in self.requests if entry["path"] == "/v1/messages"]
        return alone + [asked["params"] for batch in self.batches.values() for asked in batch["asked"]]

    def message(self, body: dict[str, Any], said: Said) -> dict[str, Any]:
        """The message that the API would answer with."""
        is_cached = sum(entry["path"] == "/v1/messages" for entry in self.requests) > 1
        system = sum(len(block["text"]) for block in body.get("system", ())) // 4
        sent = sum(len(block.get("text", "")) for message in body["messages"] for block in message["content"]) // 4
        cache = {"cache_read_input_tokens": system * is_cached, "cache_creation_input_tokens": system * (not is_cached)}
        return {
            "id": f"msg_{len(self.requests):08d}",
            "type": "message",
            "role": "assistant",
            "model": f"{body['model']}-20251001",
            "content": [{"type": "text", "text": said.text}] if said.text else [],
            "stop_reason": said.stop_reason,
            "stop_sequence": None,
            "usage": {"input_tokens": sent, "output_tokens": len(said.text) // 4, **cache},
        }

    def refused(self, headers: dict[str, str], body: dict[str, Any]) -> Fault | None:
        """What the API refuses before it asks a model."""
        if headers.get("x-api-key") != KEY and headers.get("authorization") != f"Bearer {KEY}":
            return Fault(401, "authentication_error", "invalid x-api-key")
        if body and body.get("model", MODELS[0]) not in MODELS:
            return Fault(404, "not_found_error", f"model: {body['model']}")
        return None

    def submit(self, body: dict[str, Any]) -> dict[str, Any]:
        with self.lock:
            number = len(self.batches) + 1
            batch_id = f"msgbatch_{number:06d}"
            self.batches[batch_id] = {"asked": body["requests"], "polls": 0, "created_at": CREATED + timedelta(minutes=number)}
        return self.batch(batch_id, counts=False)

    def batch(self, batch_id: str, *, counts: bool = True) -> dict[str, Any]:
        """A batch as it stands; being asked for it brings it nearer to its end."""
        found = self.batches[batch_id]
        found["polls"] += counts
        is_ended = found["polls"] > self.polls_needed
        count = len(found["asked"])
        done = {"processing": 0 if is_ended else count, "succeeded": count if is_ended else 0}
        at = found["created_at"].isoformat()
        return {
            "id": batch_id,
            "type": "message_batch",
            "processing_status": "ended" if is_ended else "in_progress",
            "request_counts": {**done, "errored": 0, "canceled": 0, "expired": 0},
            "created_at": at,
            "expires_at": (found["created_at"] + timedelta(days=1)).isoformat(),
            "ended_at": at if is_ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}/v1/messages/batches/{batch_id}/results" if is_ended else None,
        }

    def results(self, batch_id: str) -> bytes:
        lines = []
        for asked in reversed(self.batches[batch_id]["asked"]):  # in no order that anybody may rely on
            said = self.answer(asked["params"])
            if isinstance(said, Fault) and said.kind in ("expired", "canceled"):
                result: dict[str, Any] = {"type": said.kind}
            elif isinstance(said, Fault):
                error = {"type": "error", "error": {"type": said.kind, "message": said.message}, "request_id": None}
                result = {"type": "errored", "error": error}
            else:
                said = said if isinstance(said, Said) else Said(said)
                result = {"type": "succeeded", "message": self.message(asked["params"], said)}
            lines.append(json.dumps({"custom_id": asked["custom_id"], "result": result}))
        return "\n".join(lines).encode() + b"\n"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: MessagesApi

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = self._log("POST", body)
        asked = body if self.path == "/v1/messages" else {}
        if fault := self.api.refused(headers, asked):
            return self._fail(fault)
        if self.path == "/v1/messages/batches":
            return self._send(200, self.api.submit(body))
        said = self.api.answer(body)
        time.sleep(getattr(said, "seconds", 0.0))
        if isinstance(said, Fault):
            return self._fail(said)
        return self._send(200, self.api.message(body, said if isinstance(said, Said) else Said(said)))

    def do_GET(self) -> None:
        if fault := self.api.refused(self._log("GET", {}), {}):
            return self._fail(fault)
        parts = self.path.split("?")[0].removeprefix("/v1/messages/batches").strip("/").split("/")
        if parts == [""]:
            latest = [self.api.batch(batch_id, counts=False) for batch_id in reversed(self.api.batches)]
            first, last = (latest[0]["id"], latest[-1]["id"]) if latest else (None, None)
            return self._send(200, {"data": latest, "has_more": False, "first_id": first, "last_id": last})
        if parts[0] not in self.api.batches:
            return self._fail(Fault(404, "not_found_error", "no such batch"))
        if parts[1:] == ["results"]:
            return self._send_raw(200, self.api.results(parts[0]), {"content-type": "application/x-jsonl"})
        return self._send(200, self.api.batch(parts[0]))

    def _log(self, method: str, body: dict[str, Any]) -> dict[str, str]:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.api.log(method, self.path.split("?")[0], headers, body)
        return headers

    def _fail(self, fault: Fault) -> None:
        if fault.is_dropped:
            self.send_response(200)
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b'{"id": "msg_1", "content": [')
            self.wfile.flush()
            self.connection.close()
            self.close_connection = True
        elif fault.raw is not None:
            self._send_raw(fault.status, fault.raw, fault.headers)
        else:
            error = {"type": "error", "error": {"type": fault.kind, "message": fault.message}, "request_id": "req_1"}
            self._send_raw(fault.status, json.dumps(error).encode(), {"content-type": "application/json", **fault.headers})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        self._send_raw(status, json.dumps(body).encode(), {"content-type": "application/json"})

    def _send_raw(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"request-id": "req_1", **headers, "content-length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Keeps quiet; the log that counts is the server's own."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keeps quiet about clients that were killed."""


@contextmanager
def serve(answer: Answer, **how: Any) -> Iterator[MessagesApi]:
    """Serves on loopback while the block runs."""
    api = MessagesApi(answer, **how)
    handler = type("Handler", (_Handler,), {"api": api})
    server = _Server(("127.0.0.1", 0), handler)
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
