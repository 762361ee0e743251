"""A local server that speaks the Messages API and its batches as the vendor's does, faults included.

What it answers is a function of the request's body; it logs every request. It runs in the process of the test, so it
survives the clients that a test starts and kills; `python -m memory_assets_tests.messages_api` runs it by itself, to try a
model setting by hand.
"""

import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "sk-test-0123"
MODELS = ("claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-5-5")
NO_TEMPERATURE = ("claude-opus-5-5",)
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
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

    def body(self) -> dict[str, Any]:
        """The error as the API writes it."""
        return {
            "type": "error",
            "error": {"type": self.kind, "message": self.message},
            "request_id": "req_1",
        }


OVERLOADED = Fault(529, "overloaded_error", "Overloaded")


@dataclass(frozen=True)
class Said:
    """An answer with what else the API tells of it."""

    text: str
    stop_reason: str = "end_turn"
    seconds: float = 0.0
    pause: float = 0.0
    """Between the events of a stream."""


Answer = Callable[[dict[str, Any]], "str | Said | Fault"]


@dataclass
class MessagesApi:
    """The server's state: what it was asked, and its batches."""

    answer: Answer
    polls_needed: int = 1
    """How often a batch is asked for before it has ended."""
    seconds_needed: float = 0.0
    """How long a batch takes at least."""
    fault: Callable[[str, str], Fault | None] = lambda method, path: None
    """What stands between a request and the API: a gateway that answers itself, a line that breaks."""
    on_request: Callable[[dict[str, Any]], None] = lambda entry: None
    page_size: int = 100
    """Batches on a page of the list, where fewer are not asked for."""
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def log(self, method: str, path: str, headers: dict[str, str], body: dict[str, Any]) -> None:
        entry = {
            "method": method,
            "path": path,
            "headers": headers,
            "body": body,
            "at": time.time(),
        }
        with self.lock:
            self.requests.append(entry)
            self.on_request(entry)

    def questions(self) -> list[dict[str, Any]]:
        """Every question that was put, alone or in a batch."""
        alone = [entry["body"] for entry in self.requests if entry["path"] == "/v1/messages"]
        return alone + [
            asked["params"] for batch in self.batches.values() for asked in batch["asked"]
        ]

    def message(self, body: dict[str, Any], said: Said) -> dict[str, Any]:
        """The message that the API would answer with."""
        is_cached = sum(entry["path"] == "/v1/messages" for entry in self.requests) > 1
        system = sum(len(block["text"]) for block in body.get("system", ())) // 4
        sent = (
            sum(
                len(block.get("text", ""))
                for message in body["messages"]
                for block in message["content"]
            )
            // 4
        )
        cache = {
            "cache_read_input_tokens": system * is_cached,
            "cache_creation_input_tokens": system * (not is_cached),
        }
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
        if "anthropic-version" not in headers:
            return Fault(400, "invalid_request_error", "anthropic-version: header is required")
        return self.malformed(body) if body else None

    def malformed(self, body: dict[str, Any]) -> Fault | None:
        """What the API says of questions that are not formed as it wants them."""
        names = [asked["custom_id"] for asked in body.get("requests", ())]
        wrong = {
            "requests: custom_id must be unique": len(set(names)) < len(names),
            "requests: custom_id must match ^[a-zA-Z0-9_-]{1,64}$": not all(
                map(_NAME.fullmatch, names)
            ),
            "max_tokens: Field required": "requests" not in body and "max_tokens" not in body,
            "`temperature` is deprecated for this model.": body.get("model") in NO_TEMPERATURE
            and "temperature" in body,
        }
        said = next((sentence for sentence, is_so in wrong.items() if is_so), None)
        return Fault(400, "invalid_request_error", said) if said else None

    def submit(self, body: dict[str, Any]) -> dict[str, Any]:
        with self.lock:
            number = len(self.batches) + 1
            batch_id = f"msgbatch_{number:06d}"
            created_at = CREATED + timedelta(minutes=number)
            self.batches[batch_id] = {
                "asked": body["requests"],
                "polls": 0,
                "since": time.time(),
                "created_at": created_at,
            }
        return self.batch(batch_id, counts=False)

    def batch(self, batch_id: str, *, counts: bool = True) -> dict[str, Any]:
        """A batch as it stands; being asked for it brings it nearer to its end."""
        found = self.batches[batch_id]
        found["polls"] += counts
        is_ended = (
            found["polls"] > self.polls_needed
            and time.time() - found["since"] >= self.seconds_needed
        )
        ends = [result["type"] for _, result in self.ended(batch_id)] if is_ended else []
        counts_of = {
            state: ends.count(state) for state in ("succeeded", "errored", "canceled", "expired")
        }
        at = found["created_at"].isoformat()
        return {
            "id": batch_id,
            "type": "message_batch",
            "processing_status": "ended" if is_ended else "in_progress",
            "request_counts": {"processing": 0 if is_ended else len(found["asked"]), **counts_of},
            "created_at": at,
            "expires_at": (found["created_at"] + timedelta(days=1)).isoformat(),
            "ended_at": at if is_ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}/v1/messages/batches/{batch_id}/results"
            if is_ended
            else None,
        }

    def listed(self, query: dict[str, list[str]]) -> dict[str, Any]:
        """One page of the batches, the latest first."""
        known = list(reversed(self.batches))
        start = known.index(query["after_id"][0]) + 1 if "after_id" in query else 0
        end = start + min(int(query.get("limit", ["20"])[0]), self.page_size)
        page = [self.batch(batch_id, counts=False) for batch_id in known[start:end]]
        first, last = (page[0]["id"], page[-1]["id"]) if page else (None, None)
        return {"data": page, "has_more": end < len(known), "first_id": first, "last_id": last}

    def ended(self, batch_id: str) -> list[tuple[str, dict[str, Any]]]:
        """What came of each question of a batch; asked once, as often as it is read."""
        found = self.batches[batch_id]
        with found.setdefault("ending", threading.Lock()):
            if "ended" not in found:
                # in no order that anybody may rely on
                found["ended"] = [
                    (asked["custom_id"], self.result(asked["params"]))
                    for asked in reversed(found["asked"])
                ]
        return found["ended"]

    def result(self, body: dict[str, Any]) -> dict[str, Any]:
        """What came of one question."""
        said = self.malformed(body) or self.answer(body)
        if not isinstance(said, Fault):
            return {
                "type": "succeeded",
                "message": self.message(body, said if isinstance(said, Said) else Said(said)),
            }
        if said.raw is not None:
            return {"type": "succeeded", "message": json.loads(said.raw)}
        if said.kind in ("expired", "canceled"):
            return {"type": said.kind}
        return {"type": "errored", "error": said.body()}

    def results(self, batch_id: str) -> bytes:
        lines = [
            json.dumps({"custom_id": name, "result": result})
            for name, result in self.ended(batch_id)
        ]
        return "\n".join(lines).encode() + b"\n"


