"""Takes in the pieces of a masked archive that a person's machine pushes.

The client is not trusted. Hashes are checked, bytes are masked again with the rules and the
forgotten words of this store, and the person is that of the token. Sources, sessions and messages
get other ids here (`stages.capture.pushed_ids`), so that no client can change those of another.

New pieces are appended to the archive, and the next ingest extracts facts from them. A piece in
which the client masked more words replaces the earlier one: `passed_on` erases these words from
everything that was made of it.
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from memory_assets.errors import PushError, QuestionError, QuotaError
from memory_assets.extras.sharing.passed_on import mask_as_sent
from memory_assets.extras.sharing.pieces import (
    MOST_BYTES,
    Held,
    Holdings,
    Piece,
    Push,
    Stored,
    digest_of,
    mask_names,
)
from memory_assets.extras.sharing.settings import sharing
from memory_assets.extras.sharing.visibility import Reader
from memory_assets.schema.tables import version_of
from memory_assets.stages.capture.intake import times_of
from memory_assets.stages.capture.pushed_ids import pushed_session
from memory_assets.stages.capture.tombstones import masking, tombstones_of
from memory_assets.store.archive import Range, Sender, range_id
from memory_assets.store.store import Store
from memory_assets.text.masking.redact import mask_text

LOCK_SECONDS = 5.0
"""Time that a request waits for a run that writes; after that the client asks again."""

GIGABYTE = 1_000_000_000
POSITION = {"generation", "byte_from", "byte_to", "line_from", "line_to", "starts_with_newline"}
"""Fields that a piece has in common with the archive's range."""

AGAIN = "Run `memory data push` again: it asks for the list."


def holdings_of(store: Store, reader: Reader, client: str, *, is_listed: bool = False) -> Holdings:
    """Returns which pieces the store has of the person's client, the list only on request."""
    if not (len(client) == 16 and set(client) <= set("0123456789abcdef")):
        raise QuestionError("client must be 16 hex digits: the id of the store that pushes.")
    held: dict[str, list[Held]] = {}
    size = 0
    for entry, sender in _sent_by(store, reader.person):
        size += entry.byte_to - entry.byte_from
        if sender.client == client:
            held.setdefault(sender.source_id, []).append(_held(entry, sender))
    count = sum(map(len, held.values()))
    pieces = held if is_listed else None
    return Holdings(reader.person, reader.project, digest_of(held), count, size, pieces)


def take_in(store: Store, reader: Reader, body: Mapping[str, Any]) -> Stored:
    """Archives the pieces of one request in order; pieces before a refused one stay archived.

    Raises `PushError` for a piece that contradicts itself or does not follow the archived ones,
    `QuotaError` beyond the person's limit, and `StoreBusyError` while another process writes.
    """
    push = parse(body)
    contents = [content_of(piece) for piece in push.pieces]
    masked = masking(tombstones_of(store))(contents)
    counts: Counter[str] = Counter()
    with store.lock(LOCK_SECONDS):
        used = sum(entry.byte_to - entry.byte_from for entry, _ in _sent_by(store, reader.person))
        for piece, (content, masked_count) in zip(push.pieces, masked, strict=True):
            entry = _range(store, reader, push.client, piece, content, masked_count)
            outcome = place(store, entry, piece, content, used)
            counts[outcome] += 1
            if outcome == "stored":
                used += len(content)
    return Stored(counts["stored"], counts["replaced"], counts["known"])


def place(store: Store, entry: Range, piece: Piece, content: bytes, used: int = 0) -> str:
    """Archives the piece as the range `entry`; returns the field of `Stored` in which it counts.

    `used` are the bytes that the person has on the server. Raises `PushError` for a piece that does
    not fit what is archived.
    """
    ranges = store.archive.ranges(entry.source_id)
    earlier = next((archived for archived in ranges if archived.id == entry.id), None)
    if earlier is None:
        _check_follows(piece, ranges)
        _check_quota(store, entry, used + len(content), used)
        store.archive.append(entry, content)
        return "stored"
    sha256 = earlier.pushed.sha256 if earlier.pushed else earlier.sha256
    if (earlier.byte_to, sha256) == (piece.byte_to, piece.sha256):
        return "known"
    if earlier.byte_to != piece.byte_to:
        raise PushError(f"{_name_of(piece)} was sent with another end before. {AGAIN}")
    is_changed = mask_as_sent(store, earlier, content, piece.sha256)
    return "replaced" if is_changed else "known"


