"""Notes, corrections and forgotten memories, which people and agents wrote directly to the ledger.

A note, and the new wording of a correction, becomes an observation without a session: the owner is
its author, its id is made from its event, and there is no transcript. It gets a vector, merges and
conflicts like any other. What a correction replaces, and what is forgotten, is identified by the
memory's observations, by their texts, and, if they were reworded since, by their messages:
observing a session again brings nothing back. Noting the same again afterwards does.
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
"""Position of an event in fold order."""


_FIRST: Moment = (datetime.min.replace(tzinfo=UTC), "")


def note_id(event: Event) -> str:
    """Returns the id of a note's or correction's observation."""
    return str(uuid.uuid5(NAMESPACE, f"note/{event.id}"))


def note_rows(events: Iterable[Event], zone: tzinfo = UTC) -> pl.DataFrame:
    """Returns the observations of notes and corrections, in fold order, with local days."""
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
    ends = [*pairs, *((older, newer) for newer, older in pairs)]
    apart = pl.DataFrame(ends, schema={"newer_id": pl.String, "older_id": pl.String}, orient="row")
    same = merges.filter(relation=SAME).join(apart, on=["newer_id", "older_id"], how="anti")
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
        """When, the new note, and the observations that it replaces; in fold order."""
        self._forgotten: dict[str, Moment] = {}
        for event in notes:
            if event.kind == FORGOTTEN:
                ids = (*self._named_by(event), *self._worded_as(event))
                self._forgotten |= dict.fromkeys(ids, event.moment)

    def is_forgotten(self, observations: Collection[str]) -> bool:
        """Returns whether a memory of these observations is forgotten and was not noted again
        since.
        """
        forgotten_at = max((self._forgotten.get(id, _FIRST) for id in observations), default=_FIRST)
        noted_at = max((self._noted.get(id, _FIRST) for id in observations), default=_FIRST)
        return forgotten_at > noted_at

    def _named_by(self, event: Event) -> list[str]:
        """Returns the observations that the event names, or those that took their place."""
        return list(chain.from_iterable(map(self._locator.nearest, references(event))))

    def _worded_as(self, event: Event) -> list[str]:
        """Returns the observations with the exact text that the event forgets, except later
        notes.
        """
        has_text = pl.col("text_hash").is_in(event.payload["text_hashes"])
        same = self._observations.filter(has_text)["id"]
        return [id for id in same if self._noted.get(id, _FIRST) < event.moment]


@dataclass
class Correction:
    """The corrections of one memory: the last one replaces it and the earlier ones."""

    at: datetime
    by: str
    earlier: set[str] = field(default_factory=set)


def apply_corrections(
    corrections: Iterable[tuple[datetime, str, Iterable[str]]], memory_of: Mapping[str, str]
) -> dict[str, Correction]:
    """Returns the correction of each memory.

    `corrections` are (when, note, corrected observations) in order, `memory_of` the memories of
    notes and observations.
    """
    settled: dict[str, Correction] = {}
    for at, note, observations in corrections:
        by = memory_of[note]
        for target in {memory_of[id] for id in observations if id in memory_of} - {by}:
            previous = settled.get(target)
            earlier = previous.earlier | {previous.by} if previous else set()
            settled[target] = Correction(at, by, earlier - {by})
    for correction in settled.values():
        correction.earlier -= set(settled)  # a corrected correction is replaced by its own
    return settled


def hidden_sources(events: Iterable[Event]) -> frozenset[str]:
    """Returns the ids of messages and segments with forgotten content, which deep recall leaves
    out.
    """
    ids: set[str] = set()
    for event in events:
        if event.kind == FORGOTTEN:
            ids.update(event.payload.get("messages", ()), event.payload.get("segments", ()))
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
    """Returns the columns common to all observations without a session; `source` is their window
    and segment.
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
