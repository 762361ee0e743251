"""Finds the present memory of a ledger event whose observation was reworded.

A changed prompt or rule makes other observations from the same messages. An event has the messages
and the text hash of its observation, and so it is assigned to the observation of the same messages.
If there is none, the event stays in the ledger without effect, and a check reports it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import polars as pl

from memory_assets.store.ledger import Event


@dataclass(frozen=True)
class ObservationReference:
    """An observation as an event records it."""

    id: str
    text_hash: str
    message_ids: tuple[str, ...]


def references(event: Event) -> Iterator[ObservationReference]:
    """Yields the observations that the event records, the older one first."""
    payload = event.payload
    names = ("observation_ids", "text_hashes", "message_ids")
    columns = (payload.get(name, ()) for name in names)
    for id, text_hash, message_ids in zip(*columns, strict=False):
        yield ObservationReference(id, text_hash, tuple(message_ids))


class MemoryLocator:
    """Finds the present memories of the observations in events."""

    def __init__(
        self, facts: pl.DataFrame, roots: Mapping[str, str], events: Sequence[Event]
    ) -> None:
        self._roots = {id: roots[id] for id in facts["id"]}
        messages: set[str] = set()
        for reference in chain.from_iterable(map(references, events)):
            if reference.id not in self._roots:
                messages.update(reference.message_ids)
        self._by_message = _by_message(facts, messages)

    def find(self, reference: ObservationReference) -> list[str]:
        """Returns the memories that it may belong to, those with most of its messages first."""
        places = self._places(reference)
        ordered = sorted(places, key=lambda id: (-places[id], id))
        return list(dict.fromkeys(self._roots[id] for id in ordered))

    def nearest(self, reference: ObservationReference) -> list[str]:
        """Returns the memory with most of its messages; several if they have equally many."""
        places = self._places(reference)
        most = max(places.values(), default=0)
        return sorted({self._roots[id] for id, count in places.items() if count == most})

    def _places(self, reference: ObservationReference) -> Counter[str]:
        """Returns how many of its messages each observation has.

        If there are observations with its exact text, only these are counted.
        """
        if reference.id in self._roots:
            return Counter({reference.id: 1})
        observations = (self._by_message.get(message, ()) for message in reference.message_ids)
        counts = Counter(chain.from_iterable(observations))
        same_text = {key: count for key, count in counts.items() if key[1] == reference.text_hash}
        return Counter({id: count for (id, _), count in (same_text or counts).items()})


def _by_message(facts: pl.DataFrame, messages: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """Returns the observations (id, text hash) of each of these messages."""
    observations: dict[str, list[tuple[str, str]]] = defaultdict(list)
    if messages:
        rows = facts.select("id", "text_hash", "message_ids").explode("message_ids")
        chosen = rows.filter(pl.col("message_ids").is_in(sorted(messages)))
        for id, text_hash, message in chosen.iter_rows():
            observations[message].append((id, text_hash))
    return observations


def find_orphans(facts: pl.DataFrame, events: Sequence[Event]) -> pl.DataFrame:
    """Returns (event_id, kind, target) of the events with an observation that has no memory."""
    locator = MemoryLocator(facts, {id: id for id in facts["id"]}, events)
    orphans = [event for event in events if not all(map(locator.find, references(event)))]
    rows = [(event.id, event.kind, event.target) for event in orphans]
    schema = {"event_id": pl.String, "kind": pl.String, "target": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")
