"""The text index: finds rows of two corpora by their words, in immutable generations of memory-mapped arrays.

    index/texts/000012/messages/ids.npy …      one folder per corpus, one file per array

An open corpus stays readable after its generation is replaced. A generation that cannot be read is moved to quarantine and
`IndexFailedError` says how to rebuild.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from memory_assets.adapters.generations import Generations
from memory_assets.adapters.text_arrays import TextArrays, change_arrays, empty_arrays, read_arrays, write_arrays
from memory_assets.errors import IndexFailedError
from memory_assets.schema.protocols import Hit, Texts
from memory_assets.text.terms import query_terms

CORPORA = ("memories", "messages")

COLUMNS = {
    "id": pl.String,
    "corpus": pl.String,
    "text": pl.String,
    "parent": pl.String,
    "group": pl.String,
    "order": pl.Int64,
    "vector": pl.List(pl.Float32),
    "words": pl.Binary,
}
"""Columns of the input; all but the first three are optional."""


class TextIndex:
    """Builds generations of terms and finds texts by them in the published one; thread-safe."""

    def __init__(self, root: Path) -> None:
        self._generations = Generations(root, "texts")
        self._old_index = root / "keywords"
        """The word index of earlier releases, which contains texts."""
        self._open: tuple[Path, dict[str, TextArrays | None]] | None = None

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        folder = self._generations.published()
        return folder.name if folder else None

    def update(self, upserts: pl.DataFrame, deletes: Sequence[str], *, rebuild: bool = False) -> str:
        """Publishes a generation with the changes and returns its name.

        `upserts` has columns `id`, `corpus`, `text`, and optionally `parent` (default: the row itself), `group`, `order`,
        `vector` and `words`. `deletes` are ids of any corpus.
        """
        base = None if rebuild else self._generations.published()
        given = completed(upserts)
        with self._generations.build(rebuild=True) as folder:
            for corpus in CORPORA:
                new = given.filter(pl.col("corpus") == corpus)
                old = self._read(base, corpus) if base else None
                if base and old is not None and new.is_empty() and not len(old.rows_of(deletes)):
                    shutil.copytree(base / corpus, folder / corpus)
                elif old is not None or not new.is_empty():
                    write_arrays(folder / corpus, change_arrays(old or empty_arrays(), new, deletes))
        shutil.rmtree(self._old_index, ignore_errors=True)
        return folder.name

    def open(self, corpus: str) -> TextArrays | None:
        """Returns the published corpus, or None if it has no rows yet; keeps it open until another is published."""
        while folder := self._generations.published():
            kept = self._open
            if kept is None or kept[0] != folder:
                kept = self._open = (folder, {})
            if corpus not in kept[1]:
                try:
                    texts = self._read(folder, corpus)
                except FileNotFoundError:
                    continue
                if texts is None and self._generations.published() != folder:
                    continue  # replaced twice and removed meanwhile
                kept[1][corpus] = texts
            return kept[1][corpus]
        return None

    def find(self, query: str, limit: int, corpus: str) -> list[Hit]:
        """Returns the best matches in the corpus by BM25, best first; nothing for a query without terms."""
        return find_in(self.open(corpus), query, limit)

    def ids(self, corpus: str) -> set[str]:
        """Returns the ids in the published generation of the corpus."""
        texts = self.open(corpus)
        return set(texts.ids) if texts is not None else set()

    def keep_published_only(self) -> None:
        """Removes every generation but the published one."""
        self._generations.keep_published_only()

    def _read(self, folder: Path, corpus: str) -> TextArrays | None:
        try:
            return read_arrays(folder / corpus) if (folder / corpus).is_dir() else None
        except (OSError, ValueError, EOFError) as error:
            if isinstance(error, FileNotFoundError) and self._generations.published() != folder:
                raise
            self._open = None
            aside = self._generations.quarantine(folder)
            raise IndexFailedError(
                f"The text index could not be read ({error}) and was moved to {aside}. "
                "Run `memory data rebuild --indexes` to rebuild it from the tables."
            ) from error


def find_in(texts: Texts | None, query: str, limit: int) -> list[Hit]:
    """Returns the best matches in an open corpus by BM25, best first; nothing for a query without terms."""
    terms = query_terms(query)
    if texts is None or not terms or limit <= 0:
        return []
    scores = texts.score(terms)
    found = np.flatnonzero(scores)
    if len(found) > limit:
        least = np.partition(scores[found], -limit)[-limit]
        found = found[scores[found] >= least]
    hits = [Hit(texts.ids[int(row)], float(scores[row])) for row in found]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def completed(upserts: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows with all columns; missing values get their defaults."""
    rows = upserts.select(
        (pl.col(name) if name in upserts.columns else pl.lit(None)).cast(kind).alias(name) for name, kind in COLUMNS.items()
    )
    return rows.with_columns(
        pl.col("parent").fill_null(pl.col("id")), pl.col("group").fill_null(""), pl.col("order").fill_null(0)
    )
