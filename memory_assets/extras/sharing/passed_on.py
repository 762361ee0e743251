"""Erases what a person forgot on the machine that pushes their sessions.

The next push sends the pieces again in which words were masked. Nothing names these words: they are
what the archived bytes had in the place of the new asterisks. They are masked there at once, and
their tombstones are kept in `incoming/` until the next run has erased them from everything that was
made of them. Words that others said too, in their sessions or notes, stay theirs: then only what
was made of the person's own sessions is built again.
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
"""Characters of words that are erased elsewhere, too; shorter ones match too much."""

_MASK = ord("*")
_COVERED = re.compile(rb"\x00+")
_BETWEEN = re.compile(rb"(?:\\[bfnrt\"/\\]|[^0-9A-Za-z\x80-\xff])*")
"""What may be between two words of one phrase: no letter, but for those of escapes."""


@dataclass(frozen=True)
class PassedOn:
    """Words that a person forgot elsewhere, as tombstones, until they are erased here."""

    path: Path
    at: datetime
    person: str
    tombstones: tuple[Tombstone, ...]


def mask_as_sent(store: Store, entry: Range, sent: bytes, sha256: str) -> None:
    """Masks in the archived range what is masked in the sent one; raises `PushError` where they
    differ in anything else.
    """
    assert entry.pushed is not None
    span = (entry.byte_from, entry.byte_to)
    old_content = store.archive.read(entry.source_id, entry.generation, *span)
    new_content = _covered(old_content, sent)
    if new_content is None:
        raise PushError(
            f"Bytes {entry.byte_from:,} to {entry.byte_to:,} of session {entry.pushed.session_id} "
            "differ from those that were sent before by more than masked words. The server keeps "
            "what it has."
        )
    now = store.settings.clock()
    if new_content != old_content:
        phrases = phrases_of(old_content, new_content)
        long_phrases = [phrase for phrase in phrases if len(" ".join(phrase)) >= SHORTEST_WORDS]
        stones = dict.fromkeys(make_tombstone(phrase, store.key) for phrase in long_phrases)
        person = entry.pushed.person
        note = {"at": now.isoformat(), "person": person, "tombstones": rows_of(stones)}
        path = make_folder(store.root / FOLDER) / f"{entry.id}-{sha256[:16]}.json"
        write_atomically(path, json.dumps(note).encode())
        keep_hashes(store, old_content, new_content)
    sender = entry.pushed.model_copy(update={"sha256": sha256})
    store.archive.restate(entry.id, new_content, at=now, because=REASON, pushed=sender)


def read_passed_on(store: Store) -> list[PassedOn]:
    """Returns what waits to be erased."""
    return [_read(path) for path in _waiting(store)]


def waiting_names(store: Store) -> list[str]:
    """Returns the names of what waits to be erased."""
    return [path.name for path in _waiting(store)]


def _waiting(store: Store) -> list[Path]:
    return sorted((store.root / FOLDER).glob("*.json"))


def finish_passed_on(store: Store) -> None:
    """Erases what waits; can be repeated after a kill."""
    with store.lock():
        waiting = read_passed_on(store)
        if not waiting:
            return
        tombstones = {stone for passed in waiting for stone in _only_of(store, passed)}
        since = min(passed.at for passed in waiting)
        erase(store, Tombstones(tombstones, store.key), since=since, with_history=False)
        for passed in waiting:
            passed.path.unlink()


def phrases_of(old_content: bytes, new_content: bytes) -> Iterator[Sequence[str]]:
    """Yields the words of each phrase that is masked in the second bytes and not in the first.

    Masked words with nothing but spaces and punctuation between them, within a line, are one
    phrase.
    """
    marks = (_array(old_content) == _array(new_content)).astype(np.uint8).tobytes()
    spans: list[list[int]] = []
    for covered in _COVERED.finditer(marks):
        start, end = covered.span()
        between = old_content[spans[-1][1] : start] if spans else b"\n"
        if b"\n" not in between and _BETWEEN.fullmatch(between):
            spans[-1][1] = end
        else:
            spans.append([start, end])
    for start, end in spans:
        yield words_of(old_content[start:end].decode("utf-8", "replace"))


def _covered(old_content: bytes, sent: bytes) -> bytes | None:
    """Returns the bytes with asterisks where either has them; None where they differ otherwise."""
    if len(old_content) != len(sent):
        return None
    old = _array(old_content)
    new = _array(sent)
    if ((old != new) & (old != _MASK) & (new != _MASK)).any():
        return None
    return np.where(new == _MASK, new, old).tobytes()


def _array(raw: bytes) -> np.ndarray:
    return np.frombuffer(raw, dtype=np.uint8)


def _only_of(store: Store, passed: PassedOn) -> list[Tombstone]:
    """Returns the tombstones of the words that nobody else said in a session or a note."""
    tombstones = list(passed.tombstones)
    for content in _said_by_others(store, passed.person):
        if tombstones and Tombstones(tombstones, store.key).holds(content):
            tombstones = [
                stone for stone in tombstones if not Tombstones([stone], store.key).holds(content)
            ]
    return tombstones


def _said_by_others(store: Store, person: str) -> Iterator[bytes]:
    for event in store.ledger.events(NOTES):
        if event.actor != person:
            yield orjson.dumps(event.payload, default=str)
    for ranges in store.archive.sources().values():
        pushed = ranges[0].pushed
        for entry in ranges if pushed is None or pushed.person != person else ():
            place = (entry.source_id, entry.generation, entry.byte_from, entry.byte_to)
            yield store.archive.read(*place)


def _read(path: Path) -> PassedOn:
    row = json.loads(path.read_bytes())
    tombstones = tuple(Tombstone(**fields) for fields in row["tombstones"])
    return PassedOn(path, datetime.fromisoformat(row["at"]), row["person"], tombstones)
