"""The partitions that come and go: scopes (of MEMORY.md and the briefing), documents and feeds of
the library.

There is a scope for the owner and one for each project. It is named after its file of entries
(`projects/NAME`), so that projects with one file are one scope.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import polars as pl

from memory_assets.schema.records import MEMORY_MD
from memory_assets.schema.tables import Grain
from memory_assets.stages.triage.projects import memory_files, path_of
from memory_assets.store.store import Store

if TYPE_CHECKING:
    import dagster as dg

SCOPE: Grain = "scope"
"""Name of the dynamic partitions in Dagster."""

OWNER = "owner"
"""The scope of MEMORY.md itself: what follows the owner into every project."""


def scopes_of(store: Store) -> list[str]:
    """Returns the scopes of the store: the owner's, then those of projects with sessions, memories,
    proposals or a file.
    """
    rows = pl.concat(
        [
            store.tables.read(name, columns=["project"])
            for name in ("windows", "memories", "proposals")
        ]
    )
    _, *own = memory_files(store.workspace)
    paths = {*own, *map(path_of, rows.filter(pl.col("project") != "")["project"].unique())}
    return [OWNER, *sorted(path.removesuffix(".md") for path in paths)]


def file_of(scope: str) -> str:
    """Returns the file of entries of the scope, below the workspace."""
    return MEMORY_MD if scope == OWNER else f"{scope}.md"


KEYS: Mapping[Grain, Callable[[Store], list[str]]] = {
    "scope": scopes_of,
    "document": lambda store: store.documents.ids(),
    "feed": lambda store: store.feeds.ids(),
}
"""By grain, whose name is that of the dynamic partitions in Dagster: the partitions of the store.
"""


def register_keys(instance: "dg.DagsterInstance", store: Store, grain: Grain) -> list[str]:
    """Makes Dagster's partitions of the grain those of the store, and returns them in Dagster's
    order.
    """
    wanted, known = KEYS[grain](store), instance.get_dynamic_partitions(grain)
    for gone in set(known) - set(wanted):
        instance.delete_dynamic_partition(grain, gone)
    instance.add_dynamic_partitions(grain, [key for key in wanted if key not in known])
    return list(instance.get_dynamic_partitions(grain))


def register_scopes(instance: "dg.DagsterInstance", store: Store) -> list[str]:
    """Does so for scopes."""
    return register_keys(instance, store, SCOPE)
