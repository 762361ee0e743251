"""The memory over HTTP: each verb is an address, and each answer the envelope of `--json`.

Verbs that only read take GET with a query or POST with a JSON object; those that write take POST alone, and only where the
server was started to write. The description of everything is at `/openapi.json`, a page for people at `/`.
"""

import html
import socket
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from memory_assets.errors import (
    IndexFailedError,
    MemoryAssetsError,
    MemoryGoneError,
    ModelError,
    NoteError,
    QuestionError,
    ReviewError,
    SettingsError,
    StoreBusyError,
    StoreError,
    TableError,
    UnknownIdError,
    UnknownMemoryError,
)
from memory_assets.interfaces.dispatcher import Dispatcher, Result
from memory_assets.interfaces.envelope import answered, failed, to_json
from memory_assets.interfaces.failure import cause_of
from memory_assets.interfaces.loopback import App, Guard, run
from memory_assets.interfaces.mcp.protocol import ENVELOPE, version
from memory_assets.interfaces.verbs import VERBS, Verb

LONGEST_BODY = 4 * 1024 * 1024

STATUS: tuple[tuple[type[BaseException], int], ...] = (
    (QuestionError, 400),
    (TableError, 400),
    (UnknownIdError, 404),
    (UnknownMemoryError, 404),
    (MemoryGoneError, 409),
    (NoteError, 400),
    (ReviewError, 409),
    (StoreBusyError, 409),
    (StoreError, 503),
    (SettingsError, 503),
    (IndexFailedError, 503),
    (ModelError, 503),
)
"""The first line whose error it is tells the status; what is not there is a fault of ours."""

MEANINGS = {
    200: "The answer.",
    400: "The arguments are not valid.",
    403: "The Host or Origin header names another server, or the request writes and the server is read-only.",
    404: "There is no memory, proposal or entry of that name.",
    409: "Another process is writing, or it was already decided, replaced or forgotten.",
    413: "The request is too large.",
    503: "There is no memory yet, or a part of it is not available.",
}


def application(dispatcher: Dispatcher, host: str, *, is_writing: bool = False) -> App:
    """Returns the ASGI application, which answers requests for this host alone."""
    return Guard(routes(dispatcher, is_writing=is_writing), host)


def serve(dispatcher: Dispatcher, listening: socket.socket, host: str, *, is_writing: bool) -> int:
    """Serves until the process is told to stop; returns the exit code."""
    return run(application(dispatcher, host, is_writing=is_writing), listening)


def routes(dispatcher: Dispatcher, *, is_writing: bool) -> FastAPI:
    """Returns the addresses, one for each verb."""
    app = FastAPI(
        title="memory_assets",
        version=version(),
        description="Long-term memory of coding sessions. " + ("" if is_writing else "This server is read-only."),
        docs_url=None,  # its page would fetch its script from the network
        redoc_url=None,
    )
    for verb in VERBS:
        _add(app, verb, dispatcher, is_writing=is_writing)
    app.add_api_route("/", _page(is_writing), include_in_schema=False, response_class=HTMLResponse)
    app.add_exception_handler(HTTPException, _nowhere)
    return app


async def _nowhere(request: Request, error: Exception) -> Response:
    """Answers what no address is there for, in the same form as everything else."""
    told = f"There is no {request.method} {request.url.path[:80]}; choose from {', '.join(f'/{verb.name}' for verb in VERBS)}."
    return _failure(QuestionError(told), getattr(error, "status_code", 404))


def _add(app: FastAPI, verb: Verb, dispatcher: Dispatcher, *, is_writing: bool) -> None:
    async def answer(request: Request) -> Response:
        if verb.is_writing and not is_writing:
            return _failure(
                QuestionError(f"{verb.name} writes, and this server is read-only. Start it as `memory serve http --write`."),
                403,
            )
        try:
            given = _query(verb, request) if request.method == "GET" else await _body(request)
            result = await run_in_threadpool(dispatcher.ask, verb.name, given)
        except Exception as error:
            return _failure(error, status_of(error))
        return _answer(result)

    for method in ("POST",) if verb.is_writing else ("GET", "POST"):
        app.add_api_route(
            f"/{verb.name}",
            answer,
            methods=[method],
            name=verb.title,
            description=verb.about,
            operation_id=f"{verb.name}_{method.lower()}",
            openapi_extra=_parameters(verb) if method == "GET" else _request(verb),
            response_class=Response,
            responses={code: {"description": meaning, "content": _json(ENVELOPE)} for code, meaning in MEANINGS.items()},
        )


def status_of(error: BaseException) -> int:
    """Returns the status that tells a client what kind of failure it is."""
    cause = cause_of(error)
    return next((status for kind, status in STATUS if isinstance(cause, kind)), 500)


def _query(verb: Verb, request: Request) -> dict[str, Any]:
    lists = {name for name, one in verb.parameters.items() if one["type"] == "array"}
    query = request.query_params
    return {name: query.getlist(name) if name in lists else query[name] for name in query}


async def _body(request: Request) -> Any:
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
        given = orjson.loads(bytes(body))
    except orjson.JSONDecodeError as error:
        raise QuestionError(f"The body is not JSON: {error}.") from None
    if not isinstance(given, dict):
        raise QuestionError("The arguments must be one JSON object.")
    return given


class TooLargeError(MemoryAssetsError):
    """More was sent than any question can be."""


def _answer(result: Result) -> Response:
    return Response(to_json(answered(result.data, result.warnings)), media_type="application/json")


def _failure(error: BaseException, status: int) -> Response:
    status = 413 if isinstance(error, TooLargeError) else status
    return Response(to_json(failed(error)), status, media_type="application/json")


def _parameters(verb: Verb) -> dict[str, Any]:
    listed = [
        {"name": name, "in": "query", "required": name in verb.required, "description": one["description"], "schema": one}
        for name, one in verb.parameters.items()
    ]
    return {"parameters": listed} if listed else {}


def _request(verb: Verb) -> dict[str, Any]:
    return {"requestBody": {"required": bool(verb.parameters), "content": _json(verb.schema())}}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _page(is_writing: bool) -> Any:
    rows = [
        f"<h2>{'POST' if verb.is_writing else 'GET, POST'} /{verb.name}</h2><p>{html.escape(verb.about)}</p><ul>"
        + "".join(f"<li><code>{name}</code> {html.escape(one['description'])}</li>" for name, one in verb.parameters.items())
        + "</ul>"
        for verb in VERBS
        if is_writing or not verb.is_writing
    ]
    head = '<!doctype html><meta charset="utf-8"><title>memory_assets</title><h1>memory_assets</h1>'
    told = (
        '<p>Each verb answers <code>{v, ok, data, warnings}</code>; <a href="/openapi.json">openapi.json</a> describes all.</p>'
    )

    async def page() -> str:
        return head + told + "".join(rows)

    return page
