"""One corpus of the text index as arrays: which terms occur in which rows, how often, and how rows hang together.

Rows are sorted by group (a session), order and parent (a message of which a row is a passage), so that neighbours in a group
are neighbours in the arrays. Hashes of terms are kept and never the text. A change takes the arrays before it without what is
replaced, adds the new rows and sorts once; unchanged texts are not cut into terms again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from memory_assets.adapters.array_files import Names, read_array, write_array
from memory_assets.schema.protocols import CODE_BYTES
from memory_assets.text.bm25 import bm25
from memory_assets.text.files import make_folder
from memory_assets.text.terms import count_terms, key_of

MOST_COUNTED = 255
"""Occurrences of a term in one row that are told apart."""

_BITS_OF_COUNT, _BITS_OF_ROW = 8, 28
"""A posting is sorted as one number: 28 bits of term, 28 of row, 8 of count."""


@dataclass(frozen=True)
class TextArrays:
    """The rows of one corpus and the postings of its terms; `Texts` of the protocols."""

    ids: Names
    parent_ids: Names
    group_ids: Names
    parents: np.ndarray
    """Row → number of what it is a part of, int32."""
    groups: np.ndarray
    """Row → number of its group, int32, ascending."""
    order: np.ndarray
    """Row → its place within the group, int64."""
    lengths: np.ndarray
    """Row → how many terms it has, int32."""
    has_vector: np.ndarray
    vectors: np.ndarray
    """float32, shape (rows, dimension); zeros where a row has none, dimension 0 where no row has one."""
    word_starts: np.ndarray
    """Where the word codes of each row begin, and where the last end, int64."""
    word_codes: np.ndarray
    """What the words of all rows mean in them, int8, shape (words, 48)."""
    keys: np.ndarray
    """Hashes of all terms, uint64, ascending."""
    starts: np.ndarray
    """Where the postings of each term begin, and where the last end, int64."""
    rows: np.ndarray
    counts: np.ndarray

    def __len__(self) -> int:
        return len(self.groups)

    def postings(self, term: str) -> tuple[np.ndarray, np.ndarray]:
        """Returns the rows that hold the term, ascending, each once, and how often."""
        key = np.uint64(key_of(term))
        at = int(np.searchsorted(self.keys, key))
        is_there = at < len(self.keys) and self.keys[at] == key
        part = slice(int(self.starts[at]), int(self.starts[at + 1])) if is_there else slice(0, 0)
        return self.rows[part], self.counts[part].astype(np.float32)

    def rows_of(self, ids: Iterable[str]) -> np.ndarray:
        """Returns the rows of those ids that are there."""
        places = self.ids.places
        return np.array([places[id] for id in ids if id in places], dtype=np.int64)

    def words_of(self, row: int) -> np.ndarray:
        """Returns the codes of the row's words, int8, shape (words, 48)."""
        return self.word_codes[self.word_starts[row] : self.word_starts[row + 1]]

    def score(self, terms: Iterable[str] | Mapping[str, float]) -> np.ndarray:
        """Returns the BM25 score of every row, float32; terms may come with weights."""
        weights = terms if isinstance(terms, Mapping) else dict.fromkeys(terms, 1.0)
        scores = np.zeros(len(self), dtype=np.float32)
        for term, weight in weights.items():
            rows, counts = self.postings(term)
            if len(rows):
                scores[rows] += weight * bm25(counts, self.lengths[rows], self._mean_length, len(self))
        return scores

    @cached_property
    def _mean_length(self) -> float:
        return max(float(self.lengths.mean()), 1.0)


def read_arrays(folder: Path) -> TextArrays:
    """Returns the corpus in the folder, mapped; raises `OSError` or `ValueError` where it is not whole."""
    values: dict[str, Any] = {}
    for field in fields(TextArrays):
        values[field.name] = read_array(folder / f"{field.name}.npy")
        if field.type is Names:
            values[field.name] = Names(values[field.name], read_array(folder / f"{field.name}.starts.npy"))
    texts = TextArrays(**values)
    _check(texts)
    return texts


def write_arrays(folder: Path, texts: TextArrays) -> None:
    """Writes the corpus into a new folder, its owner's alone."""
    make_folder(folder)
    for field in fields(TextArrays):
        value = getattr(texts, field.name)
        if isinstance(value, Names):
            write_array(folder / f"{field.name}.npy", value.content)
            write_array(folder / f"{field.name}.starts.npy", value.starts)
        else:
            write_array(folder / f"{field.name}.npy", value)


def empty_arrays() -> TextArrays:
    """Returns a corpus without rows."""
    none = np.zeros(0, dtype=np.int32)
    return TextArrays(
        ids=Names.of(()),
        parent_ids=Names.of(()),
        group_ids=Names.of(()),
        parents=none,
        groups=none,
        order=none.astype(np.int64),
        lengths=none,
        has_vector=none.astype(bool),
        vectors=np.zeros((0, 0), dtype=np.float32),
        word_starts=np.zeros(1, dtype=np.int64),
        word_codes=np.zeros((0, CODE_BYTES), dtype=np.int8),
        keys=none.astype(np.uint64),
        starts=np.zeros(1, dtype=np.int64),
        rows=none,
        counts=none.astype(np.uint8),
    )


