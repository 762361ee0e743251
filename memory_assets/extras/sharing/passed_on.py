"""Erases words here that a person forgot on the machine that pushes their sessions.

After a forgetting, the next push of that machine sends the pieces in which words were masked again.
The push does not contain the words. They are found by comparison: where the new piece has
asterisks, the archive still has the words.

The archive is masked at once. Tombstones (keyed hashes) of the words are kept in `incoming/` until
the next run has erased them from everything that was made of the archive. Words that somebody else
said, too, in a session or a note, are not erased; only what was made of the person's own sessions
is built again.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import orjson

from memory_assets.errors import PushError
from memory_assets.services.forget.erase import REASON, erase, keep_hashes
from memory_assets.stages.capture.pushed_ids import original_session
from memory_assets.stages.capture.tombstones import (
    Tombstone,
    Tombstones,
    make_tombstone,
    rows_of,
    words_of,
)
from memory_assets.store.archive import Range
from memory_assets.store.ledger import NOTES
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, write_atomically

FOLDER = "incoming"
SHORTEST_WORDS = 4
"""Characters from which a phrase is erased everywhere. Shorter ones would match too much; they are
masked in the archive only.
"""

_MASK = ord("*")
_DIFFERING = re.compile(rb"\x00+")
_BETWEEN = re.compile(rb"(?:\\[bfnrt\"/\\]|[^0-9A-Za-z\x80-\xff])*")
"""What may be between two words of one phrase: spaces, punctuation, and escapes such as `\\n`."""


@dataclass(frozen=True)
class PassedOn:
    """Tombstones of words that a person forgot elsewhere, which wait to be erased here."""

    path: Path
    at: datetime
    person: str
    tombstones: tuple[Tombstone, ...]


def mask_as_sent(store: Store, entry: Range, sent: bytes, sha256: str) -> bool:
    """Masks in the archived range what is masked in the sent bytes; returns whether that changed
    it.

    Raises `PushError` where the two differ by more than masked words.
    """
    span = (entry.byte_from, entry.byte_to)
    old_content = store.archive.read(entry.source_id, entry.generation, *span)
    new_content = _masked_as(old_content, sent)
    if new_content is None:
        session = original_session(entry.conversation_id)
        raise PushError(
            f"Bytes {entry.byte_from:,} to {entry.byte_to:,} of session {session} "
            "differ from those that were sent before by more than masked words. The server keeps "
            "what it has."
        )
    now = store.settings.clock()
    if new_content != old_content:
        phrases = phrases_of(old_content, new_content)
        long_phrases = [phrase for phrase in phrases if len(" ".join(phrase)) >= SHORTEST_WORDS]
        stones = dict.fromkeys(make_tombstone(phrase, store.key) for phrase in long_phrases)
        person = entry.pushed.person if entry.pushed else store.settings.owner
        note = {"at": now.isoformat(), "person": person, "tombstones": rows_of(stones)}
        path = make_folder(store.root / FOLDER) / f"{entry.id}-{sha256[:16]}.json"
        write_atomically(path, json.dumps(note).encode())
        keep_hashes(store, old_content, new_content)
    sender = entry.pushed and entry.pushed.model_copy(update={"sha256": sha256})
    if sender or new_content != old_content:
        store.archive.restate(entry.id, new_content, at=now, because=REASON, pushed=sender)
    return new_content != old_content


def read_passed_on(store: Store) -> list[PassedOn]:
    """Returns the forgettings that wait to be carried out here."""
    return [_read(path) for path in _waiting_files(store)]


def waiting_names(store: Store) -> list[str]:
    """Returns the names of the files of the forgettings that wait to be carried out."""
    return [path.name for path in _waiting_files(store)]


def _waiting_files(store: Store) -> list[Path]:
    return sorted((store.root / FOLDER).glob("*.json"))


def finish_passed_on(store: Store) -> None:
    """Carries out the forgettings that wait; can be repeated after a kill."""
    with store.lock():
        waiting = read_passed_on(store)
        if not waiting:
            return
        tombstones = {stone for passed in waiting for stone in _said_by_nobody_else(store, passed)}
        since = min(passed.at for passed in waiting)
        erase(store, Tombstones(tombstones, store.key), since=since, with_history=False)
        for passed in waiting:
            passed.path.unlink()


def phrases_of(old_content: bytes, new_content: bytes) -> Iterator[Sequence[str]]:
    """Yields the words of each phrase that is masked in the new bytes and not in the old ones.

    Masked words in a line with only spaces and punctuation between them are one phrase.
    """
    # One byte for each byte: 1 where both are equal, 0 where they differ.
    marks = (_array(old_content) == _array(new_content)).astype(np.uint8).tobytes()
    spans: list[list[int]] = []
    for difference in _DIFFERING.finditer(marks):
        start, end = difference.span()
        between = old_content[spans[-1][1] : start] if spans else b"\n"
        if b"\n" not in between and _BETWEEN.fullmatch(between):
            spans[-1][1] = end
        else:
            spans.append([start, end])
    for start, end in spans:
        yield words_of(old_content[start:end].decode("utf-8", "replace"))


def _masked_as(old_content: bytes, sent: bytes) -> bytes | None:
    """Returns the bytes with asterisks where either has them; None if they differ otherwise."""
    if len(old_content) != len(sent):
        return None
    old = _array(old_content)
    new = _array(sent)
    if ((old != new) & (old != _MASK) & (new != _MASK)).any():
        return None
    return np.where(new == _MASK, new, old).tobytes()


def _array(raw: bytes) -> np.ndarray:
    return np.frombuffer(raw, dtype=np.uint8)


def _said_by_nobody_else(store: Store, passed: PassedOn) -> list[Tombstone]:
    """Returns the tombstones whose words nobody else said in a session or a note."""
    tombstones = list(passed.tombstones)
    for content in _said_by_others(store, passed.person):
        if tombstones and Tombstones(tombstones, store.key).holds(content):
            tombstones = [
                stone for stone in tombstones if not Tombstones([stone], store.key).holds(content)
            ]
    return tombstones


def _said_by_others(store: Store, person: str) -> Iterator[bytes]:
    """Yields the notes and the archived sessions of everybody but the person."""
    for event in store.ledger.events(NOTES):
        if event.actor != person:
            yield orjson.dumps(event.payload, default=str)
    for ranges in store.archive.sources().values():
        sender = ranges[0].pushed
        if sender is not None and sender.person == person:
            continue
        for entry in ranges:
            place = (entry.source_id, entry.generation, entry.byte_from, entry.byte_to)
            yield store.archive.read(*place)


def _read(path: Path) -> PassedOn:
    row = json.loads(path.read_bytes())
    tombstones = tuple(Tombstone(**fields) for fields in row["tombstones"])
    return PassedOn(path, datetime.fromisoformat(row["at"]), row["person"], tombstones)
