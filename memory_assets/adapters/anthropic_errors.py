"""Turns what goes wrong at the Messages API into our errors: set something right, wait, or leave one question out.

Takes an exception of the SDK, or the error of one entry of a batch; gives a `ModelError` that names the setting to change.
Its message holds the API's own name of the error and never the API's sentence, which may quote the request, nor a key.
"""

import math
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from memory_assets.errors import ModelBusyError, ModelError, ModelRequestError, ModelSetupError

if TYPE_CHECKING:
    from anthropic import AnthropicError, APIConnectionError, APIStatusError, APITimeoutError

About = Literal["model", "batches", "batch"]
"""What a call is about, and so what is missing where the server says 404: the model, the Batches API or one batch."""

NO_CREDIT = ("credit balance", "billing")

PASSING_STATUSES = (408, 409, 429)
"""Statuses below 500 that asking again may cure: a time-out, a lock, a rate limit."""

SETUP_KINDS = {
    "authentication_error": "the key is not accepted; check ANTHROPIC_API_KEY",
    "permission_error": "the key may not use it; use another key, or another MEMORY_MODEL",
    "not_found_error": "there is no such model; check MEMORY_MODEL",
    "billing_error": "the account has no credit left; top it up, or set MEMORY_MODEL=rules",
}
REQUEST_KINDS = ("invalid_request_error", "request_too_large")

_RESET = re.compile(r"anthropic-ratelimit-(.+)-reset")


