"""Exchanges archive, models' answers and ledger between two stores of one person, such as on a
laptop and a desktop.

Sessions are pushed as to a shared memory, but ids, times, owner and bytes stay as they are, and the
events of the ledger follow: afterwards, both stores build the same tables. What either side forgot
is exchanged first, and erased on the other side. The side that sends asks, the other one answers:

    forgotten   {"events": […]}   erases what these forgot; returns what was forgotten here
    answers                       the names of the models' answers that this side has
    answered    {"answers": {…}}  stores these answers
    push?…                        the pieces that this side has, or their digest
    push        a `Push`          archives the pieces
    ledger                        the ids of the events that this side has
    events      {"events": […]}   appends the events

Each side keeps the numbers of its proposals (`proposal_ids`).
A source of which both sides captured different bytes stays as it is on both.
"""

import hashlib
import hmac
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import orjson
from pydantic import TypeAdapter

from memory_assets.errors import PushError, QuotaError
from memory_assets.extras.sharing import own_answers
from memory_assets.extras.sharing.pieces import (
    LONGEST_PIECE,
    Held,
    Holdings,
    Piece,
    RawPiece,
    Stored,
    digest_of,
    mask_names,
    pieces_of,
    to_piece,
)
from memory_assets.extras.sharing.proposal_ids import place_of, with_place, without_place
from memory_assets.extras.sharing.push import Pushed, Pusher, batches
from memory_assets.extras.sharing.push_choice import PushSource, choose, may_push
from memory_assets.extras.sharing.remote_memory import Connection
from memory_assets.extras.sharing.settings import sharing
from memory_assets.extras.sharing.take_in import content_of, parse, place
from memory_assets.extras.sharing.wire_events import parse_events
from memory_assets.schema.records import MEMORY_MD
from memory_assets.schema.setting_types import ALL_PROJECTS
from memory_assets.services.forget.erase import finish
from memory_assets.stages.capture.session_ids import session_of
from memory_assets.stages.capture.tombstones import masking, tombstones_of
from memory_assets.stages.deliver.inbox import PUT_ASIDE
from memory_assets.stages.embed.notes import LEDGER
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage.amendments import read_amendments
from memory_assets.stages.triage.auto import PUBLISHED
from memory_assets.stages.triage.projects import path_of
from memory_assets.store.archive import Range, range_id
from memory_assets.store.ledger import WORDS_ERASED, WORDS_FORGOTTEN, Event
from memory_assets.store.store import Store
from memory_assets.text.masking.redact import mask_text

OF_MACHINE = frozenset({WORDS_ERASED, PUT_ASIDE, "project.published"})
"""Kinds of events about folders of one machine: each erases what was forgotten, and reads the
blocks that were published into its own projects.
"""

BODY_CHARS = 30_000_000
"""Characters of events or answers that are sent together: the other side reads its ledger again for
each.
"""

NOTED = (
    "is_own raw_hmac created_at changed_at content_at content_until masked_count masking_version"
).split()
"""What the archive notes about a range besides the fields of a piece."""

SPARE_BYTES = 200_000_000
"""Bytes that another machine leaves free on the disk."""

_NAMES = re.compile(rb"[\w@-]+")
_ANSWERS = TypeAdapter(dict[str, str])
"""Name → text of an answer's file."""


