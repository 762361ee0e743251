"""The present memories: those of the last fold, with every later note of the ledger applied.

Every process recalls a note at once. No watermark is kept: the observations of the memories show
which notes they contain. So events of the same moment, and events that arrive late from elsewhere,
are applied exactly once, and applying them again changes nothing. A note with the meaning of an
older memory stays beside it until the next fold merges them.
"""

from collections.abc import Container, Iterable, Mapping, Sequence

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.store.ledger import CORRECTED, FORGOTTEN, NOTES, Event, Ledger
from memory_assets.store.parquet_tables import ParquetTables


def read_present(tables: ParquetTables, ledger: Ledger) -> pl.DataFrame:
    """Returns the present memories."""
    return overlay(tables.read("memories"), ledger.events(NOTES))


def overlay(memories: pl.DataFrame, events: Iterable[Event]) -> pl.DataFrame:
    """Returns the memories with every note, correction and forgetting of the ledger."""
    notes = [event for event in events if event.kind in NOTES]
    notes.sort(key=lambda event: event.moment)
    if not notes:
        return memories
    # The fold takes a while to import.
    from memory_assets.stages.embed.memories import memories_of_notes

    rows_of_notes = memories_of_notes(notes)
    named = {id for event in notes for id in event.payload.get("observation_ids", ())}
    homes = _homes(memories, named | rows_of_notes.keys())
    fresh = {id: row for id, row in rows_of_notes.items() if id not in homes}
    homes |= {id: id for id in fresh}
    rows = memories
    if fresh:
        new_rows = schemas.frame_of("memories", fresh.values())
        rows = pl.concat([memories, new_rows.select(memories.columns)])
    replaced = _replaced(notes, homes, fresh)
    forgotten = _forgotten_since(rows, notes, homes)
    states = dict.fromkeys(replaced, "superseded") | dict.fromkeys(forgotten, "forgotten")
    newer = _changed("superseded_by", replaced)
    return rows.with_columns(state=_changed("state", states), superseded_by=newer)


def _replaced(
    notes: Sequence[Event], homes: Mapping[str, str], fresh: Container[str]
) -> dict[str, str]:
    """Returns what the corrections replace, those aside that the memories were folded with."""
    from memory_assets.stages.embed.notes import apply_corrections, note_id

    corrections = [
        (event.at, note_id(event), event.payload["observation_ids"])
        for event in notes
        if event.kind == CORRECTED
    ]
    replaced: dict[str, str] = {}
    for target, correction in apply_corrections(corrections, homes).items():
        for id in (target, *sorted(correction.earlier)):
            if any(end in fresh for end in (target, correction.by, id)):
                replaced[id] = correction.by
    return replaced


def _changed(column: str, values: Mapping[str, str]) -> pl.Expr:
    """Returns the column with the values of these memories."""
    return pl.col("id").replace_strict(values, default=pl.col(column), return_dtype=pl.String)


def _homes(memories: pl.DataFrame, wanted: Iterable[str]) -> dict[str, str]:
    """Returns the memory of each observation."""
    pairs = memories.select("observation_ids", "id").explode("observation_ids")
    return dict(pairs.filter(pl.col("observation_ids").is_in(sorted(wanted))).iter_rows())


def _forgotten_since(
    rows: pl.DataFrame, notes: Sequence[Event], homes: Mapping[str, str]
) -> set[str]:
    """Returns the memories that were forgotten and not noted again since."""
    from memory_assets.stages.embed.notes import note_id

    noted = {homes[note_id(event)]: event.moment for event in notes if event.kind != FORGOTTEN}
    forgotten: set[str] = set()
    for event in notes:
        if event.kind == FORGOTTEN:
            named = {homes[id] for id in event.payload["observation_ids"] if id in homes}
            worded = rows.filter(pl.col("text_hash").is_in(event.payload["text_hashes"]))["id"]
            affected = {*named, *worded}
            forgotten |= {id for id in affected if id not in noted or noted[id] < event.moment}
    return forgotten
