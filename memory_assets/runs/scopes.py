"""The partitions that come and go with what is in the store: scopes and those of optional packages.

A scope is a partition of MEMORY.md and of the briefing: one for the owner and one for each project.
The scope of a project has the name of its file of entries (`projects/NAME`), so that projects that
share a file are one scope.
"""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from memory_assets.schema.extras import extras
from memory_assets.schema.records import MEMORY_MD
from memory_assets.schema.tables import Grain
from memory_assets.stages.triage.projects import FOLDER, memory_files, path_of
from memory_assets.store.store import Store
from memory_assets.text.files import bytes_of

if TYPE_CHECKING:
    import dagster as dg

SCOPE: Grain = "scope"
"""The grain of scopes, which is also the name of their dynamic partitions in Dagster."""

OWNER = "owner"
"""The scope of MEMORY.md itself, which holds for every project."""

BRIEFING_MD = "briefing.md"
"""The owner's briefing, for sessions in no known project."""

BRIEFINGS = "briefings"
"""Folder of the briefings of projects."""


def scopes_of(store: Store) -> list[str]:
    """Returns the owner's scope, then those of projects.

    A project has one if it has sessions, memories, proposals or a file of entries.
    """
    _, *files = memory_files(store.workspace)
    paths = set(files)
    for table in ("windows", "memories", "proposals"):
        names = store.tables.read(table, columns=["project"])["project"].unique()
        paths.update(path_of(name) for name in names if name)
    return [OWNER, *sorted(path.removesuffix(".md") for path in paths)]


def file_of(scope: str) -> str:
    """Returns the file of entries of the scope, below the workspace."""
    return MEMORY_MD if scope == OWNER else f"{scope}.md"


def briefing_path(store: Store, scope: str) -> Path:
    """Returns the path of the scope's briefing."""
    if scope == OWNER:
        return store.workspace / BRIEFING_MD
    return store.workspace / BRIEFINGS / file_of(scope).removeprefix(f"{FOLDER}/")


def briefing_note(scope: str) -> str:
    """Returns the name of the note with the hash of the scope's briefing."""
    return f"briefing_hash-{scope.replace('/', '-')}"


def briefing_is_whole(store: Store, scope: str) -> bool:
    """Returns whether the briefing of the scope is as it was written, or has no noted hash."""
    content = bytes_of(briefing_path(store, scope)) or b""
    content_hash = hashlib.sha256(content).hexdigest()
    return store.note_of(briefing_note(scope)) in (None, content_hash)


def keys_of(store: Store, grain: Grain) -> list[str]:
    """Returns the partitions of the store for a grain whose partitions come and go (`DYNAMIC`)."""
    for extra in extras():
        if grain in extra.grains:
            _, function = extra.grains[grain]
            return extra.load(function)(store)
    return scopes_of(store)


def register_keys(instance: "dg.DagsterInstance", store: Store, grain: Grain) -> list[str]:
    """Gives Dagster the partitions that the store has, and returns them in Dagster's order."""
    wanted = keys_of(store, grain)
    present = instance.get_dynamic_partitions(grain)
    for key in set(present).difference(wanted):
        instance.delete_dynamic_partition(grain, key)
    instance.add_dynamic_partitions(grain, [key for key in wanted if key not in present])
    return list(instance.get_dynamic_partitions(grain))
