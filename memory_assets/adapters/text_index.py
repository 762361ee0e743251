"""The text index: finds rows of its corpora by their words, in immutable generations of
memory-mapped arrays.

    index/texts/000012/messages/ids.npy …      one folder per corpus, one file per array

A corpus is a set of texts that is searched on its own: memories, or messages. An open corpus stays
readable after its generation is replaced. A generation that cannot be read is moved to quarantine,
and `IndexFailedError` says how to rebuild it.
"""

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from memory_assets.adapters import text_arrays
from memory_assets.adapters.generations import Generations
from memory_assets.schema.protocols import Hit, Texts
from memory_assets.text.terms import query_terms

CORPORA = ("memories", "messages")


class TextIndex(Generations):
    """Builds generations of terms and finds texts by them in the published one; thread-safe."""

    FAILED = (
        "The text index could not be read ({error}) and was moved to {aside}. "
        "Run `memory data rebuild --indexes` to rebuild it from the tables."
    )

    def __init__(self, root: Path, name: str = "texts", corpora: Sequence[str] = CORPORA) -> None:
        super().__init__(root, name)
        self._corpora = corpora
        self._keyword_index = root / "keywords"
        """The index of earlier releases, which `update` removes because it contains texts."""
        self._cache: tuple[Path, dict[str, text_arrays.TextArrays | None]] | None = None
        """The folder of the generation that was last read, and those of its corpora that were."""

    def update(
        self, upserts: pl.DataFrame, deletes: Sequence[str], *, rebuild: bool = False
    ) -> str:
        """Publishes a generation with the changes and returns its name.

        `upserts` are new and changed rows with these columns: `id`, `corpus` and `text`; `parent`,
        the id of the row that this one is a part of (null if it is whole); `group`, such as its
        session, and `order`, its position there (null: none); `vector`, that of the text, and
        `words`, the contextual codes of its words. `deletes` are ids of any corpus.
        """
        base = None if rebuild else self.published()
        # The new folder begins empty even if this is no rebuild: each corpus is copied or written.
        with self.build(rebuild=True) as folder:
            for corpus in self._corpora:
                new = upserts.filter(pl.col("corpus") == corpus)
                with self.quarantined_on_failure(base):
                    old = _read(base, corpus) if base else None
                # A corpus that has neither old nor new rows gets no folder.
                if base and old is not None and _is_unchanged(old, new, deletes):
                    shutil.copytree(base / corpus, folder / corpus)
                elif old is not None or not new.is_empty():
                    # An old corpus without rows is false, too.
                    texts = old or text_arrays.empty_arrays()
                    changed = text_arrays.change_arrays(texts, new, deletes)
                    text_arrays.write_arrays(folder / corpus, changed)
        shutil.rmtree(self._keyword_index, ignore_errors=True)
        return folder.name

    def open(self, corpus: str) -> text_arrays.TextArrays | None:
        """Returns the published corpus, or None if it has no rows yet.

        It is read once for each generation, and stays usable when another one is published.
        """
        return self.read_published(partial(self._load, corpus=corpus), nothing=None)

    def ids(self, corpus: str) -> set[str]:
        """Returns the ids in the published generation of the corpus."""
        texts = self.open(corpus)
        return set(texts.ids) if texts is not None else set()

    def is_damage(self, error: Exception) -> bool:
        """Returns True: only reads are judged, and a read fails only in a damaged generation."""
        return True

    def close(self) -> None:
        """Closes the open generation; a corpus that `open` returned stays usable."""
        self._cache = None

    def _load(self, folder: Path, corpus: str) -> text_arrays.TextArrays | None:
        """Returns the corpus of the generation in the folder; None if it has no rows."""
        cache = self._cache
        if cache is None or cache[0] != folder:
            cache = self._cache = (folder, {})
        corpora = cache[1]
        if corpus not in corpora:
            texts = _read(folder, corpus)
            if texts is None and self.published() != folder:
                # The generation was removed meanwhile: `read_published` reads the present one.
                raise FileNotFoundError(folder)
            corpora[corpus] = texts
        return corpora[corpus]


def _is_unchanged(old: text_arrays.TextArrays, new: pl.DataFrame, deletes: Sequence[str]) -> bool:
    return new.is_empty() and not len(old.rows_of(deletes))


def _read(folder: Path, corpus: str) -> text_arrays.TextArrays | None:
    return text_arrays.read_arrays(folder / corpus) if (folder / corpus).is_dir() else None


def find_in(texts: Texts | None, query: str, limit: int) -> list[Hit]:
    """Returns the best matches in an open corpus by BM25, best first; empty for a query without
    terms.
    """
    terms = query_terms(query)
    if texts is None or not terms or limit <= 0:
        return []
    scores = texts.score(terms)
    matching_rows = np.flatnonzero(scores)
    if len(matching_rows) > limit:
        least = np.partition(scores[matching_rows], -limit)[-limit]
        matching_rows = matching_rows[scores[matching_rows] >= least]
    hits = [Hit(texts.ids[int(row)], float(scores[row])) for row in matching_rows]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]
