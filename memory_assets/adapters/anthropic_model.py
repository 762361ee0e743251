"""Client for the Messages API: a prompt and material in, text and token counts out.

The official SDK sends requests, retries and waits; `anthropic_errors` converts its failures.
Answers are streamed, so that a model that writes a long one is not taken for a silent one. The SDK
always gets the address and does not follow redirects, so that neither an environment variable nor a
server can send a transcript elsewhere.
"""

import base64
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from memory_assets.adapters.anthropic_errors import About, Failures
from memory_assets.errors import ModelBusyError, ModelError, ModelSetupError
from memory_assets.schema.protocols import Batch, ModelAnswer, ModelRequest
from memory_assets.text.words import count_tokens

if TYPE_CHECKING:
    from anthropic import Anthropic

T = TypeVar("T")

PUBLIC_URL = "https://api.anthropic.com"

PLACEHOLDER_KEY = "none"
"""Sent to a local runtime, which needs no key."""

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
"""Environment variables from which the SDK takes a key."""

CONNECT_SECONDS = 10.0
"""Longest wait for a connection; an answer may take minutes."""

MOST_SECONDS = 600.0
"""Longest time of one answer, even if the server keeps sending."""

WITH_TEMPERATURE = tuple(
    f"claude-{name}" for name in ("haiku-4-5", "sonnet-4-5", "sonnet-4-6", "opus-4-5", "opus-4-6")
)
"""Models that accept a temperature; later ones reject it."""

MIN_CACHED_TOKENS = {
    **dict.fromkeys(("haiku-4-5", "opus-4-5", "opus-4-6"), 4_096),
    **dict.fromkeys(("sonnet-4-6", "haiku"), 2_048),
    **dict.fromkeys(("opus-4", "sonnet"), 1_024),
}
"""Part of a model's name → tokens from which the API caches a prompt. The first part that the name
contains counts.
"""

DEFAULT_MIN_CACHED_TOKENS = 4_096
"""The number of tokens for models that are not in the list."""


