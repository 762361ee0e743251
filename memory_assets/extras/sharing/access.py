"""Checks the token of each request, and scope and number of writes of each call; logs the calls.

`Access` is an ASGI application between the guard and the application that answers. It attaches a
`Grant` to the request. Whoever executes a call asks the grant for an agent at that moment, so that
no other reading of the request's body can get around the check.
"""

import json
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.responses import Response

from memory_assets import errors
from memory_assets.extras.sharing.shared_memory import SharedMemory
from memory_assets.extras.sharing.tokens import AccessScope, AccessToken, AccessTokens
from memory_assets.extras.sharing.visibility import Reader
from memory_assets.interfaces.envelope import failure_envelope
from memory_assets.interfaces.guard import App, Receive, Scope, Send
from memory_assets.interfaces.http import respond, status_of
from memory_assets.interfaces.server_access import METHOD
from memory_assets.memory.places import find_store
from memory_assets.store.service_log import FOLDER, RotatingLog
from memory_assets.text.files import make_folder

GRANT = "memory_assets.grant"
"""Key under which the ASGI scope of a request has its grant."""

SCOPE_OF: dict[str, AccessScope] = {
    **dict.fromkeys("recall answer explain triggers brief status resources/read".split(), "read"),
    "open": "read",
    **dict.fromkeys(("remember", "feedback"), "write"),
    **dict.fromkeys(("review", "decide", "forget"), "review"),
    **dict.fromkeys(("push", "pushed"), "push"),
}
"""Verb → the scope of a token that it needs. Other verbs cannot be called with a token. A handshake
or a list of tools calls no verb, and any valid token is enough.
"""

WRITES = frozenset({"remember", "feedback", "decide", "forget", "push"})
"""Verbs whose calls count as writes."""

WINDOW_SECONDS = 60.0
"""Time over which the writes of a token are counted."""

AUDIT_FILE = "audit.jsonl"


@dataclass(frozen=True)
class Call:
    """One call of a verb, as the log has it."""

    token: str
    """Id of the token; empty without a valid one."""
    person: str
    name: str
    verb: str
    status: int
    ms: int


class WriteLimit:
    """Counts the writes of each token within the last minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._writes: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def take(self, token_id: str) -> int:
        """Counts a write and returns 0; over the limit, returns the seconds to wait instead."""
        with self._lock:
            writes = self._recent(token_id)
            if len(writes) >= self.per_minute:
                return self.wait_of(token_id)
            writes.append(self._clock())
            return 0

    def wait_of(self, token_id: str) -> int:
        """Returns the seconds until the oldest write of the last minute no longer counts."""
        writes = self._recent(token_id)
        return max(math.ceil(WINDOW_SECONDS - (self._clock() - writes[0])), 1) if writes else 1

    def _recent(self, token_id: str) -> deque[float]:
        writes = self._writes.setdefault(token_id, deque())
        while writes and self._clock() - writes[0] >= WINDOW_SECONDS:
            writes.popleft()
        return writes


@dataclass
class Grant:
    """What one request may call with its token, and the verbs that it called."""

    token: AccessToken
    limit: WriteLimit
    calls: list[str] = field(default_factory=list)
    refusal: errors.MemoryAssetsError | None = None

    def allows(self, verb: str) -> bool:
        """Returns whether the token has the scope of the verb."""
        return SCOPE_OF.get(verb) in self.token.scopes

    def agent_for(self, verb: str) -> SharedMemory:
        """Returns the agent that executes one call of the verb, and counts the call.

        Raises `ScopeError` or `TooManyWritesError` if the call is refused.
        """
        self.calls.append(verb)
        refusal = self._refusal_of(verb)
        if refusal:
            self.refusal = refusal
            raise refusal
        reader = Reader(self.token.person, self.token.project, self.token.scopes)
        return _agent_for(find_store(), reader)

    def _refusal_of(self, verb: str) -> errors.MemoryAssetsError | None:
        """Returns the error that refuses the call, or None; counts a write that is allowed."""
        if verb not in SCOPE_OF:
            return errors.ScopeError(
                f"{verb} is for the owner where the store is; no token opens it."
            )
        if not self.allows(verb):
            scopes = ", ".join(self.token.scopes)
            return errors.ScopeError(
                f"{verb} needs a token with the scope {SCOPE_OF[verb]}; this one has {scopes}."
            )
        wait = self.limit.take(self.token.id) if verb in WRITES else 0
        if not wait:
            return None
        return errors.TooManyWritesError(
            f"The token {self.token.name!r} wrote {self.limit.per_minute} times within a minute. "
            f"Wait {wait} seconds."
        )


@lru_cache(maxsize=256)
def _agent_for(_: object, reader: Reader) -> SharedMemory:
    """Returns the reader's agent; a new one when another store is found."""
    return SharedMemory(reader)


