"""Converts failures of the Messages API into our errors: those that a setting fixes, those to retry
later, and those of one request.

Takes an exception of the SDK, or the error of one entry of a batch; returns a `ModelError` whose
message says what to change. Messages contain the API's error type, but never its text, which may
quote the request, and never a key.
"""

import math
import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from memory_assets.errors import (
    ModelBusyError,
    ModelError,
    ModelRequestError,
    ModelSetupError,
    ModelSilentError,
    causes_of,
)

if TYPE_CHECKING:
    from anthropic import AnthropicError, APIStatusError, APITimeoutError

About = Literal["model", "batches", "batch"]
"""What a call is about. It decides what a 404 means: no such model, no Batches API, or no such
batch.
"""

SETUP_ERRORS = {
    "authentication_error": "does not accept the key for {}. Check ANTHROPIC_API_KEY.",
    "permission_error": "does not allow the key to use {}. "
    "Use another key, or another MEMORY_MODEL.",
    "not_found_error": "has no model '{}'. Check MEMORY_MODEL and MEMORY_MODEL_URL.",
    "billing_error": "has no credit left for {}. Add credit, or set MEMORY_MODEL=rules.",
}
"""Error types of the API that no retry can fix, with their message."""

SETUP_STATUSES = {401: "authentication_error", 402: "billing_error", 403: "permission_error"}
MISSING_STATUSES = (404, 405, 501)
RETRIED_STATUSES = (408, 409, 429)
"""Statuses below 500 that a retry may fix: a time-out, a lock, a rate limit."""

_RESET = re.compile(r"anthropic-ratelimit-(.+)-reset")