def events_of(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The message as the API streams it."""
    first = {"output_tokens": 1}
    start = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], **first}}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for number, block in enumerate(message["content"]):
        half = len(block["text"]) // 2
        for text in (block["text"][:half], block["text"][half:]):
            delta = {"type": "text_delta", "text": text}
            yield {"type": "content_block_delta", "index": number, "delta": delta}
    usage = {"output_tokens": message["usage"]["output_tokens"]}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"]},
        "usage": usage,
    }
    yield {"type": "message_stop"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = (
        True  # without it every answer waits for the acknowledgement of its headers
    )
    api: MessagesApi

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = self._log("POST", body)
        if fault := self.api.fault("POST", self.path) or self.api.refused(headers, body):
            return self._fail(fault)
        if self.path == "/v1/messages/batches":
            return self._send(200, self.api.submit(body))
        if self.path != "/v1/messages":
            return self._fail(Fault(404, "not_found_error", "Not found"))
        said = self.api.answer(body)
        time.sleep(getattr(said, "seconds", 0.0))
        if isinstance(said, Fault):
            return self._fail(said)
        said = said if isinstance(said, Said) else Said(said)
        message = self.api.message(body, said)
        if not body.get("stream"):
            return self._send(200, message)
        self.send_response_only(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events_of(message):
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            time.sleep(said.pause)
        return None

    def do_GET(self) -> None:
        headers = self._log("GET", {})
        if fault := self.api.fault("GET", self.path) or self.api.refused(headers, {}):
            return self._fail(fault)
        parts = self.path.split("?")[0].removeprefix("/v1/messages/batches").strip("/").split("/")
        if parts == [""]:
            return self._send(200, self.api.listed(parse_qs(urlsplit(self.path).query)))
        if parts[0] not in self.api.batches:
            return self._fail(Fault(404, "not_found_error", "no such batch"))
        if parts[1:] == ["results"]:
            return self._send_raw(
                200, self.api.results(parts[0]), {"content-type": "application/x-jsonl"}
            )
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
            headers = {"content-type": "application/json", **fault.headers}
            self._send_raw(fault.status, json.dumps(fault.body()).encode(), headers)

    def _send(self, status: int, body: dict[str, Any]) -> None:
        self._send_raw(status, json.dumps(body).encode(), {"content-type": "application/json"})

    def _send_raw(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response_only(status)
        own = {
            "request-id": "req_1",
            "date": self.date_time_string(),
            **headers,
            "content-length": str(len(content)),
        }
        for name, value in own.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Keeps quiet; the log that counts is the server's own."""


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keeps quiet about clients that were killed."""


@contextmanager
def serve(answer: Answer, **how: Any) -> Iterator[MessagesApi]:
    """Serves on loopback while the block runs."""
    api = MessagesApi(answer, **how)
    handler = type("Handler", (_Handler,), {"api": api})
    server = QuietServer(("127.0.0.1", 0), handler)
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()


def main() -> None:
    """Serves until it is killed; every question is answered with the words of the command line."""
    words = " ".join(sys.argv[1:]) or "<observations></observations>"
    with serve(
        lambda body: words,
        on_request=lambda entry: print(entry["method"], entry["path"], flush=True),
    ) as api:
        print(
            f"MEMORY_MODEL_URL={api.url} MEMORY_MODEL={MODELS[0]} ANTHROPIC_API_KEY={KEY}",
            flush=True,
        )
        threading.Event().wait()


if __name__ == "__main__":
    main()
