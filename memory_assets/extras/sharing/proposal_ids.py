"""Translates the ids of proposals in events that pass between two stores of one person.

Each store counts its own proposals of a day from 1, and never numbers one anew. In an event that
leaves, the place of the store stands before its own numbers: its `p-20260803-001` is, with the
place 412345, `p-20260803-412345001` to all other stores. In an event that arrives, a number with
the store's own place is its own again.

Only targets, and fields that rules write, have ids; what people write is not searched.
"""

import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from memory_assets.stages.triage.decisions import DECIDED
from memory_assets.stages.triage.patches import PATCHED
from memory_assets.store.ledger import Event

_KINDS = ("proposal.", "task.", "entry.", "friction.")
"""Beginnings of the kinds whose target is a proposal."""

_FIELDS = {DECIDED: ("into", "reason"), PATCHED: ("patch",)}
"""Kind → fields with ids, besides those of a numbered amendment."""


PLACES = range(100_000, 1_000_000)
"""Places of stores: many, so that two seldom have the same; folders of a shared store have lower
ones.
"""


def place_of(key: str) -> int:
    """Returns the number of the store with the key among those that exchange their content."""
    return PLACES[zlib.crc32(key.encode()) % len(PLACES)]


def with_place(event: Event, place: int) -> Event:
    """Returns the event of the store at the place as it leaves."""
    own_id = re.compile(r"(?<![\w-])([a-z]-\d{8}-)(\d{3})(?![\w-])")
    return _translated(event, partial(own_id.sub, rf"\g<1>{place}\g<2>"))


def without_place(event: Event, place: int) -> Event:
    """Returns the event as it arrives in the store at the place."""
    placed_id = re.compile(rf"(?<![\w-])([a-z]-\d{{8}}-){place}(\d{{3}})(?![\w-])")
    return _translated(event, partial(placed_id.sub, r"\g<1>\g<2>"))


def _translated(event: Event, translate: Callable[[str], str]) -> Event:
    if not event.kind.startswith(_KINDS):
        return event
    names = _FIELDS.get(event.kind, ())
    fields: dict[str, Any] = {
        name: translate(event.payload[name]) for name in names if name in event.payload
    }
    amends = event.payload.get("amends")
    if amends:
        fields["key"] = translate(event.payload["key"])
        fields["amends"] = {**amends, "reason": translate(amends["reason"])}
    payload = {**event.payload, **fields}
    return replace(event, target=translate(event.target), payload=payload)
