"""One corpus of the text index as arrays: rows with their group and parent, and the postings of
terms.

Rows are sorted by group (a session), order and parent (the message that a passage is part of), so
that neighbours in a session are neighbours in the arrays. Terms are stored as hashes; texts are not
stored. A change drops the replaced rows, adds the new ones and sorts once; unchanged texts are not
tokenised again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from memory_assets.adapters.array_files import Names, read_fields, write_fields
from memory_assets.schema.protocols import CODE_BYTES
from memory_assets.text.files import make_folder
from memory_assets.text.terms import bm25, bm25_norms, count_terms, key_of
from memory_assets.text.vectors import signs_of

MOST_COUNTED = 255
"""Maximum term count of one row."""

ROWS_AT_ONCE = 50_000
"""Rows whose vectors are copied in one step: copying all at once would take as much memory as the
index.
"""


@dataclass(frozen=True)
class TextArrays:
    """The rows of one corpus and the postings of its terms; `Texts` of the protocols."""

    ids: Names
    parent_ids: Names
    group_ids: Names
    parents: np.ndarray
    """Row → number of its parent, int32."""
    groups: np.ndarray
    """Row → number of its group, int32, ascending."""
    order: np.ndarray
    """Row → its position in the group, int64."""
    lengths: np.ndarray
    """Row → number of its terms, int32."""
    vectors: np.ndarray
    """float32, shape (rows, dimension); zeros if a row has none, dimension 0 if no row has one."""
    word_starts: np.ndarray
    """Start of each row's word codes, and the end of the last, int64."""
    word_codes: np.ndarray
    """Contextual word codes of all rows, int8, shape (words, 48)."""
    keys: np.ndarray
    """Hashes of all terms, uint64, ascending."""
    starts: np.ndarray
    """Start of each term's postings, and the end of the last, int64."""
    rows: np.ndarray
    """Rows of the postings, term after term, int32."""
    counts: np.ndarray
    """How often the term occurs in each of these rows, uint8."""

    def __len__(self) -> int:
        return len(self.groups)

    def postings(self, term: str) -> tuple[np.ndarray, np.ndarray]:
        """Returns the rows that contain the term, ascending, and its counts."""
        key = np.uint64(key_of(term))
        place = int(np.searchsorted(self.keys, key))
        places = slice(0, 0)
        if place < len(self.keys) and self.keys[place] == key:
            places = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.rows[places], self.counts[places].astype(np.float32)

    def known(self, terms: Sequence[str]) -> list[str]:
        """Returns the terms that occur in some row."""
        keys = np.array([key_of(term) for term in terms], dtype=np.uint64)
        places = np.minimum(np.searchsorted(self.keys, keys), max(len(self.keys) - 1, 0))
        exist = self.keys[places] == keys if len(self.keys) else np.zeros(len(keys), dtype=bool)
        return [term for term, exists in zip(terms, exist, strict=True) if exists]

    def rows_of(self, ids: Iterable[str]) -> np.ndarray:
        """Returns the rows of the ids that the corpus contains."""
        places = self.ids.places
        return np.array([places[id] for id in ids if id in places], dtype=np.int64)

    def words_of(self, row: int) -> np.ndarray:
        """Returns the codes of the row's words, int8, shape (words, 48)."""
        return self.word_codes[self.word_starts[row] : self.word_starts[row + 1]]

    def score(self, terms: Iterable[str] | Mapping[str, float]) -> np.ndarray:
        """Returns the BM25 score of every row, float32; terms may have weights."""
        weights = terms if isinstance(terms, Mapping) else dict.fromkeys(terms, 1.0)
        scores = np.zeros(len(self), dtype=np.float32)
        for term, weight in weights.items():
            rows, counts = self.postings(term)
            if len(rows):
                scores[rows] += weight * bm25(counts, self._norms[rows], len(self))
        return scores

    @property
    def signs(self) -> np.ndarray:
        """The signs of the coordinates, 64 packed into a number; computed when first needed."""
        return self._signs

    @cached_property
    def _signs(self) -> np.ndarray:
        return signs_of(self.vectors)

    @cached_property
    def _norms(self) -> np.ndarray:
        """The length normalisation of BM25 for each row, float32."""
        return bm25_norms(self.lengths, max(float(self.lengths.mean()), 1.0)).astype(np.float32)


