"""Scopes: the partitions of MEMORY.md and the briefing, one for the owner and one for each project.

A scope is named after its file of entries (`projects/NAME`), so that projects with one file are one scope.
"""

from typing import TYPE_CHECKING

import polars as pl

from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.triage.projects import memory_files, path_of
from memory_assets.store.store import Store

if TYPE_CHECKING:
    import dagster as dg

SCOPE = "scope"
"""Name of the dynamic partitions in Dagster."""

OWNER = "owner"
"""The scope of MEMORY.md itself: what follows the owner into every project."""


def scopes_of(store: Store) -> list[str]:
    """Returns the scopes of the store: the owner's, then those of projects with sessions, memories, proposals or a file."""
    rows = pl.concat([store.tables.read(name, columns=["project"]) for name in ("windows", "memories", "proposals")])
    _, *own = memory_files(store.workspace)
    paths = {*own, *map(path_of, rows.filter(pl.col("project") != "")["project"].unique())}
    return [OWNER, *sorted(path.removesuffix(".md") for path in paths)]


def file_of(scope: str) -> str:
    """Returns the file of entries of the scope, below the workspace."""
    return MEMORY_MD if scope == OWNER else f"{scope}.md"


def register_scopes(instance: "dg.DagsterInstance", store: Store) -> list[str]:
    """Makes Dagster's partitions those of the store, and returns them in Dagster's order."""
    wanted, known = scopes_of(store), instance.get_dynamic_partitions(SCOPE)
    for gone in set(known) - set(wanted):
        instance.delete_dynamic_partition(SCOPE, gone)
    instance.add_dynamic_partitions(SCOPE, [scope for scope in wanted if scope not in known])
    return list(instance.get_dynamic_partitions(SCOPE))
