"""Builds the events that were sent through the spool, and the lines that could not be parsed."""

import json

import polars as pl

from memory_assets.runs.results import Rows, per_partition
from memory_assets.schema.frames import frame_of, hash_of
from memory_assets.stages.capture.tombstones import masking, tombstones_of
from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.events import FIELDS
from memory_assets.stages.deliver.inbox import PUT_ASIDE, SpoolRules, ingest_spool
from memory_assets.store.ledger import Event, Planned
from memory_assets.store.store import Store
from memory_assets.text.moments import event_time

KINDS = tuple(name.removeprefix("memory/") for name in FIELDS)
"""Kinds in the ledger of the events that may be sent."""

SPOOLED = "spool-"
"""Start of the id of an event that was sent through the spool."""

EMITTED = "emitted-"
"""Start of the id of an event that a run emitted."""


@per_partition
def events(store: Store, _: str) -> Rows:
    """Reads the lines that wait in the spool; returns every event that was ever sent or emitted."""
    states = store.tables.read("decisions", columns=["proposal_id", "state"])
    rules = SpoolRules(store.settings.clock(), spool.user_id(), dict(states.iter_rows()))
    mask = masking(tombstones_of(store))
    owner = store.settings.owner
    intake = ingest_spool(store.root, store.ledger, rules, mask=mask, actor=owner)
    figures = {
        "lines_read": intake.lines,
        "bytes_read": intake.bytes,
        "events_taken_in": intake.events,
        "lines_put_aside": intake.put_aside,
    }
    events = store.ledger.events(KINDS)
    rows = [_row_of(event) for event in events if event.id.startswith((SPOOLED, EMITTED))]
    frame = frame_of("events", rows).sort("sent_at", "event_id")
    return Rows(frame, figures, warnings=[f"Put aside: {reason}" for reason in intake.reasons])


def emit(store: Store, name: str, day: str, state: str, **data: int | float) -> None:
    """Appends an event about the day to the ledger, once for each state of the day."""
    payload = {**data, "sent_at": store.settings.clock().isoformat()}
    id = f"{EMITTED}{hash_of(name, day, state)}"
    planned = Planned(id, name.removeprefix("memory/"), day, payload)
    store.ledger.append_once([planned], actor="memory_assets")


@per_partition
def dead_letters(store: Store, _: str) -> pl.DataFrame:
    """Returns the lines of the spool that could not be parsed."""
    letters = (
        {"letter_id": event.target, **event.payload, "received_at": event.at}
        for event in store.ledger.events([PUT_ASIDE])
    )
    return frame_of("dead_letters", letters).sort("received_at", "letter_id")


def _row_of(event: Event) -> dict[str, object]:
    details = {
        name: value
        for name, value in event.payload.items()
        if name not in ("sent_at", "harness", "surface")
    }
    return {
        "event_id": event.id,
        "name": f"memory/{event.kind}",
        "subject": event.target,
        "harness": event.payload.get("harness"),
        "details": json.dumps(details, sort_keys=True, ensure_ascii=False),
        "sent_at": event_time(event.payload["sent_at"]),
        "received_at": event.at,
    }


BUILDERS = (events, dead_letters)
"""The functions that build the tables of their names (`runs.builders`)."""
