"""Takes what is forgotten out of the tables: rows that carry the words go, and with them what was made of these rows.

Nothing is made anew here. A part that lost rows no longer says what it was made from, so the next run makes it again, from the
archive, the ledger and the answers as they are by then.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import polars as pl

from memory_assets.schema.progress import track
from memory_assets.schema.tables import table_names
from memory_assets.stages.capture.tombstones import Tombstones
from memory_assets.store.parquet_tables import ParquetTables

PATHS = frozenset({"path"})
"""Where a transcript lies is no text of ours: its file is still called so."""

NEVER_MADE = "{}"
"""Inputs of a part that is to be made again."""


def erase_rows(tables: ParquetTables, stones: Tombstones, sources: Iterable[str], notes: pl.DataFrame) -> Counter[str]:
    """Removes the rows that carry what is forgotten, and every old file of the tables; returns the rows removed by table.

    The records of the `sources`, whose bytes were masked, are dropped: their messages have other ids now. `notes` are what
    no session said, as observations.
    """
    gone: Counter[str] = Counter()
    for table, part in track([(name, part) for name in table_names() for part in tables.parts(name)], "Erasing from tables"):
        frame = tables.read(table, [part])
        gone[table] += _keep(tables, table, part, frame, ~_carries(frame, stones))
    for table, (column, known) in _sources_of(tables, notes).items():
        for part in tables.parts(table):
            frame = tables.read(table, [part])
            gone[table] += _keep(tables, table, part, frame, frame[column].is_in(list(known)))
    for source in sources:
        tables.drop("records", source)
    tables.purge()
    return +gone


def without_forgotten(made: Mapping[str, pl.DataFrame], stones: Tombstones) -> dict[str, pl.DataFrame]:
    """Returns `segments`, `observations` and `verdicts` without what is forgotten: our own wording may say it once more."""
    if not stones:
        return dict(made)
    is_gone = _carries(made["observations"], stones)
    is_refused = pl.col("candidate_id").is_in(made["observations"].filter(is_gone)["id"].implode())
    told = {"verdict": "discard", "reason": "forgotten"}
    refused = [pl.when(is_refused).then(pl.lit(word)).otherwise(name).alias(name) for name, word in told.items()]
    narratives = [stones.mask_text(text) for text in made["segments"]["narrative"]]
    return {
        "segments": made["segments"].with_columns(pl.Series("narrative", narratives, dtype=pl.String)),
        "observations": made["observations"].filter(~is_gone),
        "verdicts": made["verdicts"].with_columns(refused),
    }


def _sources_of(tables: ParquetTables, notes: pl.DataFrame) -> Mapping[str, tuple[str, Collection[str]]]:
    """Returns, for each table without words, the column that says what a row was made of, and what there still is."""
    observed = pl.concat([tables.read("observations", columns=["id", "text_hash"]), notes.select("id", "text_hash")])
    return {
        "embeddings": ("text_hash", set(observed["text_hash"])),
        "passages": ("message_id", set(tables.read("messages", columns=["message_id"])["message_id"])),
        "mentions": ("memory_id", set(tables.read("memories", columns=["id"])["id"])),
    }


def _keep(tables: ParquetTables, table: str, part: str, frame: pl.DataFrame, is_kept: pl.Series) -> int:
    """Writes the part without the other rows, and returns how many they are."""
    count = frame.height - int(is_kept.sum())
    if count:
        tables.write(table, part, frame.filter(is_kept), inputs=NEVER_MADE)
    return count


def _carries(frame: pl.DataFrame, stones: Tombstones) -> pl.Series:
    """Returns which rows hold what is forgotten."""
    told = pl.Series([False] * frame.height, dtype=pl.Boolean)
    for name, dtype in frame.schema.items():
        if dtype in (pl.String, pl.List(pl.String)) and name not in PATHS:
            texts = frame[name] if dtype == pl.String else frame[name].list.join("\n")
            told = told | pl.Series([bool(text) and stones.holds(text.encode()) for text in texts], dtype=pl.Boolean)
    return told
