"""A shared memory on another machine, with the methods, results and errors of `MemoryAgent`.

Uses the standard library only. A server that is busy (503 with `Retry-After`) is asked again a few
times; a write is sent again only then, because such a request was not answered at all. Redirects
are not followed: they could carry the token elsewhere.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from memory_assets import errors
from memory_assets.errors import AccessError, MemoryAssetsError, QuestionError, UnreachableError
from memory_assets.schema import requests

if TYPE_CHECKING:
    from memory_assets.services.forget.forget import Forgetting
    from memory_assets.services.notes.feedback import Rating
    from memory_assets.services.notes.remember import Noted
    from memory_assets.services.review.proposals import Decided, Review
    from memory_assets.services.search.latest_briefing import Briefing
    from memory_assets.services.search.why_not import WhyNot
    from memory_assets.services.sharing.answers import SharedStatus
    from memory_assets.stages.brief.due import Triggers
    from memory_assets.stages.recall.cited_answer import CitedAnswer
    from memory_assets.stages.recall.results import Answer
    from memory_assets.stages.triage.explain import Explanation

T = TypeVar("T")

TIMEOUT_SECONDS = 60.0
ATTEMPTS = 4
LONGEST_WAIT_SECONDS = 10.0
LONGEST_ANSWER = 64 * 1024 * 1024


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
        self.url, self._token = url.rstrip("/"), token
        self._opener = build_opener(_NoRedirects)

    def send(self, path: str, body: bytes | None = None) -> Response:
        """Returns the answer to a POST of the JSON, or to a GET without a body; raises
        `UnreachableError` without an answer.
        """
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        sent = Request(
            f"{self.url}/{path}", body, headers, method="GET" if body is None else "POST"
        )
        try:
            with self._opener.open(sent, timeout=TIMEOUT_SECONDS) as answer:
                return Response(answer.status, None, answer.read(LONGEST_ANSWER))
        except HTTPError as refused:
            with refused:
                return Response(
                    refused.code,
                    _seconds(refused.headers.get("Retry-After")),
                    refused.read(LONGEST_ANSWER),
                )
        except (URLError, OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise UnreachableError(
                f"{self.url} does not answer: {reason}. Check the address, and that it is served."
            ) from error

    def envelope_of(self, response: Response) -> dict[str, Any]:
        """Returns the envelope of the answer; raises the error that the server names."""
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
    """Asks the server at the address with the token."""

    def __init__(
        self, url: str, token: str, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._connection, self._sleep = Connection(url, token), sleep

    def recall(self, question: "str | requests.RecallRequest", **options: Any) -> "Answer":
        """Returns the few memories that help with the question."""
        from memory_assets.stages.recall.results import Answer

        return self._ask("recall", requests.RecallRequest.of(question, **options), Answer)

    def answer(self, question: "str | requests.AnswerRequest", **options: Any) -> "CitedAnswer":
        """Returns an answer with its sources."""
        from memory_assets.stages.recall.cited_answer import CitedAnswer

        return self._ask("answer", requests.AnswerRequest.of(question, **options), CitedAnswer)

    def explain(
        self, target: "str | requests.ExplainRequest", **options: Any
    ) -> "Explanation | WhyNot":
        """Returns where something comes from, or why it is not recalled."""
        from memory_assets.services.search.why_not import WhyNot
        from memory_assets.stages.triage.explain import Explanation

        data = self._data("explain", requests.ExplainRequest.of(target, **options))["data"]
        if "kind" not in data:
            return _rebuilt(WhyNot, data)
        kept = {
            name: value for name, value in data.items() if name not in ("target", "is_verified")
        }
        return Explanation(data["target"], _step(kept))

    def triggers(self, on: "str | date | requests.TriggersRequest | None" = None) -> "Triggers":
        """Returns upcoming dates."""
        from memory_assets.stages.brief.due import Trigger, Triggers

        data = self._data("triggers", requests.TriggersRequest.of(on))["data"]
        return Triggers(tuple(_rebuilt(Trigger, one) for one in data["triggers"]))

    def brief(
        self, session: "str | requests.BriefRequest | None" = None, **options: Any
    ) -> "Briefing":
        """Returns the briefing."""
        from memory_assets.services.search.latest_briefing import Briefing

        return self._ask("brief", requests.BriefRequest.of(session, **options), Briefing)

    def status(self) -> "SharedStatus":
        """Returns the state of the memory."""
        from memory_assets.services.sharing.answers import SharedStatus

        return self._ask("status", requests.StatusRequest(), SharedStatus)

    def remember(self, text: "str | requests.RememberRequest", **options: Any) -> "Noted":
        """Saves a fact, or replaces the text of a memory."""
        from memory_assets.services.notes.remember import Noted

        return self._ask("remember", requests.RememberRequest.of(text, **options), Noted)

    def feedback(self, memory_ids: Any, **options: Any) -> "Rating":
        """Records that memories helped, or did not."""
        from memory_assets.services.notes.feedback import Rating

        return self._ask("feedback", requests.FeedbackRequest.of(memory_ids, **options), Rating)

    def forget(self, target: "str | requests.ForgetRequest", **options: Any) -> "Forgetting":
        """Lists or erases what holds a memory."""
        from memory_assets.services.forget.forget import Forgetting

        data = self._data("forget", requests.ForgetRequest.of(target, **options))["data"]
        unsent = {"_wordings": ()}  # a report keeps its words to itself
        reports = {name: {**data[name], **unsent} for name in ("found", "proof") if data[name]}
        return _rebuilt(Forgetting, {**data, **reports})

    def review(self) -> "Review":
        """Returns the proposals that wait for a decision."""
        from memory_assets.services.review.proposals import Review

        return self._ask("review", requests.ReviewRequest(), Review)

    def decide(self, decision: "str | requests.DecideRequest", **options: Any) -> "Decided":
        """Approves, rejects or edits proposals."""
        from memory_assets.services.review.proposals import Decided

        return self._ask("decide", requests.DecideRequest.of(decision, **options), Decided)

    def _ask(self, verb: str, request: requests.Request, kind: type[T]) -> T:
        envelope = self._data(verb, request)
        data = envelope["data"]
        if any(one.name == "warnings" for one in fields(kind)):  # pyright: ignore[reportArgumentType]
            data = {**data, "warnings": envelope["warnings"]}
        return _rebuilt(kind, data)

    def _data(self, verb: str, request: requests.Request) -> dict[str, Any]:
        """Returns the envelope of the answer; raises the error that the server names."""
        body = request.model_dump_json(include=request.model_fields_set).encode()
        answer = self._connection.send(verb, body)
        for _ in range(ATTEMPTS - 1):
            if answer.status != 503 or answer.wait is None:
                break
            self._sleep(min(answer.wait, LONGEST_WAIT_SECONDS))
            answer = self._connection.send(verb, body)
        return self._connection.envelope_of(answer)


def _seconds(given: str | None) -> float | None:
    return float(given) if given and given.isdigit() else None


def _error_of(error: Mapping[str, Any], status: int) -> MemoryAssetsError:
    """Returns the error of the server's type and message."""
    kind = getattr(errors, str(error.get("type")), None)
    message = str(error.get("message") or f"The server answered {status}.")
    if isinstance(kind, type) and issubclass(kind, MemoryAssetsError):
        return kind(message)
    return UnreachableError(message) if status == 503 else AccessError(message)


def _rebuilt(kind: type[T], data: Any) -> T:
    """Returns the result object; raises `UnreachableError` where the server is of a release with
    other fields.
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
    from memory_assets.stages.triage.explain import ProvenanceStep

    facts = {name: value for name, value in data.items() if name not in ("kind", "id", "behind")}
    return ProvenanceStep(data["kind"], data["id"], facts, tuple(map(_step, data["behind"])))
