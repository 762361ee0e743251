"""What people and agents told the memory directly: notes, corrections and what is to be forgotten, read from the ledger.

A note, and the new wording of a correction, is an observation that no session made: it has the owner's voice, an id made from
its event, and no transcript behind it. So it gets a vector, merges and conflicts as every other. What a correction replaces,
and what is forgotten, is told by the observations that were behind the memory, by their texts, and, where they were worded
anew since, by the messages that they rested on: re-observing a session brings nothing back. Whoever notes the same again
afterwards has it back.
"""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.stages.distill.items import entities_of
from memory_assets.stages.distill.rows import NAMESPACE, SCHEMA_VERSION, text_hash
from memory_assets.stages.embed.homes import Homes, about
from memory_assets.stages.embed.merge import SAME
from memory_assets.store.ledger import CORRECTED, FORGOTTEN, NOTED, NOTES, Event
from memory_assets.text.tokens import count_tokens

LEDGER = "ledger"
"""Session and path of what no session said."""

CONFIDENCE = 0.9
"""What is told outright starts as an explicit statement does."""

Moment = tuple[datetime, str]
"""Place of an event in the order of the fold."""


@dataclass(frozen=True)
class Told:
    """What the notes do to memories, each named by the observations that are part of it."""

    corrections: tuple[tuple[Moment, str, frozenset[str]], ...] = ()
    """When, the note that replaces, and the observations that it replaces; in fold order."""
    forgotten: Mapping[str, Moment] = field(default_factory=dict)
    """Observation → when it was last forgotten."""
    noted: Mapping[str, Moment] = field(default_factory=dict)
    """Note → when it was made."""

    def is_forgotten(self, observations: Collection[str]) -> bool:
        """Returns whether a memory made of these observations is forgotten, and was not noted again since."""
        last = max((self.forgotten[id] for id in observations if id in self.forgotten), default=None)
        return last is not None and last > max((self.noted[id] for id in observations if id in self.noted), default=_FIRST)


_FIRST: Moment = (datetime.min.replace(tzinfo=UTC), "")


def note_id(event: Event) -> str:
    """Returns the id of the observation that a note or a correction makes."""
    return str(uuid.uuid5(NAMESPACE, f"note/{event.id}"))


def note_rows(events: Iterable[Event], zone: tzinfo = UTC) -> pl.DataFrame:
    """Returns the observations that notes and corrections make, in fold order; their days are local to the zone."""
    made = sorted((event for event in events if event.kind in (NOTED, CORRECTED)), key=lambda event: event.moment)
    return schemas.frame_of("observations", [_row(event, zone) for event in made])


def with_notes(observations: pl.DataFrame, events: Iterable[Event]) -> pl.DataFrame:
    """Returns the observations and the notes."""
    notes = note_rows(events)
    return pl.concat([observations, notes]) if notes.height else observations


def without_corrected(merges: pl.DataFrame, events: Iterable[Event]) -> pl.DataFrame:
    """Returns the edges without those that make a correction one with what it corrects."""
    pairs = [(note_id(event), id) for event in events if event.kind == CORRECTED for id in event.payload["observation_ids"]]
    if not pairs:
        return merges
    ends = [*pairs, *((older, newer) for newer, older in pairs)]
    apart = pl.DataFrame(ends, schema={"newer_id": pl.String, "older_id": pl.String}, orient="row")
    same = merges.filter(pl.col("relation") == SAME).join(apart, on=["newer_id", "older_id"], how="anti")
    return pl.concat([same, merges.filter(pl.col("relation") != SAME)])


