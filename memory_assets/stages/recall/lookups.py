"""Caches what is computed from a large object, by its identity; finds rows of a frame by their ids,
and by a condition.

Finding 60 ids among 100,000 takes polars 3 ms, and each operation on 60 rows half a millisecond; a
question would do dozens.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import TypeVar

import numpy as np
import polars as pl

REMEMBERED = 4
"""Objects for each function: the present one, and earlier ones that other threads still use."""

MOST_CONDITIONS = 8
"""Conditions of each frame whose rows are remembered: most questions have the same two."""

Large = TypeVar("Large")
Found = TypeVar("Found")


def remembered(compute: Callable[[Large], Found]) -> Callable[[Large], Found]:
    """Returns the function with a cache of its results for the last objects, compared by
    identity.
    """
    known: list[tuple[Large, Found]] = []

    @wraps(compute)
    def look_up(large: Large) -> Found:
        for one, found in tuple(known):
            if one is large:
                return found
        found = compute(large)
        known[:] = [(large, found), *known[: REMEMBERED - 1]]
        return found

    return look_up


def rows_of(
    frame: pl.DataFrame, ids: Iterable[str], columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Returns the rows of those ids that exist, each once, in the order of the frame, by default
    with all columns.
    """
    places = places_of(frame)
    chosen = frame if columns is None else frame.select(columns)
    return chosen[sorted({places[id] for id in ids if id in places})]


@remembered
def places_of(frame: pl.DataFrame) -> dict[str, int]:
    """Returns the number of each row by its id."""
    return {id: place for place, id in enumerate(frame["id"])}


def fulfilling(frame: pl.DataFrame, condition: pl.Expr) -> np.ndarray:
    """Returns of each row of the frame whether it fulfils the condition."""
    known, name = _conditions_of(frame), condition.meta.serialize()
    if name not in known:
        while len(known) >= MOST_CONDITIONS:
            known.pop(next(iter(known), b""), None)
        known[name] = frame.with_columns(fulfils=condition)["fulfils"].fill_null(False).to_numpy()
    return known[name]


@remembered
def _conditions_of(frame: pl.DataFrame) -> dict[bytes, np.ndarray]:
    return {}