class Access:
    """Passes on requests with a valid token.

    Answers other requests, and those with a refused call, with 401, 403, 429 or 503.
    """

    def __init__(
        self, app: App, tokens: AccessTokens, limit: WriteLimit, log: Callable[[Call], None]
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._limit = limit
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, and logs its calls once it is answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 500
        grant: Grant | None = None

        async def _answer(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        async def _answer_unless_refused(message: Any) -> None:
            if not (grant and grant.refusal):
                await _answer(message)

        try:
            grant = scope[GRANT] = self._grant(scope)
            await self._app(scope, receive, _answer_unless_refused)
            if grant.refusal:
                raise grant.refusal
        except errors.MemoryAssetsError as error:
            wait = self._limit.wait_of(grant.token.id) if grant else 1
            await _response_to(error, wait)(scope, receive, _answer)
        finally:
            self._log_calls(scope, grant, status, round((time.perf_counter() - began) * 1000))

    def _grant(self, scope: Scope) -> Grant:
        token = self._tokens.find(_bearer(scope))
        if token is None:
            raise errors.TokenError(
                "A valid token is needed: send `Authorization: Bearer TOKEN`. `memory serve "
                "tokens create` makes one where the store is."
            )
        return Grant(token, self._limit)

    def _log_calls(self, scope: Scope, grant: Grant | None, status: int, ms: int) -> None:
        """Logs each call of the request.

        A request without a call is logged under the method of its message or the verb in its path.
        """
        path = scope.get("path", "").strip("/")
        verb_in_path = path if path in SCOPE_OF else ""
        token = grant.token if grant else AccessToken("", "", "", "", (), "", "")
        calls = grant.calls if grant else []
        for verb in calls or [scope.get(METHOD) or verb_in_path]:
            self._log(Call(token.id, token.person, token.name, verb, status, ms))


def _bearer(scope: Scope) -> str:
    """Returns the token in the header `Authorization`; empty without exactly one such header."""
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(values) != 1:
        return ""
    kind, _, secret = values[0].decode("latin-1").partition(" ")
    return secret.strip() if kind.lower() == "bearer" else ""


def _response_to(error: errors.MemoryAssetsError, wait: int) -> Response:
    response = respond(failure_envelope(error), status_of(error))
    if isinstance(error, errors.TokenError):
        response.headers["WWW-Authenticate"] = 'Bearer realm="memory_assets"'
    elif isinstance(error, errors.TooManyWritesError):
        response.headers["Retry-After"] = str(wait)
    return response


class AuditLog:
    """Appends each call, without its texts, as a JSON line to `logs/audit.jsonl` of the store.

    Only the owner can read the file. It rotates as that of the service (`store.service_log`).
    """

    def __init__(self, root: Path, clock: Callable[[], datetime]) -> None:
        self.path = make_folder(root / FOLDER) / AUDIT_FILE
        self._clock = clock
        self._log = RotatingLog(self.path)

    def __call__(self, call: Call) -> None:
        """Appends the call."""
        row = {"at": self._clock().isoformat(timespec="milliseconds"), **asdict(call)}
        self._log.append(json.dumps(row, ensure_ascii=False))