def read_told(observations: pl.DataFrame, events: Sequence[Event]) -> Told:
    """Returns what the events say of the observations, notes among them."""
    told = sorted((event for event in events if event.kind in NOTES), key=lambda event: event.moment)
    if not told:
        return Told()
    noted = {note_id(event): event.moment for event in told if event.kind != FORGOTTEN}
    find = _Finder(observations, told, noted)
    corrections = [
        (event.moment, note_id(event), find.meant_by(event) - {note_id(event)}) for event in told if event.kind == CORRECTED
    ]
    forgotten: dict[str, Moment] = {}
    for event in told:
        if event.kind == FORGOTTEN:
            forgotten |= dict.fromkeys(find.meant_by(event) | find.worded_as(event), event.moment)
    return Told(tuple(corrections), forgotten, noted)


@dataclass
class Corrected:
    """What corrections did to one memory: the last one replaces it, and the ones before."""

    at: datetime
    by: str
    earlier: set[str] = field(default_factory=set)


def settle(corrections: Iterable[tuple[datetime, str, Collection[str]]]) -> dict[str, Corrected]:
    """Returns what became of each corrected memory; `corrections` are (when, memory, memories that it corrects) in order."""
    settled: dict[str, Corrected] = {}
    for at, by, targets in corrections:
        for target in targets:
            before = settled.get(target)
            earlier = before.earlier | {before.by} if before else set()
            settled[target] = Corrected(at, by, earlier - {by})
    for one in settled.values():
        one.earlier -= set(settled)  # what was corrected itself is replaced by its own correction
    return settled


def hidden_sources(events: Iterable[Event]) -> frozenset[str]:
    """Returns the ids of raw messages and segments that carry what is forgotten, so that deep recall leaves them out."""
    forgotten = (event.payload for event in events if event.kind == FORGOTTEN)
    return frozenset(id for payload in forgotten for id in (*payload.get("messages", ()), *payload.get("segments", ())))


class _Finder:
    """Finds the present observations that an event is about."""

    def __init__(self, observations: pl.DataFrame, told: Sequence[Event], noted: Mapping[str, Moment]) -> None:
        self._homes = Homes(observations, {id: id for id in observations["id"]}, told)
        hashes = {one for event in told if event.kind == FORGOTTEN for one in event.payload["text_hashes"]}
        same = observations.filter(pl.col("text_hash").is_in(sorted(hashes))).select("text_hash", "id")
        self._by_hash: dict[str, list[str]] = {}
        for digest, id in same.iter_rows():
            self._by_hash.setdefault(digest, []).append(id)
        self._noted = noted

    def meant_by(self, event: Event) -> frozenset[str]:
        """Returns the observations that the event names, or that stand where they stood."""
        return frozenset(id for one in about(event) for id in self._homes.nearest(one))

    def worded_as(self, event: Event) -> frozenset[str]:
        """Returns the observations with the very words of what the event forgets, notes that were made later apart."""
        found = (id for digest in event.payload["text_hashes"] for id in self._by_hash.get(digest, ()))
        return frozenset(id for id in found if self._noted.get(id, _FIRST) < event.moment)


def _row(event: Event, zone: tzinfo) -> dict:
    said, text = event.payload, event.payload["text"]
    return {
        "id": note_id(event),
        "session_id": said["session"] or LEDGER,
        "window_id": LEDGER,
        "segment_id": LEDGER,
        "day": event.at.astimezone(zone).date(),
        "path": LEDGER,
        "trigger": "ended",
        "kind": "fact",
        "text": text,
        "text_hash": text_hash(text),
        "priority": said["priority"],
        "gate": "allow",
        "gate_reason": "told outright",
        "gate_confidence": 1.0,
        "category": said["category"],
        "category_confidence": 1.0,
        "taxonomy_version": said["taxonomy"],
        "confidence": CONFIDENCE,
        "strength": "explicit",
        "sentiment": said["sentiment"],
        "author": "owner",
        "scope": said["scope"],
        "project": said["project"],
        "person": said["person"],
        "folder": "",
        "entities": list(entities_of(text)),
        "event_at": event.at,
        "clock_times": [],
        "lines": [],
        "message_ids": [],
        "quote": "",
        "tokens": count_tokens(text),
        "observer": event.kind,
        "prompt_hash": None,
        "schema_version": SCHEMA_VERSION,
    }
