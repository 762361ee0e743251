"""Lets requests with a valid token pass, within its scopes and its number of writes per minute; logs each call.

An ASGI application between the guard, which has read the whole request, and one that answers it. The token travels in the scope
of the request, from which the answering application takes who asks: there is no state between requests.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from memory_assets.errors import MemoryAssetsError, ScopeError, StoreError, TokenError, TooManyWritesError
from memory_assets.interfaces.guard import App, Receive, Scope, Send
from memory_assets.interfaces.shared.rates import WriteLimit
from memory_assets.services.sharing.reader import Reader
from memory_assets.store.access_tokens import AccessToken, AccessTokens
from memory_assets.store.audit_log import AuditLog, Call

READER = "memory_assets.reader"
"""Key of the scope of a request under which its reader is."""

NEEDS = {
    **dict.fromkeys(("recall", "answer", "explain", "triggers", "brief", "status", "resources/read"), "read"),
    **dict.fromkeys(("remember", "feedback", "slog"), "write"),
    **dict.fromkeys(("review", "decide", "forget"), "review"),
    **dict.fromkeys(("push", "pushed"), "push"),
}
"""Verb → the scope that it needs; what is not listed (a handshake, a list of tools) needs a token only."""

WRITES = frozenset({"remember", "feedback", "slog", "decide", "forget", "push"})

CallsOf = Callable[[Scope, bytes], Sequence[str]]
"""Request and body → the verbs that it calls."""


class Access:
    """Passes on what a token allows, and answers everything else with 401, 403, 429 or 503."""

    def __init__(
        self, app: App, tokens: AccessTokens, calls_of: CallsOf, limit: WriteLimit, log: Callable[[Call], None] | AuditLog
    ) -> None:
        self._app, self._tokens, self._calls_of, self._limit, self._log = app, tokens, calls_of, limit, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, and logs its calls once it is answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500
        messages, body = await _read(receive)
        calls = self._calls_of(scope, body)
        token: AccessToken | None = None

        async def told(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            token = self._tokens.find(_bearer(scope))
            wait = self._check(token, calls)
            assert token is not None
            if wait:
                raise TooManyWritesError(
                    f"The token {token.name!r} wrote {self._limit.per_minute} times within a minute. Wait {wait} seconds."
                )
            scope[READER] = Reader(token.person, token.project, token.scopes)
            await self._app(scope, _replayed(messages, receive), told)
        except MemoryAssetsError as error:
            await _refuse(error, self._limit.wait_of(token.id) if token else 0, scope, receive, told)
        finally:
            ms = round((time.perf_counter() - began) * 1000)
            who = (token.id, token.person, token.name) if token else ("", "", "")
            for verb in calls or ("",):
                self._log(Call(*who, verb, status, ms))

    def _check(self, token: AccessToken | None, calls: Sequence[str]) -> int:
        """Returns the seconds to wait before these calls; raises the error of a missing token or scope."""
        if token is None:
            raise TokenError(
                "A valid token is needed: send `Authorization: Bearer TOKEN`. `memory serve tokens create` makes one where the "
                "store is."
            )
        for verb in calls:
            needed = NEEDS.get(verb)
            if needed and needed not in token.scopes:
                raise ScopeError(f"{verb} needs a token with the scope {needed}; this one has {', '.join(token.scopes)}.")
        writes = sum(verb in WRITES for verb in calls)
        return self._limit.take(token.id, writes) if writes else 0


def _bearer(scope: Scope) -> str:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    kind, _, secret = given[0].decode("latin-1").partition(" ") if len(given) == 1 else ("", "", "")
    return secret.strip() if kind.lower() == "bearer" else ""


async def _refuse(error: MemoryAssetsError, wait: int, scope: Scope, receive: Receive, send: Send) -> None:
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
    await Response(to_json(failed(error)), status, headers, media_type="application/json")(scope, receive, send)


async def _read(receive: Receive) -> tuple[list[Any], bytes]:
    """Returns the messages of the body, which the guard has read already, and the body."""
    messages = [await receive()]
    while messages[-1].get("more_body"):
        messages.append(await receive())
    return messages, b"".join(one.get("body", b"") for one in messages)


def _replayed(messages: Sequence[Any], receive: Receive) -> Receive:
    waiting = list(messages)

    async def replay() -> Any:
        return waiting.pop(0) if waiting else await receive()

    return replay