def change_arrays(old: TextArrays, new: pl.DataFrame, deletes: Iterable[str]) -> TextArrays:
    """Returns the corpus with the rows of `new` put in (all columns of the index's `COLUMNS`) and those ids taken out."""
    new = new.unique("id", keep="last", maintain_order=True)
    stays = np.ones(len(old), dtype=bool)
    stays[old.rows_of([*deletes, *new["id"]])] = False
    before = pl.DataFrame(
        {
            "id": list(old.ids),
            "parent": np.array(list(old.parent_ids), dtype=object)[old.parents].tolist(),
            "group": np.array(list(old.group_ids), dtype=object)[old.groups].tolist(),
            "order": old.order,
        },
        schema={"id": pl.String, "parent": pl.String, "group": pl.String, "order": pl.Int64},
    )
    both = (
        pl.concat([before, new.select(before.columns)])
        .with_row_index("was")
        .filter(pl.Series(np.concatenate([stays, np.ones(new.height, dtype=bool)])))
    )
    rows = both.sort("group", "order", "parent", "was")
    was = rows["was"].to_numpy()
    becomes = np.full(len(old) + new.height, -1, dtype=np.int64)
    becomes[was] = np.arange(rows.height)
    counted = count_terms(new["text"].to_list())
    lengths = np.bincount(counted.texts, counted.counts, minlength=new.height)
    has_vector, vectors = _vectors(old, new)
    parents, groups = _numbered(rows["parent"]), _numbered(rows["group"])
    word_starts, word_codes = _words(old, new, was)
    return TextArrays(
        ids=Names.of(rows["id"]),
        parent_ids=parents[0],
        parents=parents[1],
        group_ids=groups[0],
        groups=groups[1],
        order=rows["order"].to_numpy(),
        lengths=np.concatenate([old.lengths, lengths.astype(np.int32)])[was],
        has_vector=has_vector[was],
        vectors=vectors[was],
        word_starts=word_starts,
        word_codes=word_codes,
        **_postings(old, counted.keys, becomes[len(old) + counted.texts], counted.counts, becomes),
    )


def _numbered(names: pl.Series) -> tuple[Names, np.ndarray]:
    """Returns the distinct names in order of their first row, and the number of each row's."""
    distinct = names.unique(maintain_order=True)
    numbers = names.cast(pl.Enum(distinct)).to_physical().to_numpy()
    return Names.of(distinct), numbers.astype(np.int32)


def _vectors(old: TextArrays, new: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Returns which rows, old then new, have a vector, and the vectors; old ones of another dimension are dropped."""
    given = new["vector"].is_not_null().to_numpy()
    dimension = new["vector"].list.len().max() if given.any() else old.vectors.shape[1]
    assert isinstance(dimension, int)
    keeps = old.vectors.shape[1] == dimension
    vectors = np.zeros((len(old) + new.height, dimension), dtype=np.float32)
    if keeps:
        vectors[: len(old)] = old.vectors
    if given.any():
        vectors[len(old) :][given] = new["vector"].drop_nulls().explode().to_numpy().reshape(-1, dimension)
    return np.concatenate([old.has_vector & keeps, given]), vectors


def _words(old: TextArrays, new: pl.DataFrame, was: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the word codes of the rows in their new order, old then new as `was` counts them."""
    packed = [words or b"" for words in new["words"]]
    fresh = np.frombuffer(b"".join(packed), dtype=np.int8).reshape(-1, CODE_BYTES)
    codes = np.concatenate([old.word_codes, fresh])
    sizes = np.concatenate([np.diff(old.word_starts), [len(one) // CODE_BYTES for one in packed]]).astype(np.int64)
    firsts = (np.cumsum(sizes) - sizes)[was]
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes[was])])
    places = np.repeat(firsts - starts[:-1], sizes[was]) + np.arange(starts[-1])
    return starts, codes[places]


def _postings(
    old: TextArrays, keys: np.ndarray, rows: np.ndarray, counts: np.ndarray, becomes: np.ndarray
) -> dict[str, np.ndarray]:
    """Returns the inverted arrays of the old postings, rows renumbered, together with new ones."""
    all_keys = np.union1d(old.keys, keys)
    old_rows = becomes[old.rows]
    stays = old_rows >= 0
    old_terms = np.repeat(np.searchsorted(all_keys, old.keys), np.diff(old.starts))
    packed = np.concatenate(
        [
            _packed(old_terms[stays], old_rows[stays], old.counts[stays]),
            _packed(np.searchsorted(all_keys, keys), rows, np.minimum(counts, MOST_COUNTED)),
        ]
    )
    packed.sort()
    sizes = np.bincount((packed >> np.uint64(_BITS_OF_ROW + _BITS_OF_COUNT)).astype(np.int64), minlength=len(all_keys))
    used = sizes > 0  # a term that no row holds any more is forgotten, too
    return {
        "keys": all_keys[used],
        "starts": np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes[used])]),
        "rows": ((packed >> np.uint64(_BITS_OF_COUNT)) & np.uint64((1 << _BITS_OF_ROW) - 1)).astype(np.int32),
        "counts": (packed & np.uint64(MOST_COUNTED)).astype(np.uint8),
    }


def _packed(terms: np.ndarray, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
    terms, rows, counts = terms.astype(np.uint64), rows.astype(np.uint64), counts.astype(np.uint64)
    return (terms << np.uint64(_BITS_OF_ROW + _BITS_OF_COUNT)) | (rows << np.uint64(_BITS_OF_COUNT)) | counts


def _check(texts: TextArrays) -> None:
    of_rows = (texts.ids, texts.parents, texts.order, texts.lengths, texts.has_vector, texts.vectors)
    if any(len(one) != len(texts) for one in of_rows):
        raise ValueError("its arrays are not about the same rows")
    if len(texts.word_starts) != len(texts) + 1 or len(texts.word_codes) != texts.word_starts[-1]:
        raise ValueError("its words are not whole")
    if len(texts.starts) != len(texts.keys) + 1 or not len(texts.rows) == len(texts.counts) == texts.starts[-1]:
        raise ValueError("its postings are not whole")
