"""Finds the present memory of a ledger event whose observation was reworded.

Another prompt or rule makes other observations from the same messages. An event keeps the messages
and a hash of its text, so it moves to the observation that rests on the same messages. An event
without one stays in the ledger, is reported by a check, and counts for nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

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
    columns = (payload.get(name, ()) for name in ("observation_ids", "text_hashes", "message_ids"))
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
        self._resting_on = _resting_on(facts, messages)

    def find(self, reference: ObservationReference) -> list[str]:
        """Returns the memories it may belong to, those with most of its messages first."""
        ordered = sorted(self._places(reference).items(), key=lambda entry: (-entry[1], entry[0]))
        return list(dict.fromkeys(self._roots[id] for id, _ in ordered))

    def nearest(self, reference: ObservationReference) -> list[str]:
        """Returns the memories with most of its messages, all of them if they tie."""
        places = self._places(reference)
        most = max(places.values(), default=0)
        return sorted({self._roots[id] for id, count in places.items() if count == most})

    def _places(self, reference: ObservationReference) -> Counter[str]:
        """Returns how many of its messages each observation has; only observations with its exact
        text, if there are any.
        """
        if reference.id in self._roots:
            return Counter({reference.id: 1})
        resting = (self._resting_on.get(message, ()) for message in reference.message_ids)
        counts = Counter(chain.from_iterable(resting))
        same_words = {key: n for key, n in counts.items() if key[1] == reference.text_hash}
        return Counter({id: count for (id, _), count in (same_words or counts).items()})


def _resting_on(facts: pl.DataFrame, messages: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """Returns the observations (id, text hash) by message, for these messages."""
    observations: dict[str, list[tuple[str, str]]] = defaultdict(list)
    if messages:
        rows = facts.select("id", "text_hash", "message_ids").explode("message_ids")
        chosen = rows.filter(pl.col("message_ids").is_in(sorted(messages)))
        for id, text_hash, message in chosen.iter_rows():
            observations[message].append((id, text_hash))
    return observations


def find_orphans(facts: pl.DataFrame, events: Sequence[Event]) -> pl.DataFrame:
    """Returns the events (id, kind, target) with a lost observation and no other with its
    messages.
    """
    locator = MemoryLocator(facts, {id: id for id in facts["id"]}, events)
    lost = [event for event in events if not all(map(locator.find, references(event)))]
    rows = [(event.id, event.kind, event.target) for event in lost]
    schema = {"event_id": pl.String, "kind": pl.String, "target": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")
