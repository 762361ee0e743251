"""The HTTP API: each verb has an address, and each answer is the envelope of `--json`.

Verbs that only read take GET with a query or POST with a JSON object; verbs that write take POST
only, on a server that was started with `--write`. `/openapi.json` describes the API, `/` is a page
for people; only these two open in a browser.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from memory_assets import errors
from memory_assets.errors import MemoryAssetsError, QuestionError
from memory_assets.interfaces import dispatcher, envelope
from memory_assets.interfaces.browsers import OWN_HEADER
from memory_assets.interfaces.guard import LONGEST_BODY, App
from memory_assets.interfaces.mcp.protocol import ENVELOPE, version
from memory_assets.interfaces.server_access import OWNER, ServerAccess
from memory_assets.interfaces.verb import Verb
from memory_assets.interfaces.verbs import VERBS
from memory_assets.text.html_page import render

LONGEST_QUESTION = 16_384
"""Characters; recall reads the first 2,000."""

ABOUT = (
    "Long-term memory of coding sessions. A client that looks like a browser sends the header "
    f"`{OWN_HEADER}: 1`."
)
PAGES = ("/", "/openapi.json")
"""Addresses that people open in a browser. Neither shows anything of the memory."""


class TooLargeError(MemoryAssetsError):
    """The request body is too large."""


STATUS: tuple[tuple[int, tuple[type[MemoryAssetsError], ...]], ...] = (
    (413, (TooLargeError, errors.QuotaError)),
    (409, (errors.PushError,)),
    (401, (errors.TokenError,)),
    (403, (errors.ScopeError,)),
    (429, (errors.TooManyWritesError,)),
    (404, (errors.UnknownIdError, errors.UnknownMemoryError)),
    (409, (errors.MemoryGoneError, errors.ReviewError, errors.StoreBusyError)),
    (400, (QuestionError, errors.TableError, errors.NoteError)),
    (503, (errors.StoreError, errors.SettingsError, errors.IndexFailedError, errors.ModelError)),
)
"""Status code and classes of errors: the first match counts; other errors have the status 500."""

MEANINGS = {
    200: "The answer.",
    400: "The arguments are not valid.",
    401: "The server is shared, and the request has no valid token.",
    403: "The request comes from a web page or names another server, or the server is read-only "
    "or the token may not do this.",
    404: "There is no memory, proposal or entry of that name.",
    409: "Another process is writing, or it was already decided, replaced or forgotten.",
    408: "The request did not arrive within seconds.",
    413: "The request is too large.",
    414: "The address is too long; send a long question with POST.",
    429: "The token wrote too often within a minute (see Retry-After).",
    503: "There is no memory yet, a part of it is not available, or too many requests are "
    "waiting (see Retry-After).",
}
"""Status code → what it means, for `/openapi.json`."""


def application(host: str, *, is_writing: bool = False, access: ServerAccess = OWNER) -> App:
    """Returns the ASGI application with an address for each verb.

    It answers only requests for this host, and only what the access allows.
    """
    is_writing = is_writing or access.is_shared
    app = FastAPI(
        title="memory_assets",
        version=version(),
        description=ABOUT + ("" if is_writing else " This server is read-only."),
        docs_url=None,  # its page fetches a script from the network
        redoc_url=None,
    )
    for verb in VERBS:
        _add_verb(app, verb, access, is_writing=is_writing)
    access.add_routes(app)
    app.add_api_route("/", _page(is_writing), include_in_schema=False, response_class=HTMLResponse)
    app.add_exception_handler(HTTPException, _not_found)
    return access.guard(app, host, PAGES)


async def _not_found(request: Request, error: Exception) -> Response:
    """Answers requests for unknown addresses, with the envelope of every other answer."""
    addresses = ", ".join(f"/{verb.name}" for verb in VERBS)
    message = f"There is no {request.method} {request.url.path[:80]}; choose from {addresses}."
    return respond(
        envelope.failure_envelope(QuestionError(message)), getattr(error, "status_code", 404)
    )


def _add_verb(app: FastAPI, verb: Verb, access: ServerAccess, *, is_writing: bool) -> None:
    """Adds the address of a verb; one that writes takes POST only."""

    async def answer(request: Request) -> Response:
        if verb.is_writing and not is_writing:
            message = (
                f"{verb.name} writes, and this server is read-only. Start it as `memory serve "
                "http --write`."
            )
            return respond(envelope.failure_envelope(QuestionError(message)), 403)
        try:
            is_get = request.method == "GET"
            arguments = _query(verb, request) if is_get else await read_body(request)
            _check_length(arguments)
            agent_for = access.agent_for(request.scope)
            data = await run_in_threadpool(dispatcher.ask, verb, arguments, agent_for)
        except Exception as error:
            return respond(envelope.failure_envelope(error), status_of(error))
        return respond(envelope.envelope_of(data, envelope.warnings_of(data)))

    if not verb.is_writing:
        add_route(app, verb.name, "GET", answer, verb.title, verb.about, _parameters(verb))
    add_route(app, verb.name, "POST", answer, verb.title, verb.about, _request(verb))


def add_route(
    app: FastAPI,
    name: str,
    method: str,
    answer: Callable[[Request], Awaitable[Response]],
    title: str,
    about: str,
    openapi: dict[str, Any],
) -> None:
    """Adds the address of that name; `openapi` describes its arguments."""
    app.add_api_route(
        f"/{name}",
        answer,
        methods=[method],
        name=title,
        description=about,
        operation_id=f"{name}_{method.lower()}",
        openapi_extra=openapi,
        response_class=Response,
        responses={
            code: {"description": meaning, "content": as_json(ENVELOPE)}
            for code, meaning in MEANINGS.items()
        },
    )


def _check_length(arguments: Any) -> None:
    """Raises `TooLargeError` for a question that is longer than any real one."""
    question = arguments.get("question")
    if isinstance(question, str) and len(question) > LONGEST_QUESTION:
        raise TooLargeError(
            f"The question has {len(question):,} characters, the limit is "
            f"{LONGEST_QUESTION:,}. Shorten it."
        )


def status_of(error: BaseException) -> int:
    """Returns the HTTP status of an error."""
    cause = envelope.cause_of(error)
    return next((status for status, kinds in STATUS if isinstance(cause, kinds)), 500)


def _query(verb: Verb, request: Request) -> dict[str, Any]:
    """Returns the arguments in the query of an address."""
    lists = {name for name, schema in verb.parameters.items() if schema["type"] == "array"}
    query = request.query_params
    return {name: query.getlist(name) if name in lists else query[name] for name in query}


async def read_body(request: Request) -> Any:
    """Returns the JSON object in the body, an empty one for an empty body.

    Raises `QuestionError` for anything else, `TooLargeError` for too long a body.
    """
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise TooLargeError(f"The request is longer than {LONGEST_BODY:,} bytes.")
    if not body.strip():
        return {}
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise QuestionError("Send the arguments as JSON, with the content type application/json.")
    try:
        arguments = orjson.loads(bytes(body))
    except orjson.JSONDecodeError as error:
        raise QuestionError(f"The body is not JSON: {error}.") from None
    if not isinstance(arguments, dict):
        raise QuestionError("The arguments must be one JSON object.")
    return arguments


def respond(answer: dict[str, Any], status: int = 200) -> Response:
    """Returns the answer, in its envelope, as a response."""
    return Response(envelope.to_json(answer), status, media_type="application/json")


def _parameters(verb: Verb) -> dict[str, Any]:
    """Returns the parameters of a query, as OpenAPI describes them."""
    parameters = [
        {
            "name": name,
            "in": "query",
            "required": name in verb.required,
            "description": schema["description"],
            "schema": schema,
        }
        for name, schema in verb.parameters.items()
    ]
    return {"parameters": parameters} if parameters else {}


def _request(verb: Verb) -> dict[str, Any]:
    """Returns the body of a request, as OpenAPI describes it."""
    return {"requestBody": {"required": bool(verb.parameters), "content": as_json(verb.schema())}}


def as_json(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the content of a body in JSON, as OpenAPI describes it."""
    return {"application/json": {"schema": schema}}


def _page(is_writing: bool) -> Any:
    """Returns the function that answers `/` with a page about the verbs."""
    verbs = [verb for verb in VERBS if is_writing or not verb.is_writing]

    async def page() -> str:
        return render("http.html", Path(__file__).parent, verbs=verbs)

    return page