class OwnPusher(Pusher):
    """Sends what another machine of the same person lacks."""

    def send(self, connection: Connection) -> Pushed:
        """Sends forgettings, pieces and events; what was confirmed survives an interruption."""
        store = self._store
        self._connection = connection
        forgotten = store.ledger.events([WORDS_FORGOTTEN])
        _forget(store, self._ask("forgotten", forgotten)["events"])
        private = {*_private_names(store)}
        self._send_answers(private)
        pushed = self._push(connection)
        present = {*self._ask("ledger")["ids"]}
        sendable = _sendable(store, present, private)
        count = 0
        for events in batches(sendable, lambda event: len(str(event)), BODY_CHARS, sys.maxsize):
            count += self._ask("events", events)["new"]
        return replace(pushed, events=count)

    def _send_answers(self, private: Set[str]) -> None:
        """Sends the answers before the sessions that they are about: no question about these is
        asked there in between.
        """
        present = {*self._ask("answers")["names"]}
        public = own_answers.public_answers(self._store, private)
        texts = own_answers.texts_of(self._store, sorted(public - present))
        for batch in batches(texts, lambda pair: len(pair[1]), BODY_CHARS):
            body = orjson.dumps({"answers": dict(batch)})
            self._data_of(self._connection.send("answered", body))

    def _ask(self, path: str, events: Sequence[Event] = ()) -> dict[str, Any]:
        body = orjson.dumps({"events": list(map(vars, events))})
        return self._data_of(self._connection.send(path, body))

    def _pieces_of(self, source: PushSource, held: Sequence[Held]) -> Iterator[RawPiece]:
        """Yields the ranges that the other side lacks, or has with other bytes.

        It may have more of the source than this side, or the same bytes in other ranges.
        """
        own_ends = {entry.generation: entry.byte_to for entry in source.ranges}
        their_ends = {generation: byte_to for generation, _, byte_to, _ in held}
        common = [row for row in held if row[2] <= own_ends.get(row[0], 0)]
        for piece in pieces_of(self._store.archive, source.ranges, common, LONGEST_PIECE):
            if piece.sent_before or piece.byte_from >= their_ends.get(piece.entry.generation, 0):
                yield piece

    def _piece(self, raw_piece: RawPiece, content: bytes) -> Piece:
        noted = {name: getattr(raw_piece.entry, name) for name in NOTED}
        if len(raw_piece.raw) != raw_piece.entry.byte_to - raw_piece.entry.byte_from:
            noted["raw_hmac"] = hmac.new(self._store.key, raw_piece.raw, "sha256").hexdigest()
        return to_piece(raw_piece, content).model_copy(update={"noted": noted})


def answer(store: Store, path: str, body: Any) -> Any:
    """Returns the data with which the side that takes in answers a request."""
    if path == "forgotten":
        _forget(store, body["events"])
        return {"events": list(map(vars, store.ledger.events([WORDS_FORGOTTEN])))}
    if path.startswith("push?"):
        return _holdings(store, is_listed="listed" in path)
    if path == "push":
        return _take_in(store, body)
    if path == "answers":
        return {"names": own_answers.answer_names(store)}
    if path == "answered":
        _check_space(store)
        return {"new": own_answers.take_in(store, _ANSWERS.validate_python(body["answers"]))}
    if path == "ledger":
        return {"ids": [event.id for event in store.ledger.events()]}
    if path == "events":
        return {"new": _append(store, parse_events(body["events"]))}
    raise PushError(f"This release does not know the request {path[:40]!r}. Upgrade it.")


def _forget(store: Store, rows: Any) -> None:
    """Erases what the other side forgot."""
    events = parse_events(rows)
    store.ledger.take_in([event for event in events if event.kind == WORDS_FORGOTTEN])
    finish(store)


def _holdings(store: Store, *, is_listed: bool) -> Holdings:
    held = {
        source: list(map(_held, ranges))
        for source, ranges in store.archive.sources().items()
        if not ranges[0].pushed
    }
    count = sum(map(len, held.values()))
    about = (store.settings.owner, "", digest_of(held), count, 0)
    return Holdings(*about, held if is_listed else None)


def _held(entry: Range) -> Held:
    return entry.generation, entry.byte_from, entry.byte_to, entry.sha256


def _take_in(store: Store, body: Mapping[str, Any]) -> Stored:
    pieces = parse(body).pieces
    _check_space(store)
    contents = masking(tombstones_of(store))(list(map(content_of, pieces)))
    counts = {"stored": 0, "replaced": 0, "known": 0}
    apart: list[str] = []
    with store.lock():
        for piece, (content, _) in zip(pieces, contents, strict=True):
            if piece.source_id in apart:
                continue
            try:
                counts[place(store, _range(piece, content), piece, content)] += 1
            except PushError:
                apart.append(piece.source_id)
    return Stored(**counts, apart=tuple(apart))


