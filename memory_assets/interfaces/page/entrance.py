"""Lets only the owner's browser in: by a one-time link, a cookie, and a token in every form.

Web pages of others cannot use the page: Host and Origin must name this server and its port, the
cookie is sent to no other site, and a change carries the token of a form that this server rendered.
Cookies are shared by all ports of a machine, so the cookie is for a path that only this server and
the browser know: a server of another user of this machine is never sent it.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from memory_assets.errors import MemoryAssetsError
from memory_assets.interfaces.guard import App, Guard, Receive, Scope, Send
from memory_assets.memory import page
from memory_assets.memory.places import find_store

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'self'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

COOKIE = "memory_page"
HOSTS = ("127.0.0.1", "localhost")
NEW_LINK = "Run `memory serve page --link` in a terminal, and open the link that it prints."


@dataclass
class Visit:
    """A browser that was let in, until the server ends."""

    form_token: str = field(default_factory=secrets.token_urlsafe)
    notice: str = ""
    """What the last change did; shown once."""
    changed: tuple[Any, ...] = ()
    """The lines of files that the last change added or removed; shown once."""
    decided: list[str] = field(default_factory=list)
    """The proposals that were decided here, the latest last, for undo."""


class NotAdmittedError(MemoryAssetsError):
    """A request that is not answered, with its status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Entrance:
    """Passes on the requests of browsers that were let in, and lets them in by a link."""

    def __init__(self, port: int) -> None:
        self.place = secrets.token_urlsafe(9)
        """The first part of every path; it changes with every start."""
        self._hosts = {f"{host}:{port}" for host in HOSTS}
        self._visits: dict[str, Visit] = {}

    def guard(self, app: App) -> App:
        """Returns the application behind the guard of all servers, with headers on every answer."""
        guarded = Guard(app, HOSTS[0], is_for_browsers=True)

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            """Answers with `HEADERS`."""

            async def send_safely(message: Any) -> None:
                """Adds the headers where an answer begins."""
                if message["type"] == "http.response.start":
                    headers = ((name.lower(), value) for name, value in HEADERS.items())
                    encoded = [(name.encode(), value.encode()) for name, value in headers]
                    message = {**message, "headers": [*message["headers"], *encoded]}
                await send(message)

            await guarded(scope, receive, send_safely)

        return answer

    def check_names(self, request: Request) -> None:
        """Raises an error for a request to another name, or from a page of another server."""
        host = request.headers.get("host", "")
        if host not in self._hosts:
            raise NotAdmittedError(403, f"This page does not answer to the name {host[:80]!r}.")
        origin = request.headers.get("origin")
        is_foreign = origin is not None and origin.removeprefix("http://") not in self._hosts
        if is_foreign or (origin is None and request.method == "POST"):
            raise NotAdmittedError(403, "This request does not come from a form of this page.")

    def enter(self, request: Request) -> Response:
        """Uses a link up, and answers with the cookie of a new visit."""
        self.check_names(request)
        if not page.use_link(find_store(), request.query_params.get("key", "")):
            raise NotAdmittedError(403, f"This link was used already, or is too old. {NEW_LINK}")
        cookie = secrets.token_urlsafe(32)
        self._visits[cookie] = Visit()
        response = RedirectResponse(f"/{self.place}/", 303)
        path = f"/{self.place}/"
        response.set_cookie(COOKIE, cookie, path=path, httponly=True, samesite="strict")
        return response

    def visit_of(self, request: Request) -> Visit:
        """Returns the visit of the request's cookie; raises `NotAdmittedError` without one."""
        self.check_names(request)
        visit = self._visits.get(request.cookies.get(COOKIE, ""))
        if visit is None:
            raise NotAdmittedError(403, f"This browser was not let in. {NEW_LINK}")
        return visit


async def form_of(request: Request, visit: Visit) -> Mapping[str, str]:
    """Returns the fields of a form of this visit; raises `NotAdmittedError` for another one."""
    body = (await request.body()).decode("utf-8", "replace")
    fields = parse_qs(body, keep_blank_values=True, max_num_fields=20)
    form = {name: values[0] for name, values in fields.items()}
    if not compare_digest(form.get("form", "").encode(), visit.form_token.encode()):
        raise NotAdmittedError(403, "This form is not of this visit. Open the page again.")
    return form
