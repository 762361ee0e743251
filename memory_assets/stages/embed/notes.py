"""Notes, corrections and forgotten memories, which people and agents wrote directly to the ledger.

A note, and the new wording of a correction, becomes an observation without a session or transcript.
The owner is its author, and its id is made from its event. It gets a vector, merges and conflicts
like any other observation. The memory that a correction replaces, or that is forgotten, is found by
its observations, by their texts, and by their messages if they were reworded. So observing a
session again does not bring it back, but a later note with the same text does.
"""

import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from itertools import chain
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.records.distill import NAMESPACE, SCHEMA_VERSION
from memory_assets.schema.vocabulary import SAME
from memory_assets.stages.distill.items import entities_of
from memory_assets.stages.embed.locator import MemoryLocator, references
from memory_assets.store.ledger import CORRECTED, FORGOTTEN, NOTED, NOTES, Event
from memory_assets.text.words import count_tokens, text_hash

LEDGER = "ledger"
"""Session and path of an observation without a session."""

CONFIDENCE = 0.9
"""The initial confidence of an explicit statement."""

Moment = tuple[datetime, str]
"""Position of an event: its time, and its id for events of the same time."""

_FIRST: Moment = (datetime.min.replace(tzinfo=UTC), "")


def note_id(event: Event) -> str:
    """Returns the id of a note's or correction's observation."""
    return str(uuid.uuid5(NAMESPACE, f"note/{event.id}"))


def note_rows(events: Iterable[Event], zone: tzinfo = UTC) -> pl.DataFrame:
    """Returns the observations of notes and corrections, in order, with days in the zone."""
    notes = [event for event in events if event.kind in (NOTED, CORRECTED)]
    notes.sort(key=lambda event: event.moment)
    return schemas.frame_of("observations", [_row(event, zone) for event in notes])


def with_notes(observations: pl.DataFrame, events: Iterable[Event]) -> pl.DataFrame:
    """Returns the observations and the notes."""
    return pl.concat([observations, note_rows(events)])


def without_corrected(merges: pl.DataFrame, events: Iterable[Event]) -> pl.DataFrame:
    """Returns the edges without those between a correction and what it corrects."""
    pairs = [
        (note_id(event), id)
        for event in events
        if event.kind == CORRECTED
        for id in event.payload["observation_ids"]
    ]
    if not pairs:
        return merges
    columns = ["newer_id", "older_id"]
    both_ways = [*pairs, *((older, newer) for newer, older in pairs)]
    schema = dict.fromkeys(columns, pl.String)
    removed = pl.DataFrame(both_ways, schema=schema, orient="row")
    same = merges.filter(relation=SAME).join(removed, on=columns, how="anti")
    return pl.concat([same, merges.filter(pl.col("relation") != SAME)])


class NoteEffects:
    """The effects of notes, corrections and forgetting on observations, which include the notes."""

    def __init__(self, observations: pl.DataFrame, events: Iterable[Event]) -> None:
        notes = [event for event in events if event.kind in NOTES]
        notes.sort(key=lambda event: event.moment)
        self._observations = observations
        self._locator = MemoryLocator(observations, {id: id for id in observations["id"]}, notes)
        self._noted = {note_id(event): event.moment for event in notes if event.kind != FORGOTTEN}
        self.corrections = [
            (event.at, note_id(event), self._named_by(event))
            for event in notes
            if event.kind == CORRECTED
        ]
        """The time, the new note, and the observations that it replaces, of each correction."""
        self._forgotten: dict[str, Moment] = {}
        for event in notes:
            if event.kind == FORGOTTEN:
                ids = (*self._named_by(event), *self._worded_as(event))
                self._forgotten |= dict.fromkeys(ids, event.moment)

    def is_forgotten(self, observations: Collection[str]) -> bool:
        """Returns whether a memory of these observations was forgotten, and not noted again."""
        return _latest(self._forgotten, observations) > _latest(self._noted, observations)

    def _named_by(self, event: Event) -> list[str]:
        """Returns the observations that the event names; a reworded one by its new observation."""
        return list(chain.from_iterable(map(self._locator.nearest, references(event))))

    def _worded_as(self, event: Event) -> list[str]:
        """Returns the observations with a text that the event forgets, without later notes."""
        has_text = pl.col("text_hash").is_in(event.payload["text_hashes"])
        same = self._observations.filter(has_text)["id"]
        return [id for id in same if self._noted.get(id, _FIRST) < event.moment]


def _latest(moments: Mapping[str, Moment], ids: Iterable[str]) -> Moment:
    return max((moments.get(id, _FIRST) for id in ids), default=_FIRST)


@dataclass
class Correction:
    """The last correction of a memory; it replaces the memory and earlier corrections."""

    at: datetime
    by: str
    """The memory of the correction's note."""
    earlier: set[str] = field(default_factory=set)
    """The memories of earlier corrections."""


def apply_corrections(
    corrections: Iterable[tuple[datetime, str, Iterable[str]]], memory_of: Mapping[str, str]
) -> dict[str, Correction]:
    """Returns the last correction of each corrected memory, by the memory's id.

    `corrections` are (time, note, corrected observations) in order. `memory_of` has the memory of
    each note and observation.
    """
    last_corrections: dict[str, Correction] = {}
    for at, note, observations in corrections:
        by = memory_of[note]
        for target in {memory_of[id] for id in observations if id in memory_of} - {by}:
            previous = last_corrections.get(target)
            earlier = previous.earlier | {previous.by} if previous else set()
            last_corrections[target] = Correction(at, by, earlier - {by})
    for correction in last_corrections.values():
        # A correction that was itself corrected is replaced by its own correction.
        correction.earlier -= set(last_corrections)
    return last_corrections


def hidden_sources(events: Iterable[Event]) -> frozenset[str]:
    """Returns the ids of messages and segments with forgotten content, which are not recalled."""
    ids: set[str] = set()
    for event in events:
        if event.kind == FORGOTTEN:
            payload = event.payload
            ids.update(payload.get("messages", ()), payload.get("segments", ()))
    return frozenset(ids)


_COPIED = ("priority", "category", "sentiment", "scope", "project", "person")


def _row(event: Event, zone: tzinfo) -> dict[str, Any]:
    note = event.payload
    return {
        **row_without_session(LEDGER, note["text"]),
        **{name: note[name] for name in _COPIED},
        "id": note_id(event),
        "session_id": note["session"] or LEDGER,
        "day": event.at.astimezone(zone).date(),
        "path": LEDGER,
        "gate_reason": "told outright",
        "category_confidence": 1.0,
        "taxonomy_version": note["taxonomy"],
        "confidence": CONFIDENCE,
        "strength": "explicit",
        "author": "owner",
        "tags": note.get("tags", []),
        "event_at": event.at,
        "lines": [],
        "observer": event.kind,
    }


def row_without_session(source: str, text: str) -> dict[str, Any]:
    """Returns the common columns of observations without a session.

    `source` stands for their window and segment.
    """
    return {
        "window_id": source,
        "segment_id": source,
        "trigger": "ended",
        "kind": "fact",
        "gate": "allow",
        "gate_confidence": 1.0,
        "folder": "",
        "quote": "",
        "commit": "",
        "text": text,
        "text_hash": text_hash(text),
        "entities": list(entities_of(text)),
        "tokens": count_tokens(text),
        "tags": [],
        "clock_times": [],
        "message_ids": [],
        "prompt_hash": None,
        "schema_version": SCHEMA_VERSION,
    }