@dataclass(frozen=True)
class Failures:
    """Failures of one model at one address, in words that name both."""

    model: str
    url: str
    timeout_seconds: float
    retries: int
    is_public: bool
    """Whether the address is the vendor's own and no setting's."""

    def of_status(self, error: "APIStatusError", about: About) -> ModelError:
        """Returns the error that the status stands for."""
        status, kind = error.status_code, _kind(error.body)
        if status < 400:
            return ModelSetupError(
                f"{self._where} sends requests on to another address ({status}), where no setting allows transcripts to go. "
                "Set MEMORY_MODEL_URL to the address that answers."
            )
        if status == 401:
            return ModelSetupError(f"{self._where} does not accept the key for {self.model}. Check ANTHROPIC_API_KEY.")
        if status == 402 or (status == 400 and _is_about_credit(error.body)):
            return ModelSetupError(f"The account has no credit left to ask {self.model}. Top it up, or set MEMORY_MODEL=rules.")
        if status == 403:
            return ModelSetupError(
                f"The key may not use {self.model} at {self._where}. Use another key, or another MEMORY_MODEL."
            )
        if status in (404, 405, 501) and about != "batch":
            return self._missing(about)
        if status in PASSING_STATUSES or status >= 500:
            wait = retry_after(error.response.headers, is_rate_limit=status == 429)
            again = f" It asks to be left alone for {wait:.3g} s." if wait else ""
            return ModelBusyError(f"{self.model} is busy ({status} {kind}) after {self.retries} retries.{again}", wait)
        return ModelRequestError(f"{self.model} refuses a question as it is ({status} {kind}).")

    def of_entry(self, body: object) -> ModelError:
        """Returns the error of a question that went wrong within a batch."""
        kind = _kind(body)
        if kind in SETUP_KINDS or _is_about_credit(body):
            why = SETUP_KINDS.get(kind, SETUP_KINDS["billing_error"])
            return ModelSetupError(f"{self.model} answers no question of a batch ({kind}): {why}.")
        wrong = ModelRequestError if kind in REQUEST_KINDS else ModelBusyError
        return wrong(f"{self.model} could not answer a question of a batch: {kind or 'no reason given'}.")

    def of_timeout(self, error: "APITimeoutError") -> ModelError:
        """Returns the error of a server that keeps silent."""
        if "Connect" in type(error.__cause__).__name__:
            return ModelBusyError(
                f"{self._where} takes no connection to ask {self.model}. Is the network up, the server running?"
            )
        return ModelBusyError(
            f"{self.model} did not answer within {self.timeout_seconds:g} s at {self._where}. "
            "MEMORY_MODEL_TIMEOUT_SECONDS waits longer."
        )

    def of_connection(self, error: "APIConnectionError") -> ModelError:
        """Returns the error of a server that cannot be reached: a wrong setting where its very name is unknown."""
        if not self.is_public and any(_is_unknown_name(cause) for cause in _causes(error)):
            return ModelSetupError(f"No machine is called {urlsplit(self.url).hostname}. Check MEMORY_MODEL_URL.")
        why = type(error.__cause__ or error).__name__
        return ModelBusyError(f"Cannot reach {self._where} to ask {self.model}: {why}. Is the network up?")

    def of_sdk(self, error: "AnthropicError | TypeError") -> ModelError:
        """Returns the error of a client that cannot even ask, or cannot read what came."""
        if "authentication" in str(error) or "redential" in type(error).__name__:
            return ModelSetupError(f"There is no key for {self.model}: set ANTHROPIC_API_KEY. Nothing was sent.")
        return self.not_understood(f"cannot be read ({type(error).__name__})")

    def of_key(self, variable: str) -> ModelError:
        """Returns the error of a key that no header can carry."""
        return ModelSetupError(
            f"{variable} holds characters that no key has, such as blanks or an ellipsis. Copy the key again. Nothing was sent."
        )

    def not_understood(self, why: str) -> ModelError:
        """Returns the error of an answer that is none."""
        return ModelError(
            f"The answer from {self._where} {why}: it does not speak the Messages API. "
            "Check MEMORY_MODEL_URL, or the gateway there."
        )

    def _missing(self, about: About) -> ModelError:
        if about == "batches":
            return ModelSetupError(f"{self._where} takes no batches of questions. Set MEMORY_MODEL_BATCHES=never.")
        hint = " without its /v1, which is added" if self.url.rstrip("/").endswith("/v1") else ""
        return ModelSetupError(f"{self._where} knows no model '{self.model}'. Check MEMORY_MODEL and MEMORY_MODEL_URL{hint}.")

    @property
    def _where(self) -> str:
        """The address without user, password and parameters, any of which may be a key."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def retry_after(headers: Mapping[str, str], *, is_rate_limit: bool) -> float | None:
    """Returns the seconds that the headers ask to wait; of rate limits, until the last of those that are used up is reset."""
    now = _moment(headers.get("date", "")) or datetime.now(UTC)  # the server's clock, where it tells
    waits = [_number(headers.get("retry-after-ms", ""), 0.001), _number(headers.get("retry-after", ""), 1.0)]
    until = _moment(headers.get("retry-after", "")) or (_reset(headers) if is_rate_limit else None)
    if until is not None:
        waits.append((until - now).total_seconds())
    return next((max(wait, 0.0) for wait in waits if wait is not None), None)


def _reset(headers: Mapping[str, str]) -> datetime | None:
    limits = {match[1]: _moment(value) for name, value in headers.items() if (match := _RESET.fullmatch(name.lower()))}
    moments = {limit: moment for limit, moment in limits.items() if moment is not None}
    used_up = [moment for limit, moment in moments.items() if headers.get(f"anthropic-ratelimit-{limit}-remaining") == "0"]
    return max(used_up or moments.values(), default=None)


def _number(text: str, unit: float) -> float | None:
    try:
        found = float(text) * unit
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _moment(text: str) -> datetime | None:
    """Returns the moment that a header names, as HTTP or as ISO 8601 writes it."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(text)
        except (ValueError, TypeError):
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def _kind(body: object) -> str:
    """Returns the API's own name of the error, where it is one: it holds no words of the request."""
    kind = _error(body).get("type")
    return kind if isinstance(kind, str) and re.fullmatch(r"[a-z_]{1,40}", kind) else ""


def _is_about_credit(body: object) -> bool:
    return any(word in str(_error(body).get("message", "")).lower() for word in NO_CREDIT)


def _error(body: object) -> Mapping[str, object]:
    inner = body.get("error") if isinstance(body, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_unknown_name(error: BaseException) -> bool:
    """Whether no name server knows the name; without a network they say something else."""
    return isinstance(error, socket.gaierror) and error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", None))