class AnthropicModel:
    """A model behind the Messages API, at the vendor or any compatible server."""

    def __init__(
        self, name: str, *, url: str = "", timeout_seconds: float = 60.0, retries: int = 2
    ) -> None:
        self.name = name
        url = url or PUBLIC_URL
        self._failures = Failures(name, url, timeout_seconds, retries, url == PUBLIC_URL)

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Returns the answer; raises `ModelSetupError`, `ModelBusyError` or `ModelRequestError`."""
        body = self._body(request)
        started = time.monotonic()
        # The SDK has no parameter for the temperature.
        extra = {"temperature": body.pop("temperature")} if "temperature" in body else None
        message = self._call(lambda: self._received(body, extra, started), "model")
        return self._answer(message, seconds=time.monotonic() - started)

    def _received(self, body: Mapping[str, Any], extra: object, started: float) -> Any:
        """Returns the message: from the events of a stream, or whole from a server that does not
        stream.
        """
        send = self._client.messages.with_streaming_response.create
        content = bytearray()
        with send(**body, stream=True, extra_body=extra) as response:
            for chunk in response.iter_bytes():
                content += chunk
                if time.monotonic() - started > MOST_SECONDS:
                    raise self._failures.of_silence(MOST_SECONDS)
            is_streamed = "event-stream" in response.headers.get("content-type", "")
        if not is_streamed:
            return self._json(bytes(content))
        lines = bytes(content).splitlines()
        events = [self._json(line[5:]) for line in lines if line.startswith(b"data:")]
        return self._message_of(events)

    def _message_of(self, events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Returns the message that the events of a stream describe."""
        message: dict[str, Any] = {}
        texts: list[str] = []
        for event in events:
            match event["type"]:
                case "message_start":
                    message = dict(event["message"])
                case "content_block_delta":
                    texts.append(event["delta"].get("text") or "")
                case "message_delta":
                    message["stop_reason"] = event["delta"].get("stop_reason")
                    message["usage"] = {**message["usage"], **(event.get("usage") or {})}
                case "error":
                    raise self._failures.of_entry(event)
        if not message.get("stop_reason"):
            raise self._failures.not_understood("is incomplete")
        return {**message, "content": [{"type": "text", "text": "".join(texts)}]}

    def submit(self, requests: Mapping[str, ModelRequest]) -> Batch:
        """Submits a batch of requests by name; returns its state."""
        bodies = ((name, self._body(request)) for name, request in requests.items())
        entries: list[Any] = [{"custom_id": name, "params": body} for name, body in bodies]
        batches = self._client.messages.batches
        return self._batch(self._call(lambda: batches.create(requests=entries), "batches"))

    def batch(self, batch_id: str) -> Batch:
        """Returns the current state of the batch; raises `ModelRequestError` if the provider does
        not know it.
        """
        batches = self._client.messages.batches
        return self._batch(self._call(lambda: batches.retrieve(batch_id), "batch"))

    def batches(self, since: datetime) -> Iterator[Batch]:
        """Yields the batches submitted since the moment, the latest first."""
        records = self._call(lambda: iter(self._client.messages.batches.list(limit=100)), "batches")
        # Each step may fetch a page, and so fail like any other call.
        for record in iter(lambda: self._call(lambda: next(records, None), "batches"), None):
            batch = self._batch(record)
            if batch.created_at < since:
                return
            yield batch

    def results(self, batch_id: str) -> Iterator[tuple[str, ModelAnswer | ModelError]]:
        """Returns each request's name with its answer, or its error, for an ended batch.

        The results are read from the configured address: the URL that the batch names may point
        elsewhere.
        """
        path = f"/v1/messages/batches/{quote(batch_id, safe='')}/results"
        content = self._call(lambda: self._client.get(path, cast_to=bytes), "batch")
        return map(self._entry, filter(bytes.strip, content.splitlines()))

    def _entry(self, line: bytes) -> tuple[str, ModelAnswer | ModelError]:
        entry = self._json(line)
        if not isinstance(entry, dict) or not isinstance(entry.get("custom_id"), str):
            raise self._failures.not_understood("has a batch result without a request")
        return entry["custom_id"], self._result(entry.get("result"))

    def _result(self, result: Any) -> ModelAnswer | ModelError:
        kind = result.get("type") if isinstance(result, dict) else None
        if kind == "succeeded":
            try:
                return self._answer(result.get("message"), is_batch=True)
            except ModelError as error:
                return error
        if kind == "errored":
            return self._failures.of_entry(result.get("error"))
        if kind in ("canceled", "expired"):
            return ModelBusyError(
                f"A request of a batch to {self.name} was {kind}; the next run repeats it."
            )
        return self._failures.not_understood("has a batch result of an unknown type")

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        """Returns the body of a request. The prompt is marked for the cache if it is long enough;
        images come before the text.
        """
        temperature = {"temperature": 0} if self.name.startswith(WITH_TEMPERATURE) else {}
        return {
            "model": self.name,
            "max_tokens": request.max_tokens,
            "system": [{"type": "text", "text": request.system, **self._caching(request.system)}],
            "messages": [{"role": "user", "content": content_blocks(request)}],
            **temperature,
        }

    def _caching(self, system: str) -> dict[str, Any]:
        """Returns the mark for the cache; empty where the prompt is below the model's minimum."""
        minimums = (tokens for part, tokens in MIN_CACHED_TOKENS.items() if part in self.name)
        minimum = next(minimums, DEFAULT_MIN_CACHED_TOKENS)
        return {"cache_control": {"type": "ephemeral"}} if count_tokens(system) >= minimum else {}

    def _answer(self, body: Any, *, seconds: float = 0.0, is_batch: bool = False) -> ModelAnswer:
        try:
            usage = body["usage"]
            return ModelAnswer(
                text="".join(block["text"] for block in body["content"] if block["type"] == "text"),
                model=str(body["model"]),
                input_tokens=int(usage["input_tokens"]),
                output_tokens=int(usage["output_tokens"]),
                stop_reason=str(body["stop_reason"] or "end_turn"),
                cache_read_tokens=int(usage.get("cache_read_input_tokens") or 0),
                cache_write_tokens=int(usage.get("cache_creation_input_tokens") or 0),
                seconds=round(seconds, 3),
                is_batch=is_batch,
                raw=body,
            )
        except KeyError as error:  # its text is the missing key in quotes
            raise self._failures.not_understood(f"has no {error}") from None
        except (TypeError, AttributeError, ValueError):
            raise self._failures.not_understood("is not a message") from None

    def _batch(self, record: Any) -> Batch:
        try:
            counts = record.request_counts.model_dump() if record.request_counts else {}
            is_ended = record.processing_status == "ended"
            return Batch(record.id, record.created_at.astimezone(UTC), is_ended, counts)
        except AttributeError:
            raise self._failures.not_understood("is not a batch") from None

    def _json(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except ValueError:
            raise self._failures.not_understood("is not JSON") from None

    @cached_property
    def _client(self) -> "Anthropic":
        """The SDK's client; importing the SDK takes most of a second, so that happens here."""
        import anthropic

        keys = {name: os.environ[name] for name in KEYS if os.environ.get(name)}
        for name, key in keys.items():
            if not (key.isascii() and key.isprintable() and " " not in key):
                raise ModelSetupError(
                    f"{name} contains invalid characters, such as blanks. Copy the key again. "
                    "Nothing was sent."
                )
        failures = self._failures
        return anthropic.Anthropic(
            api_key=None if failures.is_public or keys else PLACEHOLDER_KEY,
            base_url=failures.url,
            timeout=anthropic.Timeout(
                failures.timeout_seconds, connect=min(failures.timeout_seconds, CONNECT_SECONDS)
            ),
            max_retries=failures.retries,
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
            open_telemetry=False,  # traces could carry transcripts away
        )

    def _call(self, call: Callable[[], T], subject: About) -> T:
        """Returns the result of a call of the SDK; converts its errors, without their text, which
        may quote the request.
        """
        import anthropic
        import httpx2

        try:
            return call()
        except anthropic.APITimeoutError as error:
            raise self._failures.of_timeout(error) from None
        except httpx2.TimeoutException:  # within a stream
            raise self._failures.of_silence(self._failures.timeout_seconds) from None
        except (anthropic.APIConnectionError, httpx2.TransportError) as error:
            raise self._failures.of_connection(error) from None
        except anthropic.APIStatusError as error:
            raise self._failures.of_status(error, subject) from None
        except (TypeError, anthropic.AnthropicError) as error:
            raise self._failures.of_sdk(error) from None
        # The SDK does not check that a body has the form that it expects.
        except (AttributeError, KeyError, ValueError):
            raise self._failures.not_understood("is not JSON of the Messages API") from None


def load_sdk() -> None:
    """Imports the SDK, which takes seconds."""
    import_module("anthropic")


def content_blocks(request: ModelRequest) -> list[dict[str, Any]]:
    """Returns the request's content blocks: each image after its number, then the material."""
    blocks: list[dict[str, Any]] = []
    for number, image in enumerate(request.images, 1):
        data = base64.b64encode(image.data).decode()
        source = {"type": "base64", "media_type": image.media_type, "data": data}
        blocks.append({"type": "text", "text": f"Image {number}:"})
        blocks.append({"type": "image", "source": source})
    return [*blocks, {"type": "text", "text": request.material}]
