"""Finds the present memory of a ledger event whose observation was reworded.

Another prompt or rule makes other observations from the same messages. An event keeps the messages
and a hash of its text, so it moves to the observation that rests on the same messages. An event
without one stays in the ledger, is reported by a check, and counts for nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from memory_assets.store.ledger import Event


@dataclass(frozen=True)
class ObservationReference:
    """One observation of an event, as recorded there."""

    id: str
    text_hash: str
    message_ids: tuple[str, ...]


def references(event: Event) -> Iterator[ObservationReference]:
    """Yields the observations of the event, the older one first; nothing if it names none."""
    payload = event.payload
    kept = (payload.get(name, ()) for name in ("observation_ids", "text_hashes", "message_ids"))
    for id, text_hash, message_ids in zip(*kept, strict=False):
        yield ObservationReference(id, text_hash, tuple(message_ids))


class MemoryLocator:
    """Finds the present memories of the observations in events."""

    def __init__(
        self, facts: pl.DataFrame, roots: Mapping[str, str], events: Sequence[Event]
    ) -> None:
        self._roots = {id: roots[id] for id in facts["id"]}
        vanished = [
            one for event in events for one in references(event) if one.id not in self._roots
        ]
        self._resting_on = _resting_on(
            facts, {message for one in vanished for message in one.message_ids}
        )

    def find(self, one: ObservationReference) -> list[str]:
        """Returns the memories it may belong to, those with most of its messages first."""
        ordered = sorted(self._places(one).items(), key=lambda entry: (-entry[1], entry[0]))
        return list(dict.fromkeys(self._roots[id] for id, _ in ordered))

    def nearest(self, one: ObservationReference) -> list[str]:
        """Returns the memories with most of its messages, all of them if they tie."""
        places = self._places(one)
        most = max(places.values(), default=0)
        return sorted({self._roots[id] for id, count in places.items() if count == most})

    def _places(self, one: ObservationReference) -> Counter[str]:
        """Returns how many of its messages each observation has; only observations with its exact
        text, if there are any.
        """
        if one.id in self._roots:
            return Counter({one.id: 1})
        found = Counter(
            place for message in one.message_ids for place in self._resting_on.get(message, ())
        )
        same_words = Counter(
            {place: count for place, count in found.items() if place[1] == one.text_hash}
        )
        return Counter({id: count for (id, _), count in (same_words or found).items()})


def _resting_on(facts: pl.DataFrame, messages: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """Returns the observations (id, text hash) by message, for these messages."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    if messages:
        rows = facts.select("id", "text_hash", "message_ids").explode("message_ids")
        chosen = rows.filter(pl.col("message_ids").is_in(sorted(messages)))
        for id, text_hash, message in chosen.iter_rows():
            found[message].append((id, text_hash))
    return found


def find_orphans(facts: pl.DataFrame, events: Sequence[Event]) -> pl.DataFrame:
    """Returns the events (id, kind, target) with a lost observation and no other with its
    messages.
    """
    locator = MemoryLocator(facts, {id: id for id in facts["id"]}, events)
    lost = [
        (one.id, one.kind, one.target)
        for one in events
        if not all(map(locator.find, references(one)))
    ]
    return pl.DataFrame(
        lost, schema=dict.fromkeys(("event_id", "kind", "target"), pl.String), orient="row"
    )
