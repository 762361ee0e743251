"""Pushes this machine's sessions to a shared memory: new pieces of the archive, masked again.

`push_choice` chooses the sessions. The server answers with a digest of the pieces that it has. Only
if the digest differs from that of the record in `pushed/` of this store, such as after a push that
was cut off, its list of pieces is fetched. A piece in which words were forgotten since it was sent
is sent again with these words masked.
"""

import hashlib
import hmac
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from memory_assets import errors
from memory_assets.extras.sharing.pieces import (
    LONGEST_PIECE,
    MOST_BYTES,
    Held,
    Piece,
    RawPiece,
    pieces_of,
    to_piece,
    without_long_strings,
)
from memory_assets.extras.sharing.push_choice import LeftOutSessions, PushSource, choose
from memory_assets.extras.sharing.push_record import open_record
from memory_assets.extras.sharing.remote_memory import Connection, Response
from memory_assets.schema.progress import track
from memory_assets.services.settings.which_store import is_sample
from memory_assets.stages.capture.pushed_ids import original_session
from memory_assets.stages.capture.tombstones import masking, tombstones_of
from memory_assets.store.store import Store

T = TypeVar("T")

REQUEST_CHARS = 1_000_000
"""Characters of all pieces in one request, few enough for a slow line to send in time."""

MOST_IN_BATCH = 200
"""Pieces that are masked together, or sent in one request."""

MASKED_BYTES = 8_000_000
"""Bytes of pieces that are masked together: one call costs as much for a short text as for 1 MB."""

PATIENCE_SECONDS = 300.0
"""Time that one request waits in total for a server that is busy, or that limits the requests of a
minute.
"""

LONGEST_WAIT_SECONDS = 65.0
"""Longest single wait: a little more than the minute over which a server counts requests."""

LOST_RETRIES = 2
"""Times that a request is sent again after the connection was lost. No piece is stored twice,
because the server knows what it has.
"""

SMALLER = (408, 413)
"""Statuses (too slow, too large) after which a request is sent in two halves. A proxy may have a
lower limit than the server.
"""

SAVED_EVERY = 20
"""Requests after which the record is written."""


@dataclass(frozen=True)
class SessionToPush:
    """A session with something that the server does not have."""

    session_id: str
    project: str
    path: str
    bytes: int
    """Bytes that are not on the server yet; 0 if pieces are only compared again because words were
    forgotten.
    """


@dataclass(frozen=True)
class Pushed:
    """The result of a push, or of its preview."""

    url: str
    is_dry_run: bool
    sessions: tuple[SessionToPush, ...]
    left_out: tuple[LeftOutSessions, ...]
    person: str = ""
    """The person of the token, to whom the server counts the sessions; empty in a preview."""
    pieces: int = 0
    """New pieces on the server."""
    replaced: int = 0
    """Pieces that were sent again because words in them were masked since."""
    sent_bytes: int = 0
    """Bytes of all requests."""
    warnings: tuple[str, ...] = ()
    events: int = 0
    """New events of the ledger, of which only machines of the same person get any."""


