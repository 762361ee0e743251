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
SPOOLED = "spool-"
EMITTED = "emitted-"
"""How the ids of events begin that were sent, and of those that runs emit."""


@per_partition
def events(store: Store, _: str) -> Rows:
    """Reads the lines that wait in the spool; returns every event that was ever sent or emitted."""
    states = store.tables.read("decisions", columns=["proposal_id", "state"])
    rules = SpoolRules(store.settings.clock(), spool.user_id(), dict(states.iter_rows()))
    mask = masking(tombstones_of(store))
    taken = ingest_spool(store.root, store.ledger, rules, mask=mask, actor=store.settings.owner)
    figures = {
        "lines_read": taken.lines,
        "bytes_read": taken.bytes,
        "events_taken_in": taken.events,
        "lines_put_aside": taken.put_aside,
    }
    of_kinds = store.ledger.events(KINDS)
    sent = [_sent(event) for event in of_kinds if event.id.startswith((SPOOLED, EMITTED))]
    frame = frame_of("events", sent).sort("sent_at", "event_id")
    return Rows(frame, figures, warnings=[f"Put aside: {reason}" for reason in taken.reasons])


def emit(store: Store, name: str, day: str, state: str, **data: int | float) -> None:
    """Records the event about the day, once for each state of it."""
    payload = {**data, "sent_at": store.settings.clock().isoformat()}
    planned = Planned(
        f"{EMITTED}{hash_of(name, day, state)}", name.removeprefix("memory/"), day, payload
    )
    store.ledger.append_once([planned], actor="memory_assets")


@per_partition
def dead_letters(store: Store, _: str) -> pl.DataFrame:
    """Returns the lines of the spool that could not be parsed."""
    letters = (
        {"letter_id": e.target, **e.payload, "received_at": e.at}
        for e in store.ledger.events([PUT_ASIDE])
    )
    return frame_of("dead_letters", letters).sort("received_at", "letter_id")


def _sent(event: Event) -> dict[str, object]:
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
