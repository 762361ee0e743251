"""Takes in what a person's machine pushes: pieces of its masked archive, verified, masked again,
and kept apart by person.

A client is not trusted: hashes are checked, bytes are masked with this store's rules and forgotten
words, and the person is that of the token. Sources, sessions and messages get ids of their own
(`pushed_ids`). What is appended becomes part of the archive and is distilled by the next ingest. A
piece that the client masked further replaces the earlier one: `services/forget/passed_on.py` erases
what was masked from everything that was made of it.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from memory_assets.errors import PushError, QuestionError, QuotaError
from memory_assets.schema.pushes import Held, Holdings, Piece, Push, Stored, digest_of
from memory_assets.schema.tables import version_of
from memory_assets.services.forget.passed_on import mask_as_sent
from memory_assets.services.sharing.reader import Reader
from memory_assets.stages.capture.intake import times_of
from memory_assets.stages.capture.pushed_ids import pushed_session, pushed_source
from memory_assets.stages.capture.tombstones import masking, tombstones_of
from memory_assets.store.archive import Pushed, Range, range_id
from memory_assets.store.store import Store
from memory_assets.text.masking.redact import mask_text

LOCK_SECONDS = 5.0
"""A request waits so long for a run that writes; then the client asks again."""

GIGABYTE = 1_000_000_000


def holdings_of(store: Store, reader: Reader, client: str, *, is_listed: bool = False) -> Holdings:
    """Returns what the store has of the person's client; the list of pieces only if it is
    wanted.
    """
    if not (len(client) == 16 and set(client) <= set("0123456789abcdef")):
        raise QuestionError("client must be 16 hex digits: the id of the store that pushes.")
    own: dict[str, list[Held]] = {}
    size = 0
    for entry in _ranges_of(store, reader.person):
        assert entry.pushed is not None
        size += entry.byte_to - entry.byte_from
        if entry.pushed.client == client:
            own.setdefault(entry.pushed.source_id, []).append(_held(entry))
    count = sum(map(len, own.values()))
    return Holdings(
        reader.person, reader.project, digest_of(own), count, size, own if is_listed else None
    )


def take_in(store: Store, reader: Reader, given: Mapping[str, Any]) -> Stored:
    """Archives the pieces of one request, in order; those before one that is refused stay.

    Raises `PushError` for a piece that is not as it says or does not fit, `QuotaError` beyond the
    person's limit, and `StoreBusyError` while another process writes.
    """
    push = _parsed(given)
    contents = [_content_of(piece) for piece in push.pieces]
    masked = masking(tombstones_of(store))(contents)
    done = Stored()
    with store.lock(LOCK_SECONDS):
        used = sum(entry.byte_to - entry.byte_from for entry in _ranges_of(store, reader.person))
        for piece, (content, count) in zip(push.pieces, masked, strict=True):
            is_new = _place(store, reader, push.client, piece, content, count, used)
            used += len(content) if is_new else 0
            name = {True: "stored", False: "replaced", None: "known"}[is_new]
            done = replace(done, **{name: getattr(done, name) + 1})
    return done


def _place(
    store: Store, reader: Reader, client: str, piece: Piece, content: bytes, count: int, used: int
) -> bool | None:
    """Archives the piece; returns True if it is new, False if it replaced an earlier one, None if
    it was known.
    """
    source = pushed_source(piece.source_id, client, reader.person)
    ranges = store.archive.ranges(source)
    known = next(
        (
            one
            for one in ranges
            if (one.generation, one.byte_from) == (piece.generation, piece.byte_from)
        ),
        None,
    )
    if known is not None:
        if _held(known) == piece.held:
            return None
        if known.byte_to != piece.byte_to:
            raise PushError(
                f"{_name(piece)} was sent with another end before. Run `memory data push` "
                "again: it asks for the list."
            )
        mask_as_sent(store, known, content, piece.sha256)
        return False
    _check_follows(piece, ranges)
    limit = store.settings.pushed_gb * GIGABYTE
    if limit and used + len(content) > limit:
        raise QuotaError(
            f"The server has {used / GIGABYTE:.2f} GB of {reader.person}, and its setting "
            "`pushed_gb` allows "
            f"{store.settings.pushed_gb:g}. What was sent before is safe. Ask its owner to "
            "raise the limit."
        )
    store.archive.append(_range(store, reader, client, source, piece, content, count), content)
    return True


def _range(
    store: Store, reader: Reader, client: str, source: str, piece: Piece, content: bytes, count: int
) -> Range:
    first, last = times_of(content)
    return Range(
        id=range_id(source, piece.generation, piece.byte_from),
        source_id=source,
        harness=piece.harness,
        path=mask_text(piece.path)[0],
        generation=piece.generation,
        byte_from=piece.byte_from,
        byte_to=piece.byte_to,
        line_from=piece.line_from,
        line_to=piece.line_to,
        sha256=hashlib.sha256(content).hexdigest(),
        raw_hmac=hmac.new(store.key, content, hashlib.sha256).hexdigest(),
        content_at=first,
        content_until=last,
        conversation_id=pushed_session(mask_text(piece.session_id)[0], client),
        created_at=store.settings.clock(),
        masked_count=count,
        masking_version=version_of("resources"),
        starts_with_newline=piece.starts_with_newline,
        repositories={
            mask_text(folder)[0]: mask_text(name)[0] for folder, name in piece.repositories.items()
        },
        pushed=Pushed(
            person=reader.person,
            client=client,
            source_id=piece.source_id,
            session_id=mask_text(piece.session_id)[0],
            sha256=piece.sha256,
        ),
    )


def _check_follows(piece: Piece, ranges: Sequence[Range]) -> None:
    """Raises `PushError` unless the piece continues the source, or begins a new generation of
    it.
    """
    last = ranges[-1] if ranges else None
    is_next = last is not None and (piece.generation, piece.byte_from, piece.line_from) == (
        last.generation,
        last.byte_to,
        last.line_to,
    )
    begins = (piece.byte_from, piece.line_from) == (0, 0) and (
        last is None or piece.generation > last.generation
    )
    if not is_next and not begins:
        raise PushError(
            f"{_name(piece)} does not follow what the server has. Run `memory data push` "
            "again: it asks for the list."
        )


def _content_of(piece: Piece) -> bytes:
    """Returns the bytes of the piece; raises `PushError` where they or their lines are not what it
    says.
    """
    try:
        raw = piece.read()
    except ValueError as error:
        raise PushError(
            f"{_name(piece)} cannot be taken in: {error}. Run `memory data push` again."
        ) from None
    lines = raw[1:] if piece.starts_with_newline else raw
    if (
        lines.count(b"\n") + (lines != b"" and not lines.endswith(b"\n"))
        != piece.line_to - piece.line_from
    ):
        raise PushError(
            f"{_name(piece)} cannot be taken in: it has another number of lines than it says."
        )
    return raw


def _parsed(given: Mapping[str, Any]) -> Push:
    try:
        return Push.model_validate(given)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise PushError(
            f"The request is no push: {'.'.join(map(str, fault['loc']))}: {fault['msg']}."
        ) from None


def _ranges_of(store: Store, person: str) -> list[Range]:
    every = store.archive.sources().values()
    return [
        entry
        for ranges in every
        for entry in ranges
        if entry.pushed and entry.pushed.person == person
    ]


def _held(entry: Range) -> Held:
    assert entry.pushed is not None
    return entry.generation, entry.byte_from, entry.byte_to, entry.pushed.sha256


def _name(piece: Piece) -> str:
    return (
        f"The piece from byte {piece.byte_from:,} of session {mask_text(piece.session_id[:80])[0]}"
    )
