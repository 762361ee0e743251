"""Pushes this machine's masked sessions to a shared memory: only the archive, masked again, and
only what is new.

`push_choice` says which sessions may go. The server says what it has by a digest; its list is
fetched only where that differs from `pushed/` of this store, such as after a push that was cut off.
A piece in which words were forgotten since is sent again with these words masked.
"""

import hashlib
import hmac
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import orjson

from memory_assets.errors import (
    PushError,
    QuestionError,
    TokenError,
    TranscriptError,
    UnreachableError,
)
from memory_assets.schema.progress import track
from memory_assets.schema.pushes import Piece
from memory_assets.services.remote_memory import Connection, Response
from memory_assets.services.settings.which_store import is_sample
from memory_assets.services.sharing.pieces import (
    RawPiece,
    is_sendable,
    packed,
    pieces_of,
    without_long_strings,
)
from memory_assets.services.sharing.push_choice import LeftOutSessions, PushSource, choose
from memory_assets.services.sharing.push_record import open_record
from memory_assets.stages.capture.pushed_ids import original_session
from memory_assets.stages.capture.tombstones import masking, tombstones_of
from memory_assets.store.store import Store

REQUEST_CHARS = 1_000_000
"""Of the content of pieces in one request: a slow line sends it within the seconds in which it must
arrive.
"""

MASKED_BYTES = 8_000_000
"""Pieces that are masked together: masking costs as much for a short text as for a megabyte."""

PATIENCE_SECONDS = 300.0
"""How long one request waits in total for a server that is busy, or that counts the requests of a
minute.
"""

LONGEST_WAIT_SECONDS = 65.0
LOST_RETRIES = 2
"""A request is sent again so often when the connection was lost: the server knows what it has
already.
"""

SMALLER = (408, 413)
"""Answers after which a request is halved: of a server, or of a proxy with a limit of its own."""

SAVED_EVERY = 20
"""Requests after which the record is written."""


@dataclass(frozen=True)
class SessionToPush:
    """A session with something that the server does not have."""

    session_id: str
    project: str
    path: str
    bytes: int
    """Masked bytes that are not on the server yet; 0 if it is only compared again, after words were
    forgotten.
    """


@dataclass(frozen=True)
class Pushed:
    """What was pushed, or would be."""

    url: str
    is_dry_run: bool
    sessions: tuple[SessionToPush, ...]
    left_out: tuple[LeftOutSessions, ...]
    person: str = ""
    """To whom the server counts it: the person of the token."""
    pieces: int = 0
    """New pieces on the server."""
    replaced: int = 0
    """Pieces that were sent again because words in them were masked since."""
    sent_bytes: int = 0
    """Bytes of all requests."""
    warnings: tuple[str, ...] = ()


@dataclass
class _Progress:
    """What a push has done so far."""

    pieces: int = 0
    replaced: int = 0
    sent_bytes: int = 0
    requests: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    """Sources that could not be sent as a whole, with the reason."""