def read_arrays(folder: Path) -> TextArrays:
    """Returns the corpus in the folder, memory-mapped; raises `OSError` or `ValueError` if it is
    incomplete.
    """
    texts = read_fields(TextArrays, folder)
    per_row = (texts.ids, texts.parents, texts.order, texts.lengths, texts.vectors)
    if any(len(array) != len(texts) for array in per_row):
        raise ValueError("its arrays have different numbers of rows")
    if len(texts.word_starts) != len(texts) + 1 or len(texts.word_codes) != texts.word_starts[-1]:
        raise ValueError("its word codes are incomplete")
    has_postings = len(texts.rows) == len(texts.counts) == texts.starts[-1]
    if len(texts.starts) != len(texts.keys) + 1 or not has_postings:
        raise ValueError("its postings are incomplete")
    return texts


def write_arrays(folder: Path, texts: TextArrays) -> None:
    """Writes the corpus into a new folder that only its owner can read."""
    write_fields(make_folder(folder), texts)


def empty_arrays() -> TextArrays:
    """Returns a corpus without rows."""
    names = Names.of(())
    start = np.zeros(1, dtype=np.int64)
    none = np.zeros(0, dtype=np.int32)
    return TextArrays(
        ids=names, parent_ids=names, group_ids=names, parents=none, groups=none, order=start[:0],
        lengths=none,
        vectors=np.zeros((0, 0), dtype=np.float32), word_starts=start, word_codes=np.zeros((0,
        CODE_BYTES), dtype=np.int8),
        keys=none.astype(np.uint64), starts=start, rows=none, counts=none.astype(np.uint8),
    )  # fmt: skip


def change_arrays(old: TextArrays, new: pl.DataFrame, deletes: Iterable[str]) -> TextArrays:
    """Returns the corpus with the rows of `new` (see `TextIndex.update`) inserted or replaced, and
    the rows with the ids in `deletes` removed.

    Old and new rows are numbered in one sequence, the new ones after the old ones. `was` is the
    number of each row of the result in that sequence; `becomes` is the reverse: the number of each
    old or new row in the result, -1 if it is dropped.
    """
    if new["id"].is_duplicated().any():  # `unique` would copy the frame
        new = new.unique("id", keep="last", maintain_order=True)
    new = new.with_columns(
        pl.col("parent").fill_null(pl.col("id")),
        pl.col("group").fill_null(""),
        pl.col("order").fill_null(0),
    )
    old_rows = pl.DataFrame(
        {
            "id": list(old.ids),
            "parent": pl.Series(list(old.parent_ids), dtype=pl.String)[old.parents],
            "group": pl.Series(list(old.group_ids), dtype=pl.String)[old.groups],
            "order": old.order,
        },
        schema=new.select("id", "parent", "group", "order").schema,
    )
    remaining = old_rows.with_row_index("was").filter(~pl.col("id").is_in([*deletes, *new["id"]]))
    added = new.select(old_rows.columns).with_row_index("was", offset=len(old))
    rows = pl.concat([remaining, added]).sort("group", "order", "parent", "was")
    was = rows["was"].to_numpy()
    becomes = np.full(len(old) + new.height, -1, dtype=np.int64)
    becomes[was] = np.arange(rows.height)
    counted = count_terms(new["text"].to_list())
    lengths = np.bincount(counted["text"], counted["count"], minlength=new.height).astype(np.int32)
    parent_ids, parents = _numbered(rows["parent"])
    group_ids, groups = _numbered(rows["group"])
    lengths = np.concatenate([old.lengths, lengths])[was]
    posted = _postings(old, counted, becomes)
    ids = Names.of(rows["id"])
    order = rows["order"].to_numpy()
    vectors = _vectors(old, new, becomes)
    words = _words(old, new, was)
    return TextArrays(
        ids, parent_ids, group_ids, parents, groups, order, lengths, vectors, *words, *posted
    )


