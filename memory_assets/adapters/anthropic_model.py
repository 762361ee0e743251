"""Asks a model through the Messages API: a prompt and material in, text and token counts out.

The official SDK talks, retries and waits; here its failures become ours: what a person has to set right, what may pass
by itself, and what is wrong with one question. The address is always given, so that no variable in the environment sends
a transcript elsewhere. No message ever holds a key or words of a transcript.
"""

import base64
import os
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from memory_assets.errors import ModelBusyError, ModelError, ModelRequestError, ModelSetupError
from memory_assets.protocols import Batch, Image, ModelAnswer, ModelRequest

if TYPE_CHECKING:
    from anthropic import Anthropic, APIStatusError

T = TypeVar("T")

PUBLIC_URL = "https://api.anthropic.com"

PLACEHOLDER_KEY = "none"
"""What a local runtime, which asks for no key, is sent."""

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
NO_CREDIT = ("credit balance", "billing")
RESET_HEADERS = ("anthropic-ratelimit-requests-reset", "anthropic-ratelimit-tokens-reset")


class AnthropicModel:
    """A model behind the Messages API, at the vendor or at any server that speaks it."""

    def __init__(self, name: str, *, url: str = "", timeout_seconds: float = 300.0, retries: int = 4) -> None:
        self.name = name
        self._url = url or PUBLIC_URL
        self._timeout_seconds = timeout_seconds
        self._retries = retries

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Returns the answer; raises `ModelSetupError`, `ModelBusyError` or `ModelRequestError`."""
        started = time.monotonic()
        answer = self._call(lambda: self._client.messages.with_raw_response.create(**self._body(request)))
        try:
            body = answer.http_response.json()
        except ValueError as error:
            raise self._not_understood("is no JSON") from error
        return self._answer(body, seconds=time.monotonic() - started)

    def submit(self, requests: Mapping[str, ModelRequest]) -> Batch:
        """Hands in a batch."""
        entries: list[Any] = [{"custom_id": name, "params": self._body(request)} for name, request in requests.items()]
        return _batch(self._call(lambda: self._client.messages.batches.create(requests=entries)))

    def batch(self, batch_id: str) -> Batch:
        """Returns the batch as it stands now; raises `ModelRequestError` when the provider does not know it."""
        return _batch(self._call(lambda: self._client.messages.batches.retrieve(batch_id), is_about_model=False))

    def batches(self, since: datetime) -> Iterator[Batch]:
        """Yields the batches handed in since the moment, the latest first."""
        for found in self._call(lambda: self._client.messages.batches.list(limit=100)):
            batch = _batch(found)
            if batch.created_at < since:
                return
            yield batch

    def results(self, batch_id: str) -> Iterator[tuple[str, ModelAnswer | ModelError]]:
        """Yields the name and the answer of each question of an ended batch, or why there is none."""
        for entry in self._call(lambda: self._client.messages.batches.results(batch_id), is_about_model=False):
            yield entry.custom_id, self._result(entry.result.model_dump(mode="json"))

    def _result(self, result: dict[str, Any]) -> ModelAnswer | ModelError:
        if result["type"] == "succeeded":
            return self._answer(result["message"], is_batch=True)
        if result["type"] == "errored":
            kind = result["error"]["error"]["type"]
            wrong = ModelRequestError if kind in ("invalid_request_error", "request_too_large") else ModelBusyError
            return wrong(f"{self.name} could not answer a question of a batch: {kind}.")
        return ModelBusyError(f"A question of a batch to {self.name} was {result['type']}; the next run asks it again.")

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        """Returns the body of a request: the fixed part marked for the cache, pictures before the text."""
        pictures = [block for number, image in enumerate(request.images, 1) for block in _picture(number, image)]
        return {
            "model": self.name,
            "max_tokens": request.max_tokens,
            "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": [*pictures, {"type": "text", "text": request.material}]}],
        }

    def _answer(self, body: Any, *, seconds: float = 0.0, is_batch: bool = False) -> ModelAnswer:
        try:
            usage = body["usage"]
            return ModelAnswer(
                text="".join(block["text"] for block in body["content"] if block["type"] == "text"),
                model=body["model"],
                input_tokens=usage["input_tokens"],
                output_tokens=usage["output_tokens"],
                stop_reason=body["stop_reason"] or "end_turn",
                cache_read_tokens=usage.get("cache_read_input_tokens") or 0,
                cache_write_tokens=usage.get("cache_creation_input_tokens") or 0,
                seconds=round(seconds, 3),
                is_batch=is_batch,
                raw=body,
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise self._not_understood(f"has no usable {error}") from error

    def _not_understood(self, why: str) -> ModelError:
        return ModelError(
            f"The answer from {self._url} {why}: it does not speak the Messages API. "
            "Check MEMORY_MODEL_URL, or the gateway there."
        )

    @cached_property
    def _client(self) -> "Anthropic":
        """The SDK's client; importing it takes most of a second, so nobody does before there is something to ask."""
        import anthropic

        needs_no_key = self._url != PUBLIC_URL and not any(map(os.environ.get, KEYS))
        return anthropic.Anthropic(
            api_key=PLACEHOLDER_KEY if needs_no_key else None,
            base_url=self._url,
            timeout=self._timeout_seconds,
            max_retries=self._retries,
            open_telemetry=False,  # traces could carry transcripts away
        )

    def _call(self, call: Callable[[], T], *, is_about_model: bool = True) -> T:
        """Returns what the SDK returns; its failures as ours."""
        import anthropic

        try:
            return call()
        except anthropic.APITimeoutError as error:
            raise ModelBusyError(
                f"{self.name} did not answer within {self._timeout_seconds:g} s at {self._url}. "
                "MEMORY_MODEL_TIMEOUT_SECONDS waits longer."
            ) from error
        except anthropic.APIConnectionError as error:
            raise ModelBusyError(f"Cannot reach {self._url} to ask {self.name}: {_cause(error)}. Is the network up?") from error
        except anthropic.APIStatusError as error:
            raise self._refused(error, is_about_model) from error
        except (TypeError, anthropic.AnthropicError) as error:
            if "authentication" in str(error) or "redential" in type(error).__name__:
                raise ModelSetupError(f"There is no key for {self.name}: set ANTHROPIC_API_KEY. Nothing was sent.") from error
            raise self._not_understood(f"cannot be read ({type(error).__name__})") from error

    def _refused(self, error: "APIStatusError", is_about_model: bool) -> ModelError:
        """Returns the error that the status stands for."""
        status, kind = error.status_code, _kind(error)
        if status == 401:
            return ModelSetupError(f"{self._url} does not accept the key for {self.name}. Check ANTHROPIC_API_KEY.")
        if status == 402 or (status == 400 and any(word in str(error.body).lower() for word in NO_CREDIT)):
            return ModelSetupError(f"The account has no credit left to ask {self.name}. Top it up, or set MEMORY_MODEL=rules.")
        if status == 403:
            return ModelSetupError(f"The key may not use {self.name} at {self._url}. Use another key, or another MEMORY_MODEL.")
        if status == 404 and is_about_model:
            return ModelSetupError(f"{self._url} knows no model '{self.name}'. Check MEMORY_MODEL and MEMORY_MODEL_URL.")
        if status in (408, 409, 429) or status >= 500:
            wait = _retry_after(error.response.headers)
            again = f" It asks to be left alone for {wait:g} s." if wait else ""
            return ModelBusyError(f"{self.name} is busy ({status} {kind}) after {self._retries} retries.{again}", wait)
        return ModelRequestError(f"{self.name} refuses a question as it is ({status} {kind}).")


def _picture(number: int, image: Image) -> list[dict[str, Any]]:
    data = base64.b64encode(image.data).decode()
    source = {"type": "base64", "media_type": image.media_type, "data": data}
    return [{"type": "text", "text": f"Image {number}:"}, {"type": "image", "source": source}]


def _batch(found: Any) -> Batch:
    counts = found.request_counts.model_dump() if found.request_counts else {}
    return Batch(found.id, found.created_at.astimezone(UTC), found.processing_status == "ended", counts)


def _kind(error: "APIStatusError") -> str:
    """Returns the API's own name of the error, which holds no words of the request."""
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")
    return str(inner.get("type", "")) if isinstance(inner, dict) else ""


def _cause(error: BaseException) -> str:
    return type(error.__cause__ or error).__name__


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds that the headers ask to wait."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
    for name in RESET_HEADERS:
        try:
            return max((datetime.fromisoformat(headers[name]) - datetime.now(UTC)).total_seconds(), 0.0)
        except (KeyError, ValueError, TypeError):
            continue
    return None
