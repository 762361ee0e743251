"""The present memories: the table `memories`, with all notes of the ledger applied.

So every process recalls a note at once, before the table is rebuilt. Which notes the table already
contains is seen from the observations of its memories, not from a time. So events of the same time,
and events that arrive late from other machines, are applied exactly once. A note with the same
meaning as an older memory is a memory of its own until the table is rebuilt.
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
    # Imported only if needed, because it takes a while.
    from memory_assets.stages.embed.memories import memories_of_notes

    rows_of_notes = memories_of_notes(notes)
    named_ids = {id for event in notes for id in event.payload.get("observation_ids", ())}
    memory_of = _memory_of(memories, named_ids | rows_of_notes.keys())
    new_notes = {id: row for id, row in rows_of_notes.items() if id not in memory_of}
    memory_of |= {id: id for id in new_notes}
    rows = memories
    if new_notes:
        new_rows = schemas.frame_of("memories", new_notes.values())
        rows = pl.concat([memories, new_rows.select(memories.columns)])
    replaced = _replaced(notes, memory_of, new_notes)
    forgotten = _forgotten_since(rows, notes, memory_of)
    states = dict.fromkeys(replaced, "superseded")
    states |= dict.fromkeys(forgotten, "forgotten")
    state = _changed("state", states)
    superseded_by = _changed("superseded_by", replaced)
    return rows.with_columns(state=state, superseded_by=superseded_by)


def _replaced(
    notes: Sequence[Event], memory_of: Mapping[str, str], new_notes: Container[str]
) -> dict[str, str]:
    """Returns the memories that corrections replace, each with its replacement.

    Corrections that the table already contains are left out.
    """
    from memory_assets.stages.embed.notes import apply_corrections, note_id

    corrections = [
        (event.at, note_id(event), event.payload["observation_ids"])
        for event in notes
        if event.kind == CORRECTED
    ]
    replaced: dict[str, str] = {}
    for target, correction in apply_corrections(corrections, memory_of).items():
        for id in (target, *sorted(correction.earlier)):
            if any(memory_id in new_notes for memory_id in (target, correction.by, id)):
                replaced[id] = correction.by
    return replaced


def _changed(column: str, values: Mapping[str, str]) -> pl.Expr:
    """Returns the column with its values replaced for the memories in `values`."""
    ids = pl.col("id")
    return ids.replace_strict(values, default=pl.col(column), return_dtype=pl.String)


def _memory_of(memories: pl.DataFrame, ids: Iterable[str]) -> dict[str, str]:
    """Returns the memory of each of these observations, if it has one."""
    pairs = memories.select("observation_ids", "id").explode("observation_ids")
    return dict(pairs.filter(pl.col("observation_ids").is_in(sorted(ids))).iter_rows())


def _forgotten_since(
    rows: pl.DataFrame, notes: Sequence[Event], memory_of: Mapping[str, str]
) -> set[str]:
    """Returns the memories that were forgotten and not noted again since."""
    from memory_assets.stages.embed.notes import note_id

    wording = [event for event in notes if event.kind != FORGOTTEN]
    noted = {memory_of[note_id(event)]: event.moment for event in wording}
    forgotten: set[str] = set()
    for event in notes:
        if event.kind == FORGOTTEN:
            ids = event.payload["observation_ids"]
            has_text = pl.col("text_hash").is_in(event.payload["text_hashes"])
            affected = {memory_of[id] for id in ids if id in memory_of}
            affected.update(rows.filter(has_text)["id"])
            forgotten |= {id for id in affected if id not in noted or noted[id] < event.moment}
    return forgotten
