"""Applies later notes to the memories of the last fold, so that every process recalls them at once.

No watermark is kept: the observations of the memories show which notes they contain. So events of the same moment, and events
that arrive late from elsewhere, are applied exactly once, and applying them again changes nothing. A note with the meaning of
an older memory stays beside it until the next fold merges them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Tables
from memory_assets.stages.embed.memories import memories_of_notes
from memory_assets.stages.embed.notes import apply_corrections, note_id
from memory_assets.store.ledger import CORRECTED, FORGOTTEN, NOTES, Event, Ledger


def read_present(tables: Tables, ledger: Ledger) -> pl.DataFrame:
    """Returns the present memories."""
    return overlay(tables.read("memories"), ledger.events(NOTES))


def overlay(memories: pl.DataFrame, events: Iterable[Event]) -> pl.DataFrame:
    """Returns the memories with every note, correction and forgetting of the ledger."""
    notes = sorted((event for event in events if event.kind in NOTES), key=lambda event: event.moment)
    if not notes:
        return memories
    made = memories_of_notes(notes)
    homes = _homes(memories, {*made, *(id for event in notes for id in event.payload.get("observation_ids", ()))})
    fresh = [row for id, row in made.items() if id not in homes]
    homes |= {row["id"]: row["id"] for row in fresh}
    new = frozenset(row["id"] for row in fresh)
    rows = pl.concat([memories, schemas.frame_of("memories", fresh).select(memories.columns)]) if fresh else memories
    replaced = _replaced([event for event in notes if event.kind == CORRECTED], homes, new)
    forgotten = _forgotten(rows, notes, homes)
    return _restated(rows, replaced, forgotten)


def _homes(memories: pl.DataFrame, wanted: Iterable[str]) -> dict[str, str]:
    """Returns the memory of each observation."""
    found = memories.select("observation_ids", "id").explode("observation_ids")
    return dict(found.filter(pl.col("observation_ids").is_in(sorted(wanted))).iter_rows())


def _replaced(corrections: Sequence[Event], homes: Mapping[str, str], fresh: frozenset[str]) -> dict[str, str]:
    """Returns what the last correction of each memory replaces, if the memories were folded without it."""
    merged = []
    for event in corrections:
        by = homes[note_id(event)]
        merged.append((event.at, by, {homes[id] for id in event.payload["observation_ids"] if id in homes} - {by}))
    return {
        replaced: one.by
        for target, one in apply_corrections(merged).items()
        for replaced in (target, *sorted(one.earlier))
        if fresh & {target, one.by, replaced}
    }


def _forgotten(rows: pl.DataFrame, notes: Sequence[Event], homes: Mapping[str, str]) -> frozenset[str]:
    """Returns the memories that were forgotten and not noted again since."""
    noted: dict[str, tuple[Any, str]] = {}
    for event in notes:
        if event.kind != FORGOTTEN:
            noted[homes[note_id(event)]] = event.moment
    found: set[str] = set()
    for event in notes:
        if event.kind == FORGOTTEN:
            named = {homes[id] for id in event.payload["observation_ids"] if id in homes}
            worded = rows.filter(pl.col("text_hash").is_in(event.payload["text_hashes"]))["id"]
            found |= {id for id in {*named, *worded} if id not in noted or noted[id] < event.moment}
    return frozenset(found)


def _restated(rows: pl.DataFrame, replaced: Mapping[str, str], forgotten: frozenset[str]) -> pl.DataFrame:
    changed = sorted({*replaced, *forgotten})
    if not changed:
        return rows
    restated = pl.DataFrame(
        [(id, "forgotten" if id in forgotten else "superseded", replaced.get(id)) for id in changed],
        schema={"id": pl.String, "restated": pl.String, "newer": pl.String},
        orient="row",
    )
    joined = rows.join(restated, on="id", how="left", maintain_order="left")
    return joined.with_columns(
        pl.coalesce("restated", "state").alias("state"), pl.coalesce("newer", "superseded_by").alias("superseded_by")
    ).select(rows.columns)
