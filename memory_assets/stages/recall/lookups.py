"""Caches what is computed from a large object, by its identity; and finds rows of a frame by their ids.

Finding 60 ids among 100,000 takes polars 3 ms, and a question does so several times.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TypeVar

import polars as pl

REMEMBERED = 4
"""Objects for each function: the present one, and earlier ones that other threads still use."""

Large = TypeVar("Large")
Found = TypeVar("Found")


def remembered(compute: Callable[[Large], Found]) -> Callable[[Large], Found]:
    """Returns the function with a cache of its results for the last objects, compared by identity."""
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


def rows_of(frame: pl.DataFrame, ids: Iterable[str]) -> pl.DataFrame:
    """Returns the rows of those ids that exist, each once, in the order of the frame."""
    places = _places_in(frame)
    return frame[sorted({places[id] for id in ids if id in places})]


@remembered
def _places_in(frame: pl.DataFrame) -> dict[str, int]:
    return {id: place for place, id in enumerate(frame["id"])}