class Pusher:
    """Pushes the sessions of one store to one server."""

    def __init__(
        self, store: Store, url: str, token: str, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        if not url:
            raise QuestionError(
                "There is no server to push to. Name its address, or set it: `memory config "
                "set push_url https://HOST:3100`."
            )
        if is_sample(store.settings):
            raise QuestionError(
                "This store holds the bundled sample, which is not pushed. Take in "
                "transcripts with `memory up`."
            )
        self._store, self._token, self._sleep = store, token, sleep
        self.url = url.rstrip("/")
        self.client = hmac.new(store.key, b"push", hashlib.sha256).hexdigest()[:16]
        self._record = open_record(store, self.url)

    @property
    def is_first(self) -> bool:
        """Whether nothing was sent to this server yet."""
        return not self._record.is_known

    def preview(self) -> Pushed:
        """Returns what would be sent, as far as this machine knows what the server has; sends
        nothing, not even a question.
        """
        sources, left_out = choose(self._store)
        return Pushed(self.url, True, self._sessions(self._waiting(sources)), left_out)

    def push(self) -> Pushed:
        """Sends what the server does not have; what it confirmed stays there if this is
        interrupted.
        """
        if not self._token:
            raise QuestionError(
                "There is no token. On the server, `memory serve tokens create NAME "
                "--person YOU --scope push` makes one; "
                "here, put it into the environment as MEMORY_PUSH_TOKEN."
            )
        connection, done = Connection(self.url, self._token), _Progress()
        sources, left_out = choose(self._store)
        person = self._compare(connection)
        waiting = self._waiting(sources)
        sessions = self._sessions(waiting)
        try:
            for pieces in _requests(self._pieces(waiting, done)):
                self._send(connection, pieces, done)
                if done.requests % SAVED_EVERY == 0:
                    self._record.save()
            whole = {
                one.source_id: one.fingerprint
                for one in waiting
                if one.source_id not in done.failed
            }
            self._record.fingerprints |= whole
        finally:
            self._record.save()
        figures = (person, done.pieces, done.replaced, done.sent_bytes)
        return Pushed(self.url, False, sessions, left_out, *figures, tuple(done.failed.values()))

    def _waiting(self, sources: Sequence[PushSource]) -> list[PushSource]:
        """Returns the sources that changed since everything of them was sent."""
        return [
            one
            for one in sources
            if self._record.fingerprints.get(one.source_id) != one.fingerprint
        ]

    def _sessions(self, sources: Sequence[PushSource]) -> tuple[SessionToPush, ...]:
        return tuple(self._session(one) for one in sources)

    def _session(self, source: PushSource) -> SessionToPush:
        ends = {
            generation: end for generation, _, end, _ in self._record.held.get(source.source_id, ())
        }
        fresh = (
            entry.byte_to - max(entry.byte_from, ends.get(entry.generation, 0))
            for entry in source.ranges
        )
        last = source.ranges[-1]
        return SessionToPush(
            last.conversation_id, source.project, last.path, sum(max(count, 0) for count in fresh)
        )

    def _compare(self, connection: Connection) -> str:
        """Makes the record equal to what the server has, and returns whose it is there."""
        held = self._ask(connection, {"client": self.client})
        if held["digest"] != self._record.digest:
            held = self._ask(connection, {"client": self.client, "listed": "true"})
            self._record.replace_held(held["held"] or {})
        return str(held["person"])

    def _ask(self, connection: Connection, query: dict[str, str]) -> dict[str, Any]:
        return self._data(
            connection, self._patiently(lambda: connection.send(f"push?{urlencode(query)}"))
        )

    def _pieces(self, sources: Sequence[PushSource], done: _Progress) -> Iterator[Piece]:
        """Yields the masked pieces that the server does not have as they are, in order."""
        mask = masking(tombstones_of(self._store))
        for batch in _batches(self._raw_pieces(sources, done)):
            for piece, (content, _) in zip(batch, mask([one.raw for one in batch]), strict=True):
                made = packed(piece, without_long_strings(content))
                if made.sha256 == piece.sent_before or piece.entry.source_id in done.failed:
                    continue
                if not is_sendable(content):
                    self._fail(
                        done,
                        piece,
                        f"a line of {len(content):,} bytes is longer than a server takes",
                    )
                    continue
                yield made

    def _raw_pieces(self, sources: Sequence[PushSource], done: _Progress) -> Iterator[RawPiece]:
        for source in track(sources, "Pushing sessions"):
            try:
                yield from pieces_of(
                    self._store.archive, source.ranges, self._record.held.get(source.source_id, ())
                )
            except TranscriptError as error:
                done.failed[source.source_id] = f"A session was not pushed: {error}"

    def _fail(self, done: _Progress, piece: RawPiece, reason: str) -> None:
        session = original_session(piece.entry.conversation_id)
        done.failed[piece.entry.source_id] = (
            f"The rest of session {session} was not pushed: {reason}."
        )

    def _send(self, connection: Connection, pieces: Sequence[Piece], done: _Progress) -> None:
        """Sends the pieces as one request, or as two where it is too large; notes what the server
        confirms.
        """
        body = orjson.dumps({"client": self.client, "pieces": [one.model_dump() for one in pieces]})
        answer = self._patiently(lambda: connection.send("push", body))
        done.sent_bytes += len(body)
        done.requests += 1
        if answer.status in SMALLER and not _names_quota(answer):
            if len(pieces) == 1:
                raise PushError(
                    f"{self.url} takes no request of {len(body):,} bytes. Allow requests of "
                    "4 MB in the proxy before it "
                    "(`client_max_body_size 4m` of nginx), then push again: it goes on "
                    "where it stopped."
                )
            half = len(pieces) // 2
            self._send(connection, pieces[:half], done)
            self._send(connection, pieces[half:], done)
            return
        stored = self._data(connection, answer)
        for one in pieces:
            self._record.confirm(one.source_id, one.held)
        done.pieces += stored["stored"]
        done.replaced += stored["replaced"]

    def _data(self, connection: Connection, answer: Response) -> dict[str, Any]:
        try:
            return connection.envelope_of(answer)["data"]
        except TokenError:
            raise TokenError(
                f"{self.url} does not accept the token: it is wrong, or was revoked. What "
                "was sent before stays there. Ask its "
                "owner for a new token (`memory serve tokens create`), and set MEMORY_PUSH_TOKEN."
            ) from None

    def _patiently(self, send: Callable[[], Response]) -> Response:
        """Returns the answer; waits while the server is busy or counts too many requests, and sends
        again after a lost line.
        """
        waited, lost = 0.0, 0
        while True:
            try:
                answer = send()
            except UnreachableError:
                lost += 1
                if lost > LOST_RETRIES:
                    raise
                self._sleep(float(lost))
                continue
            if answer.status not in (429, 503) or answer.wait is None or waited >= PATIENCE_SECONDS:
                return answer
            wait = min(max(answer.wait, 1.0), LONGEST_WAIT_SECONDS)
            self._sleep(wait)
            waited += wait


def _batches(pieces: Iterator[RawPiece]) -> Iterator[list[RawPiece]]:
    """Yields the pieces in lists that are masked together."""
    batch: list[RawPiece] = []
    for piece in pieces:
        batch.append(piece)
        if sum(len(one.raw) for one in batch) >= MASKED_BYTES:
            yield batch
            batch = []
    if batch:
        yield batch


def _requests(pieces: Iterator[Piece]) -> Iterator[list[Piece]]:
    """Yields the pieces in lists that fit into a request."""
    batch: list[Piece] = []
    size = 0
    for piece in pieces:
        if batch and (size + len(piece.content) > REQUEST_CHARS or len(batch) == MOST_IN_REQUEST):
            yield batch
            batch, size = [], 0
        batch.append(piece)
        size += len(piece.content)
    if batch:
        yield batch


MOST_IN_REQUEST = 200


def _names_quota(answer: Response) -> bool:
    return b'"QuotaError"' in answer.content
