"""The present memories: those of the last fold, with every later note of the ledger applied.

Every process recalls a note at once. No watermark is kept: the observations of the memories show
which notes they contain. So events of the same moment, and events that arrive late from elsewhere,
are applied exactly once, and applying them again changes nothing. A note with the meaning of an
older memory stays beside it until the next fold merges them.
"""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.store.ledger import CORRECTED, FORGOTTEN, NOTES, Event, Ledger
from memory_assets.store.parquet_tables import ParquetTables


def read_present(tables: ParquetTables, ledger: Ledger) -> pl.DataFrame:
    """Returns the present memories."""
    return overlay(tables.read("memories"), ledger.events(NOTES))


def overlay(memories: pl.DataFrame, events: Iterable[Event]) -> pl.DataFrame:
    """Returns the memories with every note, correction and forgetting of the ledger."""
    notes = sorted(
        (event for event in events if event.kind in NOTES), key=lambda event: event.moment
    )
    if not notes:
        return memories
    # The fold takes a while to import.
    from memory_assets.stages.embed.memories import memories_of_notes
    from memory_assets.stages.embed.notes import apply_corrections, note_id

    made = memories_of_notes(notes)
    homes = _homes(
        memories,
        {*made, *(id for event in notes for id in event.payload.get("observation_ids", ()))},
    )
    fresh = {id: row for id, row in made.items() if id not in homes}
    homes |= {id: id for id in fresh}
    rows = (
        pl.concat([memories, schemas.frame_of("memories", fresh.values()).select(memories.columns)])
        if fresh
        else memories
    )
    corrections = [
        (one.at, note_id(one), one.payload["observation_ids"])
        for one in notes
        if one.kind == CORRECTED
    ]
    replaced = {
        id: one.by
        for target, one in apply_corrections(corrections, homes).items()
        for id in (target, *sorted(one.earlier))
        if not fresh.keys().isdisjoint(
            (target, one.by, id)
        )  # else the memories were folded with this correction
    }
    forgotten = _forgotten_since(rows, notes, homes)
    states = dict.fromkeys(replaced, "superseded") | dict.fromkeys(forgotten, "forgotten")
    state = pl.col("id").replace_strict(states, default=pl.col("state"), return_dtype=pl.String)
    newer = pl.col("id").replace_strict(
        replaced, default=pl.col("superseded_by"), return_dtype=pl.String
    )
    return rows.with_columns(state=state, superseded_by=newer)


def _homes(memories: pl.DataFrame, wanted: Iterable[str]) -> dict[str, str]:
    """Returns the memory of each observation."""
    found = memories.select("observation_ids", "id").explode("observation_ids")
    return dict(found.filter(pl.col("observation_ids").is_in(sorted(wanted))).iter_rows())


def _forgotten_since(
    rows: pl.DataFrame, notes: Sequence[Event], homes: Mapping[str, str]
) -> set[str]:
    """Returns the memories that were forgotten and not noted again since."""
    from memory_assets.stages.embed.notes import note_id

    noted = {homes[note_id(event)]: event.moment for event in notes if event.kind != FORGOTTEN}
    found: set[str] = set()
    for event in notes:
        if event.kind == FORGOTTEN:
            named = {homes[id] for id in event.payload["observation_ids"] if id in homes}
            worded = rows.filter(pl.col("text_hash").is_in(event.payload["text_hashes"]))["id"]
            found |= {id for id in {*named, *worded} if id not in noted or noted[id] < event.moment}
    return found
