"""The text index: finds rows of two corpora by their words, in immutable generations of arrays that are opened by mapping.

    index/texts/000012/messages/ids.npy …      one folder per corpus, one file per array

What was opened stays readable after its generation is replaced. A generation that cannot be read is moved to quarantine and
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
"""Of what is put in; all but the first three may be left out."""


class TextIndex:
    """Builds generations of terms and finds texts by them in the published one; safe to share between threads."""

    def __init__(self, root: Path) -> None:
        self._generations = Generations(root, "texts")
        self._replaced = root / "keywords"
        """The index of words of earlier stores, which kept the texts."""
        self._open: tuple[Path, dict[str, TextArrays | None]] | None = None

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        folder = self._generations.published()
        return folder.name if folder else None

    def update(self, upserts: pl.DataFrame, deletes: Sequence[str], *, rebuild: bool = False) -> str:
        """Publishes a generation with the changes and returns its name.

        `upserts` has columns `id`, `corpus`, `text`, and, where they are known, `parent` (else the row itself), `group`,
        `order`, `vector` and `words`. `deletes` names ids, in whichever corpus they are.
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
        shutil.rmtree(self._replaced, ignore_errors=True)
        return folder.name

    def open(self, corpus: str) -> TextArrays | None:
        """Returns the corpus as published, or None where it has no rows yet; kept open until another is published."""
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
                    continue  # replaced twice, and so removed, since its name was read
                kept[1][corpus] = texts
            return kept[1][corpus]
        return None

    def find(self, query: str, limit: int, corpus: str) -> list[Hit]:
        """Returns the best matches within the corpus by BM25, best first; nothing for a query without a term."""
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
                "`memory data rebuild --indexes` makes it again from the tables."
            ) from error


def find_in(texts: Texts | None, query: str, limit: int) -> list[Hit]:
    """Returns the best matches within an open corpus by BM25, best first; nothing for a query without a term."""
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
    """Returns the rows with every column, what is not given filled in."""
    missing = [pl.lit(None).cast(kind).alias(name) for name, kind in COLUMNS.items() if name not in upserts.columns]
    rows = upserts.with_columns(missing).select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())
    return rows.with_columns(
        pl.col("parent").fill_null(pl.col("id")), pl.col("group").fill_null(""), pl.col("order").fill_null(0)
    )
