"""Where an event of the ledger belongs after its observation was worded anew.

Another prompt or rule gives the same messages other observations. An event keeps the messages and a hash of the text that it
was about, so it moves to the observation that rests on the same messages; what finds none stays in the ledger, is named by a
check, and counts for nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from memory_assets.store.ledger import Event


@dataclass(frozen=True)
class About:
    """One observation that an event is about, as the event remembers it."""

    id: str
    text_hash: str
    message_ids: tuple[str, ...]


def about(event: Event) -> Iterator[About]:
    """Yields the observations that the event is about, the older one first; none where it names no observation."""
    payload = event.payload
    kept = (payload.get(name, ()) for name in ("observation_ids", "text_hashes", "message_ids"))
    for id, text_hash, message_ids in zip(*kept, strict=False):
        yield About(id, text_hash, tuple(message_ids))


class Homes:
    """Finds the present memories of what events are about."""

    def __init__(self, facts: pl.DataFrame, roots: Mapping[str, str], events: Sequence[Event]) -> None:
        self._roots = {id: roots[id] for id in facts["id"]}
        vanished = [one for event in events for one in about(event) if one.id not in self._roots]
        self._resting_on = _resting_on(facts, {message for one in vanished for message in one.message_ids})

    def find(self, one: About) -> list[str]:
        """Returns the memories that it may belong to now, those with the most of its messages first."""
        if one.id in self._roots:
            return [self._roots[one.id]]
        ordered = sorted(self._places(one).items(), key=lambda entry: (-entry[1], entry[0]))
        return list(dict.fromkeys(self._roots[id] for id, _ in ordered))

    def nearest(self, one: About) -> list[str]:
        """Returns the memories that rest on most of its messages, all of them where they tie."""
        if one.id in self._roots:
            return [self._roots[one.id]]
        places = self._places(one)
        most = max(places.values(), default=0)
        return sorted({self._roots[id] for id, count in places.items() if count == most})

    def _places(self, one: About) -> Counter[str]:
        """Returns how many of its messages each observation rests on; where some have its very words, of these alone."""
        found = Counter(place for message in one.message_ids for place in self._resting_on.get(message, ()))
        same_words = Counter({place: count for place, count in found.items() if place[1] == one.text_hash})
        return Counter({id: count for (id, _), count in (same_words or found).items()})


def _resting_on(facts: pl.DataFrame, messages: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """Returns the observations (id, text hash) by the message that they rest on, for these messages."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    if messages:
        rows = facts.select("id", "text_hash", "message_ids").explode("message_ids")
        chosen = rows.filter(pl.col("message_ids").is_in(sorted(messages)))
        for id, text_hash, message in chosen.iter_rows():
            found[message].append((id, text_hash))
    return found


def find_orphans(facts: pl.DataFrame, events: Sequence[Event]) -> pl.DataFrame:
    """Returns the events (id, kind, target) that lost an observation and find no other that rests on its messages."""
    homes = Homes(facts, {id: id for id in facts["id"]}, events)
    lost: list[dict[str, Any]] = [
        {"event_id": event.id, "kind": event.kind, "target": event.target}
        for event in events
        if any(not homes.find(one) for one in about(event))
    ]
    return pl.DataFrame(lost, schema={"event_id": pl.String, "kind": pl.String, "target": pl.String})
