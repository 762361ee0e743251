"""Asks a shared memory on another machine, with the verbs, results and errors of `MemoryAgent`.

It needs only the standard library. A busy server (503 with `Retry-After`) is asked again a few
times. No other request is sent twice: a busy server did nothing, while after another failure a
write may have been carried out. Redirects are not followed, because they could carry the token
elsewhere.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from memory_assets import errors
from memory_assets.errors import AccessError, MemoryAssetsError, QuestionError, UnreachableError
from memory_assets.interfaces.verb import Verb
from memory_assets.interfaces.verbs import VERBS

TIMEOUT_SECONDS = 60.0
ATTEMPTS = 4
"""Times that a busy server is asked."""

LONGEST_WAIT_SECONDS = 10.0
LONGEST_ANSWER = 64 * 1024 * 1024
"""Bytes of an answer that are read."""

RESULTS = {
    "recall": "Answer",
    "answer": "CitedAnswer",
    "explain": "WhyNot",
    "triggers": "Triggers",
    "brief": "Briefing",
    "status": "SharedStatus",
    "remember": "Noted",
    "feedback": "Rating",
    "forget": "Forgetting",
    "review": "Review",
    "decide": "Decided",
}
"""Verb that a token can call → name of the type of its result."""


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follows no redirect."""


@dataclass(frozen=True)
class Response:
    """What a server answered to one request."""

    status: int
    wait: float | None
    """Seconds after which to ask again, if the server says so."""
    content: bytes


class Connection:
    """Sends requests with a token to one server."""

    def __init__(self, url: str, token: str) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise QuestionError(
                f"{url[:80]!r} is no address of a shared memory; use the form "
                "https://memory.example:3100"
            )
        if not token.isascii() or not token.isprintable():
            raise QuestionError("The token has characters that no token has. Copy it again.")
        self.url = url.rstrip("/")
        self._token = token
        self._opener = build_opener(_NoRedirects)

    def send(self, path: str, body: bytes | None = None) -> Response:
        """Returns the answer to a POST of the JSON `body`, or to a GET without a body.

        Raises `UnreachableError` where the server does not answer.
        """
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        method = "GET" if body is None else "POST"
        request = Request(f"{self.url}/{path}", body, headers, method=method)
        try:
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
                return Response(answer.status, None, answer.read(LONGEST_ANSWER))
        except HTTPError as answer:
            with answer:
                wait = answer.headers.get("Retry-After") or ""
                seconds = float(wait) if wait.isdigit() else None
                return Response(answer.code, seconds, answer.read(LONGEST_ANSWER))
        except (URLError, OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise UnreachableError(
                f"{self.url} does not answer: {reason}. Check the address, and that it is served."
            ) from error

    def envelope_of(self, response: Response) -> dict[str, Any]:
        """Returns the JSON of the answer, with `data` and `warnings`; raises the server's error."""
        try:
            envelope = json.loads(response.content)
            is_ok = bool(envelope["ok"])
        except (ValueError, KeyError, TypeError):
            raise UnreachableError(
                f"{self.url} answered {response.status}, and not as a memory does. Check "
                "the address."
            ) from None
        if not is_ok:
            raise _error_of(envelope.get("error", {}), response.status)
        return envelope


class RemoteMemory:
    """Asks the server at the address with the token; has a method for each verb in `RESULTS`."""

    def __init__(
        self, url: str, token: str, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._connection = Connection(url, token)
        self._sleep = sleep

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in RESULTS:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        verb = next(verb for verb in VERBS if verb.name == name)
        return partial(self._ask, verb)

    def _ask(self, verb: Verb, *arguments: Any, **options: Any) -> Any:
        """Returns the result of the verb, an object of its usual type."""
        request = verb.request.of(*arguments, **options)
        body = request.model_dump_json(include=request.model_fields_set).encode()
        answer = self._connection.send(verb.name, body)
        for _ in range(ATTEMPTS - 1):
            if answer.status != 503 or answer.wait is None:
                break
            self._sleep(min(answer.wait, LONGEST_WAIT_SECONDS))
            answer = self._connection.send(verb.name, body)
        envelope = self._connection.envelope_of(answer)
        return _result_of(verb.name, envelope["data"], envelope["warnings"])


def _error_of(error: Mapping[str, Any], status: int) -> MemoryAssetsError:
    """Returns the error with the type and the message that the server sent."""
    kind = getattr(errors, str(error.get("type")), None)
    message = str(error.get("message") or f"The server answered {status}.")
    if isinstance(kind, type) and issubclass(kind, MemoryAssetsError):
        return kind(message)
    return UnreachableError(message) if status == 503 else AccessError(message)


def _result_of(verb: str, data: Any, warnings: list[str]) -> Any:
    """Returns the result object of the verb from its JSON."""
    from memory_assets.extras.sharing.answers import SharedStatus
    from memory_assets.memory import verb_answers

    if verb == "explain" and "kind" in data:
        facts = {name: value for name, value in data.items() if name != "is_verified"}
        return verb_answers.Explanation(facts.pop("target"), _step(facts))
    if verb == "forget":  # the JSON of a report leaves out the forgotten words
        for name in filter(data.get, ("found", "proof")):
            data[name]["_wordings"] = ()
    kind = SharedStatus if verb == "status" else getattr(verb_answers, RESULTS[verb])
    if any(field.name == "warnings" for field in fields(kind)):
        data["warnings"] = warnings
    return _rebuilt(kind, data)


def _rebuilt(kind: type, data: Any) -> Any:
    """Returns the object of this type; raises `UnreachableError` where its fields do not fit.

    The server may be of another release.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise UnreachableError(
            f"The answer does not fit {kind.__name__} ({where}): is the server of this release?"
        ) from None


def _step(data: Mapping[str, Any]) -> Any:
    from memory_assets.memory.verb_answers import ProvenanceStep

    facts = {name: value for name, value in data.items() if name not in ("kind", "id", "behind")}
    return ProvenanceStep(data["kind"], data["id"], facts, tuple(map(_step, data["behind"])))
