"""Lets requests with a valid token pass, and each of their calls within its scopes and its writes
per minute; logs the calls.

An ASGI application between the guard and one that answers. A request gets a grant, which the
dispatcher asks at each call that it executes: nothing depends on how a body is read before. There
is no state between requests.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memory_assets.errors import (
    MemoryAssetsError,
    ScopeError,
    StoreError,
    TokenError,
    TooManyWritesError,
)
from memory_assets.interfaces.guard import App, Receive, Scope, Send
from memory_assets.interfaces.shared.rates import WriteLimit
from memory_assets.services.sharing.reader import Reader
from memory_assets.store.access_tokens import AccessToken, AccessTokens
from memory_assets.store.audit_log import AuditLog, Call

GRANT = "memory_assets.grant"
"""Key of the scope of a request under which its grant is."""

NEEDS = {
    **dict.fromkeys(
        ("recall", "answer", "explain", "triggers", "brief", "status", "resources/read"), "read"
    ),
    **dict.fromkeys(("remember", "feedback", "slog"), "write"),
    **dict.fromkeys(("review", "decide", "forget"), "review"),
    **dict.fromkeys(("push", "pushed"), "push"),
}
"""Verb → the scope that it needs; a handshake or a list of tools calls none and needs a token only.
"""

WRITES = frozenset({"remember", "feedback", "slog", "decide", "forget", "push"})


@dataclass
class Grant:
    """What one request may call with its token, and what it called."""

    token: AccessToken
    limit: WriteLimit
    calls: list[str] = field(default_factory=list)
    method: str = ""
    """The method that the message names, for the log; what counts is what is called."""
    refusal: MemoryAssetsError | None = None

    def allows(self, verb: str) -> bool:
        """Returns whether the token has the scope of the verb."""
        return NEEDS.get(verb) in self.token.scopes

    def call(self, verb: str) -> Reader:
        """Returns who asks, and counts the call, which is executed next; raises what refuses it: a
        missing scope, the limit.
        """
        self.calls.append(verb)
        if not self.allows(verb):
            scopes = ", ".join(self.token.scopes)
            self.refusal = ScopeError(
                f"{verb} needs a token with the scope {NEEDS.get(verb)}; this one has {scopes}."
            )
            raise self.refusal
        wait = self.limit.take(self.token.id) if verb in WRITES else 0
        if wait:
            self.refusal = TooManyWritesError(
                f"The token {self.token.name!r} wrote {self.limit.per_minute} times within "
                f"a minute. Wait {wait} seconds."
            )
            raise self.refusal
        return Reader(self.token.person, self.token.project, self.token.scopes)


class Access:
    """Passes on requests with a valid token; answers others, and those with a refused call, with
    401, 403, 429 or 503.
    """

    def __init__(
        self,
        app: App,
        tokens: AccessTokens,
        limit: WriteLimit,
        log: Callable[[Call], None] | AuditLog,
    ) -> None:
        self._app, self._tokens, self._limit, self._log = app, tokens, limit, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, and logs its calls once it is answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500
        grant: Grant | None = None

        async def answer(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        async def answer_unless_refused(message: Any) -> None:
            if not (grant and grant.refusal):
                await answer(message)

        try:
            grant = scope[GRANT] = self._grant(scope)
            await self._app(scope, receive, answer_unless_refused)
            if grant.refusal:
                raise grant.refusal
        except MemoryAssetsError as error:
            await _refuse(
                error, self._limit.wait_of(grant.token.id) if grant else 0, scope, receive, answer
            )
        finally:
            ms = round((time.perf_counter() - began) * 1000)
            who = (grant.token.id, grant.token.person, grant.token.name) if grant else ("", "", "")
            named = (grant and grant.method) or _named(scope)
            for verb in (grant and grant.calls) or [named]:
                self._log(Call(*who, verb, status, ms))

    def _grant(self, scope: Scope) -> Grant:
        token = self._tokens.find(_bearer(scope))
        if token is None:
            raise TokenError(
                "A valid token is needed: send `Authorization: Bearer TOKEN`. `memory serve "
                "tokens create` makes one where the "
                "store is."
            )
        return Grant(token, self._limit)


def _named(scope: Scope) -> str:
    """Returns the verb that the address names; empty where it names none."""
    name = scope.get("path", "").strip("/")
    return name if name in NEEDS else ""


def _bearer(scope: Scope) -> str:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    kind, _, secret = given[0].decode("latin-1").partition(" ") if len(given) == 1 else ("", "", "")
    return secret.strip() if kind.lower() == "bearer" else ""


async def _refuse(
    error: MemoryAssetsError, wait: int, scope: Scope, receive: Receive, send: Send
) -> None:
    from starlette.responses import Response

    from memory_assets.interfaces.envelope import failed, to_json

    status = 503 if isinstance(error, StoreError) else 500
    headers: dict[str, str] = {}
    if isinstance(error, TokenError):
        status, headers = 401, {"WWW-Authenticate": 'Bearer realm="memory_assets"'}
    elif isinstance(error, ScopeError):
        status = 403
    elif isinstance(error, TooManyWritesError):
        status, headers = 429, {"Retry-After": str(max(wait, 1))}
    await Response(to_json(failed(error)), status, headers, media_type="application/json")(
        scope, receive, send
    )