@dataclass(frozen=True)
class Failures:
    """Makes the errors of one model at one address; messages name both."""

    model: str
    url: str
    timeout_seconds: float
    retries: int
    is_public: bool
    """Whether the address is the vendor's, and not from a setting."""

    def of_status(self, error: "APIStatusError", subject: About) -> ModelError:
        """Returns the error for an HTTP status."""
        status = error.status_code
        kind = _kind(error.body)
        if status < 400:
            return ModelSetupError(
                f"{self._where} redirects requests to another address ({status}), which no setting "
                "allows. Set MEMORY_MODEL_URL to the final address."
            )
        if status in MISSING_STATUSES and subject == "batches":
            return ModelSetupError(
                f"{self._where} does not support batches. Set MEMORY_MODEL_BATCHES=never."
            )
        if status in MISSING_STATUSES and subject == "model":
            return self._setup("not_found_error")
        if status in SETUP_STATUSES or (status == 400 and _is_about_credit(error.body)):
            return self._setup(SETUP_STATUSES.get(status, "billing_error"))
        if status in RETRIED_STATUSES or status >= 500:
            wait = retry_after(error.response.headers, is_rate_limit=status == 429)
            advice = f" It asks to wait {wait:.3g} s." if wait else ""
            return ModelBusyError(
                f"{self.model} is busy ({status} {kind}) after {self.retries} retries.{advice}",
                wait,
            )
        return ModelRequestError(f"{self.model} rejects a request ({status} {kind}).")

    def of_entry(self, body: object) -> ModelError:
        """Returns the error for one request of a batch, or within a stream."""
        kind = "billing_error" if _is_about_credit(body) else _kind(body)
        if kind in SETUP_ERRORS:
            return self._setup(kind)
        is_wrong = kind in ("invalid_request_error", "request_too_large")
        error = ModelRequestError if is_wrong else ModelBusyError
        reason = kind or "no reason given"
        return error(f"{self.model} could not answer a request: {reason}.")

    def of_timeout(self, error: "APITimeoutError") -> ModelError:
        """Returns the error for a server that does not respond."""
        if "Connect" in type(error.__cause__).__name__:
            return ModelBusyError(
                f"{self._where} does not accept a connection. Check the network, and that "
                "the server is running."
            )
        return self.of_silence(self.timeout_seconds)

    def of_silence(self, seconds: float) -> ModelSilentError:
        """Returns the error for a server that took a request and sent nothing, or no end."""
        return ModelSilentError(
            f"{self.model} did not answer within {seconds:g} s at {self._where}. "
            "Increase MEMORY_MODEL_TIMEOUT_SECONDS to wait longer."
        )

    def of_connection(self, error: Exception) -> ModelError:
        """Returns the error for an unreachable server: a wrong setting if its host name is
        unknown.
        """
        if not self.is_public and any(_is_unknown_name(cause) for cause in causes_of(error)):
            return ModelSetupError(
                f"There is no host {urlsplit(self.url).hostname}. Check MEMORY_MODEL_URL."
            )
        cause_name = type(error.__cause__ or error).__name__
        return ModelBusyError(
            f"Cannot reach {self._where} to ask {self.model}: {cause_name}. Check the network."
        )

    def of_sdk(self, error: "AnthropicError | TypeError") -> ModelError:
        """Returns the error for a client that cannot send a request or read the response."""
        if "authentication" in str(error) or "redential" in type(error).__name__:
            return ModelSetupError(
                f"There is no key for {self.model}: set ANTHROPIC_API_KEY. Nothing was sent."
            )
        return self.not_understood(f"cannot be read ({type(error).__name__})")

    def not_understood(self, reason: str) -> ModelError:
        """Returns the error for a response that is not one of the Messages API; the reason follows
        its address in the message.
        """
        return ModelError(
            f"The response from {self._where} {reason}: it is not the Messages API. Check "
            "MEMORY_MODEL_URL."
        )

    def _setup(self, kind: str) -> ModelSetupError:
        ends_in_v1 = kind == "not_found_error" and self.url.rstrip("/").endswith("/v1")
        hint = " Remove /v1 from MEMORY_MODEL_URL: it is added." if ends_in_v1 else ""
        return ModelSetupError(f"{self._where} {SETUP_ERRORS[kind].format(self.model)}{hint}")

    @property
    def _where(self) -> str:
        """The address without user, password and parameters, any of which may be a key."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def retry_after(headers: Mapping[str, str], *, is_rate_limit: bool) -> float | None:
    """Returns the seconds to wait according to the headers; None if they do not say.

    After a rate limit without `retry-after`: until the last exhausted limit is reset.
    """
    now = _moment(headers.get("date", "")) or datetime.now(UTC)  # the server's clock, if sent
    after = headers.get("retry-after", "")
    waits = [_number(headers.get("retry-after-ms", ""), 0.001), _number(after, 1.0)]
    retry_at = _moment(after) or (_reset(headers) if is_rate_limit else None)
    if retry_at is not None:
        waits.append((retry_at - now).total_seconds())
    return next((max(wait, 0.0) for wait in waits if wait is not None), None)


def _reset(headers: Mapping[str, str]) -> datetime | None:
    """Returns when the last exhausted limit is reset; the last of all, if none is exhausted."""
    moments: dict[str, datetime] = {}
    for name, value in headers.items():
        match = _RESET.fullmatch(name.lower())
        moment = _moment(value) if match else None
        if match and moment:
            moments[match[1]] = moment
    remaining = "anthropic-ratelimit-{}-remaining"
    exhausted = [moments[name] for name in moments if headers.get(remaining.format(name)) == "0"]
    return max(exhausted or moments.values(), default=None)


def _number(text: str, unit: float) -> float | None:
    try:
        number = float(text) * unit
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _moment(text: str) -> datetime | None:
    """Returns the moment in a header, in the format of HTTP or ISO 8601."""
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, TypeError):
            moment = parse(text)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _kind(body: object) -> str:
    """Returns the API's error type; empty for other text, which could quote the request."""
    kind = _error(body).get("type")
    return kind if isinstance(kind, str) and re.fullmatch(r"[a-z_]{1,40}", kind) else ""


def _is_about_credit(body: object) -> bool:
    message = str(_error(body).get("message", "")).lower()
    return "credit balance" in message or "billing" in message


def _error(body: object) -> Mapping[str, object]:
    inner = body.get("error") if isinstance(body, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _is_unknown_name(error: BaseException) -> bool:
    """Returns whether the host name does not exist; without a network the error is another one."""
    unknown = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", None))
    return isinstance(error, socket.gaierror) and error.errno in unknown