def _range(
    store: Store, reader: Reader, client: str, piece: Piece, content: bytes, masked_count: int
) -> Range:
    """Returns the archive's range for the piece, with ids of the person's client."""
    origin = "\x1f".join(("pushed", reader.person, client, piece.source_id))
    source_id = hashlib.sha256(origin.encode()).hexdigest()[:20]
    session_id = mask_text(piece.session_id)[0]
    first_at, last_at = times_of(content)
    sender = Sender(
        person=reader.person,
        client=client,
        source_id=piece.source_id,
        session_id=session_id,
        sha256=piece.sha256,
    )
    return Range(
        **piece.model_dump(include=POSITION),
        id=range_id(source_id, piece.generation, piece.byte_from),
        source_id=source_id,
        harness=piece.harness,
        path=mask_text(piece.path)[0],
        sha256=hashlib.sha256(content).hexdigest(),
        raw_hmac=hmac.new(store.key, content, hashlib.sha256).hexdigest(),
        content_at=first_at,
        content_until=last_at,
        conversation_id=pushed_session(session_id, client),
        created_at=store.settings.clock(),
        masked_count=masked_count,
        masking_version=version_of("resources"),
        repositories=mask_names(piece.repositories),
        folder=mask_text(piece.folder)[0],
        pushed=sender,
    )


def _check_follows(piece: Piece, ranges: Sequence[Range]) -> None:
    """Raises `PushError` unless the piece continues the source or begins a new generation."""
    start = (piece.byte_from, piece.line_from)
    generation = ranges[-1].generation if ranges else -1
    if piece.generation == generation:
        is_next = start == (ranges[-1].byte_to, ranges[-1].line_to)
    else:
        is_next = start == (0, 0) and piece.generation > generation
    if not is_next:
        raise PushError(f"{_name_of(piece)} does not follow what the server has. {AGAIN}")


def _check_quota(store: Store, entry: Range, size: int, used: int) -> None:
    """Raises `QuotaError` if the person may not have `size` bytes; `used` are the present bytes."""
    limit = sharing(store.settings).pushed_gb
    if entry.pushed and limit and size > limit * GIGABYTE:
        raise QuotaError(
            f"The server has {used / GIGABYTE:.2f} GB of {entry.pushed.person}, and its setting "
            f"`pushed_gb` allows {limit:g}. What was sent before is safe. Ask its owner to raise "
            "the limit."
        )


def content_of(piece: Piece) -> bytes:
    """Returns the bytes of the piece; raises `PushError` if they contradict its fields."""
    try:
        return piece.read()
    except ValueError as error:
        raise PushError(
            f"{_name_of(piece)} cannot be taken in: {error}. Run `memory data push` again."
        ) from None


def parse(body: Mapping[str, Any]) -> Push:
    """Returns the request of a push; raises `PushError` if it is none."""
    try:
        push = Push.model_validate(body)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise PushError(f"The request is no push: {where}: {fault['msg']}.") from None
    size = sum(piece.byte_to - piece.byte_from for piece in push.pieces)
    if size > MOST_BYTES:
        raise PushError(f"The pieces have {size:,} bytes; the limit is {MOST_BYTES:,}.")
    return push


def _sent_by(store: Store, person: str) -> list[tuple[Range, Sender]]:
    """Returns the archived ranges that the person's machines sent, with their senders."""
    return [
        (entry, entry.pushed)
        for ranges in store.archive.sources().values()
        for entry in ranges
        if entry.pushed and entry.pushed.person == person
    ]


def _held(entry: Range, sender: Sender) -> Held:
    return entry.generation, entry.byte_from, entry.byte_to, sender.sha256


def _name_of(piece: Piece) -> str:
    """Returns the piece as messages name it."""
    session = mask_text(piece.session_id[:80])[0]
    return f"The piece from byte {piece.byte_from:,} of session {session}"
