"""Removes from the tables the rows that contain forgotten words, and the rows derived from them.

Nothing is rebuilt here: a partition that lost rows gets an empty input version, so the next run
rebuilds it from the archive, the ledger and the answers.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import polars as pl

from memory_assets.schema.extras import extras
from memory_assets.schema.progress import track
from memory_assets.schema.tables import table_names
from memory_assets.stages.capture.tombstones import Tombstones
from memory_assets.store.parquet_tables import ParquetTables

PATHS = frozenset({"path"})
"""Columns that are not searched: they name the transcript's file, which keeps its name."""

NO_INPUTS = "{}"
"""Input version of a partition that must be rebuilt."""


def erase_rows(
    tables: ParquetTables, tombstones: Tombstones, sources: Iterable[str], notes: pl.DataFrame
) -> Counter[str]:
    """Removes the rows that contain forgotten words, then the rows whose source is gone, and the
    files of older versions of the tables. Returns the number of removed rows by table.

    `sources` are the transcripts whose bytes were masked. Their records are dropped, because their
    message ids changed. `notes` are the observations that come from no session: they are sources
    of embeddings, as the table `observations` is.
    """
    removed: Counter[str] = Counter()
    partitions = [(name, part) for name in table_names() for part in tables.parts(name)]
    for table, part in track(partitions, "Erasing from tables"):
        frame = tables.read(table, [part])
        is_clean = ~_contains_words(frame, tombstones)
        removed[table] += _remove_others(tables, table, part, frame, is_clean)
    columns = ["id", "text_hash"]
    observed = pl.concat([tables.read("observations", columns=columns), notes.select(columns)])
    messages = tables.read("messages", columns=["message_id"])["message_id"]
    passages = tables.read("passages", columns=["message_id", "text_hash"])
    passages = passages.filter(pl.col("message_id").is_in(messages.implode()))
    # Derived table → the sources that still exist. The name of the series is that of the column
    # that names the source of each row.
    remaining_sources = {
        "embeddings": observed["text_hash"],
        "embedding_failures": observed["text_hash"],
        "passages": messages,
        "passage_vectors": passages["text_hash"],
        "mentions": tables.read("memories", columns=["id"])["id"].alias("memory_id"),
    }
    for extra in extras():
        for table, (source, column) in extra.derived.items():
            remaining_sources[table] = tables.read(source, columns=[column])[column]
    for table, source_ids in remaining_sources.items():
        for part in tables.parts(table):
            frame = tables.read(table, [part])
            has_source = frame[source_ids.name].is_in(source_ids.implode())
            removed[table] += _remove_others(tables, table, part, frame, has_source)
    for source in sources:
        tables.drop("records", source)
    tables.purge()
    return +removed  # without the tables that lost nothing


def without_forgotten(
    tables: Mapping[str, pl.DataFrame], tombstones: Tombstones
) -> dict[str, pl.DataFrame]:
    """Returns `segments`, `observations` and `verdicts` without forgotten words.

    The messages are masked already, but a model may have written the words again. Observations with
    them are removed, their verdicts become refusals, and narratives and quotes are masked.
    """
    if not tombstones:
        return dict(tables)
    observations = tables["observations"]
    segments = tables["segments"]
    is_forgotten = _contains_words(observations, tombstones)
    ids = observations.filter(is_forgotten)["id"]
    when_forgotten = pl.when(pl.col("candidate_id").is_in(ids.implode()))
    refusal = {
        "verdict": when_forgotten.then(pl.lit("discard")).otherwise("verdict"),
        "reason": when_forgotten.then(pl.lit("forgotten")).otherwise("reason"),
    }
    narratives = [tombstones.mask_text(text) for text in segments["narrative"]]
    quotes = [[*map(tombstones.mask_text, texts)] for texts in segments["quotes"]]
    masked = {
        "narrative": pl.Series(narratives, dtype=pl.String),
        "quotes": pl.Series(quotes, dtype=pl.List(pl.String)),
    }
    return {
        "segments": segments.with_columns(**masked),
        "observations": observations.filter(~is_forgotten),
        "verdicts": tables["verdicts"].with_columns(**refusal),
    }


def _remove_others(
    tables: ParquetTables, table: str, part: str, frame: pl.DataFrame, is_kept: pl.Series
) -> int:
    """Removes the rows of the partition where `is_kept` is false, and returns their number."""
    count = frame.height - int(is_kept.sum())
    if count:
        tables.write(table, part, frame.filter(is_kept), inputs=NO_INPUTS)
    return count


def _contains_words(frame: pl.DataFrame, tombstones: Tombstones) -> pl.Series:
    """Returns for each row whether it contains forgotten words."""
    matches = pl.Series([False] * frame.height, dtype=pl.Boolean)
    for name, dtype in frame.schema.items():
        if dtype in (pl.String, pl.List(pl.String)) and name not in PATHS:
            texts = frame[name] if dtype == pl.String else frame[name].list.join("\n")
            has_words = [bool(text) and tombstones.holds(text.encode()) for text in texts]
            matches = matches | pl.Series(has_words, dtype=pl.Boolean)
    return matches