def _check_space(store: Store) -> None:
    free = shutil.disk_usage(store.root).free
    if free < SPARE_BYTES:
        raise QuotaError(f"Only {free:,} bytes are free in {store.root}. Free space there.")


def _range(piece: Piece, content: bytes) -> Range:
    """Returns the archive's range for the piece, with the ids that it has on its machine."""
    row = piece.model_dump(exclude={"session_id", "content", "noted"})
    row |= {name: piece.noted.get(name) for name in NOTED}
    row["id"] = range_id(piece.source_id, piece.generation, piece.byte_from)
    row["sha256"] = hashlib.sha256(content).hexdigest()
    row["path"] = mask_text(piece.path)[0]
    row["folder"] = mask_text(piece.folder)[0]
    row["repositories"] = mask_names(piece.repositories)
    row["conversation_id"] = mask_text(piece.session_id)[0]
    return Range(**row)


def _append(store: Store, events: Sequence[Event]) -> int:
    """Appends the new events, with forgotten words masked, and returns their number."""
    with store.lock():
        tombstones = tombstones_of(store)
        place = place_of(store.key.decode())
        days = store.tables.parts("proposals")
        masked = []
        for event in events:
            texts = orjson.loads(tombstones.mask(orjson.dumps([event.target, event.payload])))
            masked_event = replace(event, target=texts[0], payload=texts[1])
            masked.append(without_place(masked_event, place))
        new_events = store.ledger.take_in(event for event in masked if event.kind not in OF_MACHINE)
        for event in new_events:
            day = str(event.payload.get("day"))
            if event.kind == NUMBERED and day in days:
                # That day is proposed again, under the number that counts.
                store.tables.drop("proposals", day)
    return len(new_events)


def _sendable(store: Store, present: Set[str], private: Set[str]) -> Iterator[Event]:
    """Yields the events that are not present there and may leave: those that name no project or
    session that stays here, and nothing that only these say.
    """
    place = place_of(store.key.decode())
    for event in store.ledger.events():
        if event.id in present or event.kind in OF_MACHINE:
            continue
        words = _NAMES.findall(orjson.dumps([event.target, event.payload], default=str))
        is_private = not private.isdisjoint(map(bytes.decode, words))
        if not is_private and _may_leave(event, sharing(store.settings).push_projects):
            yield with_place(event, place)


def _may_leave(event: Event, names: Sequence[str]) -> bool:
    """Returns whether the setting `push_projects` lets events of the project leave, and of its
    file.
    """
    amends = event.payload.get("amends") or {}
    projects = filter(None, (event.payload.get("project"), amends.get("project")))
    files = list(map(_file_of, names))
    path = event.payload.get("path", MEMORY_MD)
    is_of_all = path == MEMORY_MD or not event.kind.startswith("entry.")
    return all(may_push(names, project) for project in projects) and (
        is_of_all or may_push(files, path)
    )


def _file_of(name: str) -> str:
    """Returns the file of entries of a project in `push_projects`, which may be excluded."""
    if name == ALL_PROJECTS:
        return name
    path = path_of(name.removeprefix("!"))
    return f"!{path}" if name.startswith("!") else path


def _private_names(store: Store) -> Iterator[str]:
    """Yields the ids of sessions that stay here, and of memories and proposals of these alone."""
    names = sharing(store.settings).push_projects
    chosen = {session_of(source.ranges[0].conversation_id) for source in choose(store)[0]}
    for ranges in store.archive.sources().values():
        yield from {session_of(ranges[0].conversation_id)} - chosen
    amendments = read_amendments(store.ledger.events([NUMBERED]))
    tables = [store.tables.read(table) for table in ("memories", "proposals", "friction")]
    for table in (*tables, amendments):
        id_column = "proposal_id" if "proposal_id" in table.columns else "id"
        for row in table.iter_rows(named=True):
            sessions = {*map(session_of, row["session_ids"])} - {LEDGER, PUBLISHED}
            is_of_others = bool(sessions) and sessions.isdisjoint(chosen)
            if is_of_others or (row["project"] and not may_push(names, row["project"])):
                yield from (row[id_column], *row["observation_ids"])
