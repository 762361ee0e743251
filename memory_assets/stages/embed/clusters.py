"""Which observations are one memory: each joins the older one that it is most similar to, so clusters follow from edges."""

from collections.abc import Sequence

import polars as pl

from memory_assets.stages.embed.merge import SAME


def find_roots(ids: Sequence[str], merges: pl.DataFrame) -> dict[str, str]:
    """Returns the oldest observation of each one's cluster; `ids` are in order of event time."""
    same = merges.filter(pl.col("relation") == SAME).sort(["similarity", "older_id"], descending=[True, False])
    nearest: dict[str, str] = {}
    for newer, older in same.select("newer_id", "older_id").iter_rows():
        nearest.setdefault(newer, older)
    roots: dict[str, str] = {}
    for id in ids:
        older = nearest.get(id)
        roots[id] = roots.get(older, id) if older is not None else id
    return roots
