"""The facade's verb `restore`: makes stale, archived and cold memories active again.

Appends one event per memory to the ledger. The next build of memories applies the events; the time
until a memory becomes stale again begins with its event. If one of the ids cannot be restored,
nothing is written.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from memory_assets.errors import MemoryGoneError, NoteError
from memory_assets.schema.requests import RestoreRequest
from memory_assets.services.search.memory_ids import check_not_forgotten, find_memory
from memory_assets.stages.embed.present import read_present
from memory_assets.stages.maintain.states import MOVES, fold_states
from memory_assets.stages.recall.log import log_recalls
from memory_assets.store.ledger import RECALLED, RESTORED
from memory_assets.store.store import Store
from memory_assets.text.short_ids import short_id


@dataclass(frozen=True)
class RestoredMemory:
    """A memory that is active again from the next build of memories on."""

    memory_id: str
    text: str
    state: str
    """Before: stale, archived or cold."""
    restored_at: datetime


@dataclass(frozen=True)
class Restored:
    """The restored memories, in the order in which they were named."""

    memories: tuple[RestoredMemory, ...]


def restore(store: Store, request: RestoreRequest) -> Restored:
    """Makes the memories active again.

    Raises `UnknownMemoryError` for an unknown id, `MemoryGoneError` for a memory that was forgotten
    or replaced, and `NoteError` for one that is active or held.
    """
    memories = read_present(store.tables, store.ledger)
    rows = [find_memory(memories, name) for name in request.memory_ids]
    rows_by_id = {row["id"]: row for row in rows}
    ids = list(rows_by_id)
    states = present_states(store, memories.filter(pl.col("id").is_in(ids)))
    state_of = dict(states.select("memory_id", "state").iter_rows())
    for id in ids:
        _check_restorable(rows_by_id[id], state_of[id])
    events = {id: store.append_event(RESTORED, id, {"memory_ids": [id]}) for id in ids}
    restored = (
        RestoredMemory(id, rows_by_id[id]["text"], state_of[id], events[id].at) for id in ids
    )
    return Restored(tuple(restored))


def present_states(store: Store, memories: pl.DataFrame) -> pl.DataFrame:
    """Returns (memory_id, state, since, reason) of the memories now, with the events since they
    were built.
    """
    settings = store.settings
    recalls = log_recalls(store.ledger.events([RECALLED]), settings.zone)
    moves = store.ledger.events(MOVES)
    now = settings.clock()
    return fold_states(memories, recalls, moves, now, settings.ttl_days, settings.zone)


def _check_restorable(memory: dict[str, Any], state: str) -> None:
    """Raises an error that says what to do instead, unless the memory can be restored."""
    id = short_id(memory["id"])
    check_not_forgotten(memory)
    if state == "superseded":
        newer = short_id(memory["superseded_by"])
        raise MemoryGoneError(f"{id} was replaced by {newer}, which recall returns instead.")
    if state == "active":
        raise NoteError(
            f"{id} is active already. Only stale, archived and cold memories can be restored."
        )
    if state == "held":
        raise NoteError(f"{id} is held, not archived; `memory explain {id}` says why.")