def _numbered(names: pl.Series) -> tuple[Names, np.ndarray]:
    """Returns the distinct names in order of their first row, and the number of each row's name."""
    distinct = names.unique(maintain_order=True)
    numbers = names.cast(pl.Enum(distinct)).to_physical().to_numpy()
    return Names.of(distinct), numbers.astype(np.int32)


def _vectors(old: TextArrays, new: pl.DataFrame, becomes: np.ndarray) -> np.ndarray:
    """Returns the vectors of the rows in their new order; old vectors of another dimension than the
    new ones become zeros. For `becomes`, see `change_arrays`.
    """
    dimension = new["vector"].list.len().max() if new["vector"].count() else old.vectors.shape[1]
    assert isinstance(dimension, int)
    vectors = np.zeros((int(becomes.max(initial=-1)) + 1, dimension), dtype=np.float32)
    old_places = becomes[: len(old)]
    new_places = becomes[len(old) :]
    copied_rows = len(old) if old.vectors.shape[1] == dimension else 0
    for start in range(0, copied_rows, ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        places = old_places[rows]
        vectors[places[places >= 0]] = old.vectors[rows][places >= 0]
    for start in range(0, new.height, ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        column = new["vector"][rows]
        places = new_places[rows]
        has_vector = column.is_not_null().to_numpy()
        if has_vector.any():
            values = column.drop_nulls().explode().to_numpy()
            vectors[places[has_vector]] = values.reshape(-1, dimension)
    return vectors


def _words(old: TextArrays, new: pl.DataFrame, was: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns starts and word codes of the rows in their new order (`was`: see `change_arrays`)."""
    packed = [words or b"" for words in new["words"]]
    new_codes = np.frombuffer(b"".join(packed), dtype=np.int8).reshape(-1, CODE_BYTES)
    codes = np.concatenate([old.word_codes, new_codes])
    new_sizes = [len(words) // CODE_BYTES for words in packed]
    sizes = np.concatenate([np.diff(old.word_starts), new_sizes]).astype(np.int64)
    firsts = (np.cumsum(sizes) - sizes)[was]
    starts = _starts(sizes[was])
    places = np.repeat(firsts - starts[:-1], sizes[was]) + np.arange(starts[-1])
    return starts, codes[places]


def _postings(
    old: TextArrays, counted: pl.DataFrame, becomes: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Returns keys, starts, rows and counts of the old and the new postings (`becomes`: see
    `change_arrays`).
    """
    old_postings = pl.DataFrame(
        {
            "key": np.repeat(old.keys, np.diff(old.starts)),
            "row": becomes[old.rows],
            "count": old.counts,
        }
    )
    counts = counted["count"].clip(upper_bound=MOST_COUNTED).cast(pl.UInt8)
    new_postings = pl.DataFrame(
        {"key": counted["key"], "row": becomes[len(old) :][counted["text"]], "count": counts}
    )
    postings = pl.concat([old_postings.filter(pl.col("row") >= 0), new_postings]).sort("key", "row")
    terms = postings["key"].rle().struct.unnest()
    keys = terms["value"].to_numpy()
    starts = _starts(terms["len"].to_numpy())
    return keys, starts, postings["row"].to_numpy().astype(np.int32), postings["count"].to_numpy()


def _starts(sizes: np.ndarray) -> np.ndarray:
    """Returns where each of consecutive pieces of these sizes begins, and the end of the last,
    int64.
    """
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