class Pusher:
    """Pushes the sessions of one store to one server."""

    def __init__(
        self, store: Store, url: str, token: str, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        if not url:
            raise errors.QuestionError(
                "There is no server to push to. Name its address, or set it: `memory config "
                "set push_url https://HOST:3100`."
            )
        if is_sample(store.settings):
            raise errors.QuestionError(
                "This store holds the bundled sample, which is not pushed. Take in "
                "transcripts with `memory up`."
            )
        self._store = store
        self._token = token
        self._sleep = sleep
        self.url = url.rstrip("/")
        self.client = hmac.new(store.key, b"push", hashlib.sha256).hexdigest()[:16]
        self._record = open_record(store, self.url)
        self._counts: Counter[str] = Counter()
        """Counts for the fields of `Pushed`, and the number of `requests`."""
        self._failed: dict[str, str] = {}
        """Source that could not be sent as a whole → the reason."""

    @property
    def is_first(self) -> bool:
        """Whether nothing was sent to this server yet."""
        return not self._record.is_known

    def preview(self) -> Pushed:
        """Returns what would be sent, by this machine's record of the pieces on the server.

        Does not ask the server.
        """
        sources, left_out = choose(self._store)
        sessions = tuple(map(self._session, self._waiting(sources)))
        return Pushed(self.url, True, sessions, left_out)

    def push(self) -> Pushed:
        """Sends what the server does not have; pieces that it confirmed survive an interruption."""
        if not self._token:
            raise errors.QuestionError(
                "There is no token. On the server, `memory serve tokens create NAME --person YOU "
                "--scope push` makes one; here, put it into the environment as MEMORY_PUSH_TOKEN."
            )
        return self._push(Connection(self.url, self._token))

    def _push(self, connection: Connection) -> Pushed:
        self._connection = connection
        sources, left_out = choose(self._store)
        person = self._update_record()
        waiting = self._waiting(sources)
        sessions = tuple(map(self._session, waiting))
        try:
            self._send_all(waiting)
        finally:
            self._record.save()
        del self._counts["requests"]
        warnings = tuple(self._failed.values())
        return Pushed(
            self.url, False, sessions, left_out, person, warnings=warnings, **self._counts
        )

    def _waiting(self, sources: Sequence[PushSource]) -> list[PushSource]:
        """Returns the sources that changed, or that were not sent as a whole yet."""
        sent = self._record.fingerprints
        return [source for source in sources if sent.get(source.source_id) != source.fingerprint]

    def _session(self, source: PushSource) -> SessionToPush:
        held = self._record.held.get(source.source_id, ())
        ends = {generation: byte_to for generation, _, byte_to, _ in held}
        new_bytes = 0
        for entry in source.ranges:
            start = max(entry.byte_from, ends.get(entry.generation, 0))
            new_bytes += max(entry.byte_to - start, 0)
        last = source.ranges[-1]
        return SessionToPush(last.conversation_id, source.project, last.path, new_bytes)

    def _update_record(self) -> str:
        """Makes the record equal to what the server has, and returns the person of the token."""
        path = f"push?client={self.client}"
        holdings = self._data_of(self._send_patiently(path))
        if holdings["digest"] != self._record.digest:
            holdings = self._data_of(self._send_patiently(f"{path}&listed=true"))
            self._record.replace_held(holdings["held"] or {})
        return str(holdings["person"])

    def _send_all(self, sources: Sequence[PushSource]) -> None:
        pieces = self._pieces(sources)
        for batch in batches(pieces, _size_to_send, REQUEST_CHARS):
            self._send(batch)
            if self._counts["requests"] % SAVED_EVERY == 0:
                self._record.save()
        whole = [source for source in sources if source.source_id not in self._failed]
        self._record.fingerprints |= {source.source_id: source.fingerprint for source in whole}

    def _pieces(self, sources: Sequence[PushSource]) -> Iterator[Piece]:
        """Yields, in order, the masked pieces that the server does not have in this form."""
        mask = masking(tombstones_of(self._store))
        raw_pieces = self._raw_pieces(sources)
        for batch in batches(raw_pieces, lambda piece: len(piece.raw), MASKED_BYTES):
            masked = mask([piece.raw for piece in batch])
            for raw_piece, (content, _) in zip(batch, masked, strict=True):
                piece = self._piece(raw_piece, content)
                is_held = piece.sha256 == raw_piece.sent_before
                if is_held or piece.source_id in self._failed:
                    continue
                if len(content) <= LONGEST_PIECE:
                    yield piece
                    continue
                session = original_session(raw_piece.entry.conversation_id)
                self._failed[piece.source_id] = (
                    f"The rest of session {session} was not pushed: a line of {len(content):,} "
                    "bytes is longer than a server takes."
                )

    def _raw_pieces(self, sources: Sequence[PushSource]) -> Iterator[RawPiece]:
        for source in track(sources, "Pushing sessions"):
            held = self._record.held.get(source.source_id, ())
            try:
                yield from self._pieces_of(source, held)
            except errors.TranscriptError as error:
                self._failed[source.source_id] = f"A session was not pushed: {error}"

    def _pieces_of(self, source: PushSource, held: Sequence[Held]) -> Iterator[RawPiece]:
        """Yields the pieces that the server has, then new ones."""
        return pieces_of(self._store.archive, source.ranges, held)

    def _piece(self, raw_piece: RawPiece, content: bytes) -> Piece:
        """Returns the piece to send, with these masked bytes."""
        return to_piece(raw_piece, without_long_strings(content))

    def _send(self, pieces: Sequence[Piece]) -> None:
        """Sends the pieces as one request, or in halves where that is too large.

        Notes in the record which pieces the server confirms.
        """
        pieces = [piece for piece in pieces if piece.source_id not in self._failed]
        rows = [piece.model_dump(exclude_defaults=True) for piece in pieces]
        body = orjson.dumps({"client": self.client, "pieces": rows})
        answer = self._send_patiently("push", body)
        self._counts.update(sent_bytes=len(body), requests=1)
        if answer.status not in SMALLER or b'"QuotaError"' in answer.content:
            counts = self._data_of(answer)
            apart = counts.get("apart", ())
            for piece in pieces:
                if piece.source_id in apart:
                    self._failed[piece.source_id] = (
                        f"Session {piece.session_id} has different bytes on both machines: each "
                        "keeps its own."
                    )
                else:
                    self._record.confirm(piece.source_id, piece.held)
            self._counts.update(pieces=counts["stored"], replaced=counts["replaced"])
            return
        if len(pieces) == 1:
            raise errors.PushError(
                f"{self.url} takes no request of {len(body):,} bytes. Allow requests of 4 MB in "
                "the proxy before it (`client_max_body_size 4m` of nginx), then push again: it "
                "goes on where it stopped."
            )
        half = len(pieces) // 2
        self._send(pieces[:half])
        self._send(pieces[half:])

    def _data_of(self, answer: Response) -> dict[str, Any]:
        """Returns the data of the answer; raises the error that the server names."""
        try:
            return self._connection.envelope_of(answer)["data"]
        except errors.TokenError:
            raise errors.TokenError(
                f"{self.url} does not accept the token: it is wrong, or was revoked. What "
                "was sent before stays there. Ask its "
                "owner for a new token (`memory serve tokens create`), and set MEMORY_PUSH_TOKEN."
            ) from None

    def _send_patiently(self, path: str, body: bytes | None = None) -> Response:
        """Returns the answer to a POST of the body, or to a GET without one.

        Waits while the server is busy or has too many requests, and sends again after a lost
        connection.
        """
        waited = 0.0
        lost = 0
        while True:
            try:
                answer = self._connection.send(path, body)
            except errors.UnreachableError:
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


def _size_to_send(piece: Piece) -> int:
    """Returns the characters of the piece; more if it is much larger once it is decompressed."""
    return max(len(piece.content), (piece.byte_to - piece.byte_from) * REQUEST_CHARS // MOST_BYTES)


def batches(
    items: Iterable[T], size_of: Callable[[T], int], most: int, most_items: int = MOST_IN_BATCH
) -> Iterator[list[T]]:
    """Yields the items in lists; the sizes in a list sum up to `most`, unless it has one item."""
    batch: list[T] = []
    size = 0
    for item in items:
        if batch and (size + size_of(item) > most or len(batch) == most_items):
            yield batch
            batch = []
            size = 0
        batch.append(item)
        size += size_of(item)
    if batch:
        yield batch
