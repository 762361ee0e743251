"""A local server that streams answers to the clients of harnesses: the Messages API to Claude Code and OpenCode, the
Responses API to Codex, the Chat Completions API to Qwen Code and Copilot CLI, Gemini's API to its client.

What it answers is a function of the request's body, as in `messages_api`, whose answers and faults it shares; it logs every request.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from uuid import uuid4

from memory_assets_tests.messages_api import Answer, Fault, Said

Event = dict[str, Any]


@dataclass(frozen=True)
class Called:
    """An answer that calls a tool."""

    name: str
    arguments: dict[str, Any]
    namespace: str = ""
    """In the Responses API, of a server's tools."""
    text: str = ""
    stop_reason: str = "tool_use"


@dataclass
class StreamingApi:
    """The server's state: its address and what it was asked."""

    answer: "Answer | Callable[[dict[str, Any]], str | Said | Called | Fault]"
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)

    def questions(self) -> list[dict[str, Any]]:
        """The bodies of all questions."""
        return [entry["body"] for entry in self.requests if entry["path"].endswith(tuple(EVENTS))]


def messages_events(body: dict[str, Any], said: Said | Called) -> Iterator[Event]:
    """The events of an answer of the Messages API."""
    usage = {
        "input_tokens": 100,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
    }
    message = {
        "id": f"msg_{uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
    }
    yield {
        "type": "message_start",
        "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage},
    }
    if said.text:
        yield {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": ""},
        }
        yield {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": said.text},
        }
        yield {"type": "content_block_stop", "index": 0}
    if isinstance(said, Called):
        called = {"type": "tool_use", "id": f"toolu_{uuid4().hex}", "name": said.name, "input": {}}
        yield {"type": "content_block_start", "index": 0, "content_block": called}
        arguments = {"type": "input_json_delta", "partial_json": json.dumps(said.arguments)}
        yield {"type": "content_block_delta", "index": 0, "delta": arguments}
        yield {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": said.stop_reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": len(said.text) // 4}}
    yield {"type": "message_stop"}


def responses_events(body: dict[str, Any], said: Said | Called) -> Iterator[Event]:
    """The events of an answer of the Responses API."""
    yield {"type": "response.created", "response": {"id": "resp_1"}}
    content = [{"type": "output_text", "text": said.text}]
    item: Event = {"type": "message", "role": "assistant", "id": "msg_1", "content": content}
    if isinstance(said, Called):
        item = {
            "type": "function_call",
            "id": "fc_1",
            "call_id": f"call_{uuid4().hex}",
            "name": said.name,
        }
        item |= {"arguments": json.dumps(said.arguments)} | (
            {"namespace": said.namespace} if said.namespace else {}
        )
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    tokens = {
        "input_tokens": 100,
        "output_tokens": len(said.text) // 4,
        "total_tokens": 100 + len(said.text) // 4,
    }
    details = {
        "input_tokens_details": {"cached_tokens": 20},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    yield {
        "type": "response.completed",
        "response": {"id": "resp_1", "usage": {**tokens, **details}},
    }


def gemini_events(body: dict[str, Any], said: Said | Called) -> Iterator[Event]:
    """The one event of an answer of Gemini's API."""
    parts: list[Event] = [{"text": said.text}] if said.text else []
    if isinstance(said, Called):
        parts.append({"functionCall": {"name": said.name, "args": said.arguments}})
    content = {"role": "model", "parts": parts}
    count = len(said.text) // 4
    tokens = {
        "promptTokenCount": 100,
        "candidatesTokenCount": count,
        "totalTokenCount": 100 + count,
    }
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    yield {"candidates": [candidate], "usageMetadata": tokens}


def chat_events(body: dict[str, Any], said: Said | Called) -> Iterator[Event]:
    """The events of an answer of the Chat Completions API."""
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1}
    chunk["model"] = body["model"]
    delta: Event = {"role": "assistant", "content": said.text or None}
    reason = "stop"
    if isinstance(said, Called):
        function = {"name": said.name, "arguments": json.dumps(said.arguments)}
        call = {"index": 0, "id": f"call_{uuid4().hex}", "type": "function", "function": function}
        delta["tool_calls"] = [call]
        reason = "tool_calls"
    yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    ended = {"index": 0, "delta": {}, "finish_reason": reason}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    yield {**chunk, "choices": [ended], "usage": usage}


EVENTS: dict[str, Callable[[dict[str, Any], Said | Called], Iterator[Event]]] = {
    "/messages": messages_events,
    "/responses": responses_events,
    "/chat/completions": chat_events,
    ":streamGenerateContent": gemini_events,
    ":generateContent": gemini_events,
}
"""End of the path of a question → the events of its answer; `:generateContent` does not stream."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: StreamingApi

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.loads(raw) if raw else {}
        path = self.path.split("?")[0]
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.api.requests.append(
            {"method": "POST", "path": path, "headers": headers, "body": body, "at": time.time()}
        )
        events_of = next((EVENTS[end] for end in EVENTS if path.endswith(end)), None)
        if events_of is None:
            return self._send(404, b"{}", {"content-type": "application/json"})
        said = self.api.answer(body)
        time.sleep(getattr(said, "seconds", 0.0))
        if isinstance(said, Fault):
            headers = {"content-type": "application/json", **said.headers}
            return self._send(said.status, json.dumps(said.body()).encode(), headers)
        said = said if isinstance(said, Said | Called) else Said(said)
        events = list(events_of(body, said))
        if path.endswith(":generateContent"):
            whole = json.dumps(events[0]).encode()
            return self._send(200, whole, {"content-type": "application/json"})
        stream = "".join(f"{_name_of(event)}data: {json.dumps(event)}\n\n" for event in events)
        if path.endswith("/chat/completions"):
            stream += "data: [DONE]\n\n"
        return self._send(200, stream.encode(), {"content-type": "text/event-stream"})

    def do_GET(self) -> None:
        request = {"method": "GET", "path": self.path, "headers": dict(self.headers), "body": {}}
        self.api.requests.append(request | {"at": time.time()})
        self._send(404, b"{}", {"content-type": "application/json"})

    do_HEAD = do_GET  # noqa: N815

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response_only(status)
        for name, value in {**headers, "content-length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing; the log is in the server's state."""


def _name_of(event: Event) -> str:
    """The line that names an event; events of Gemini's API have no names."""
    return f"event: {event['type']}\n" if "type" in event else ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores clients that were killed."""


@contextmanager
def stream(
    answer: "Answer | Callable[[dict[str, Any]], str | Said | Called | Fault]",
) -> Iterator[StreamingApi]:
    """Serves until the block ends."""
    api = StreamingApi(answer)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"api": api}))
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
