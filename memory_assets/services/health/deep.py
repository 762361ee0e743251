"""Reads every byte that the store keeps and compares it with what was noted when it was written.

`memory doctor --deep` reads everything. The nightly run reads another share each night, and so
everything in a month. Damage of the archive, the ledger, the answers or the workspace is reported
with what to do, because nothing rebuilds them. Damaged files of tables, indexes and Dagster are put
aside, and the next `memory ingest` rebuilds them.
"""

import subprocess
from collections.abc import Iterator
from datetime import date
from itertools import chain

from memory_assets.adapters.generations import Generations
from memory_assets.errors import StoreError
from memory_assets.schema.extras import gather
from memory_assets.schema.tables import table_names
from memory_assets.services.search.corpus import open_texts, open_vectors
from memory_assets.stages.distill.model.answers import read_answer
from memory_assets.stages.maintain.checks import Check, is_in_share, outcome
from memory_assets.store.damage import put_damaged_aside
from memory_assets.store.store import Store

# Each damaged file holds one range or one answer: "it" is the archive or the store of answers.
BACKUP = "Restore the file from a backup; what else it holds is still used."
REBUILD = "They were put aside; run `memory ingest`, which rebuilds them."


def deep_checks(store: Store, night: date | None = None) -> Iterator[Check]:
    """Yields a check of each part of the store; without a night, everything in it is read."""
    yield _archive(store, night)
    yield _answers(store, night)
    yield _workspace(store)
    yield from gather("deep_checks", store, night)
    tables = [name for name in table_names() if is_in_share(name, night)]
    damaged = [f"{damage.place}: {damage.reason}" for damage in put_damaged_aside(store, tables)]
    promise = "every file of tables and of Dagster is as it was written"
    yield outcome("files", promise, damaged, f"{len(tables)} tables", REBUILD)
    indexes: list[Generations] = [open_vectors(store), open_texts(store)]
    indexes += gather("indexes", store)
    faults = list(chain.from_iterable(map(_put_faulty_aside, indexes)))
    promise = "every array of the indexes is as it was written"
    yield outcome("index files", promise, faults, "every index", REBUILD)


def _put_faulty_aside(index: Generations) -> list[str]:
    """Returns the damaged arrays of the index; if there are any, puts the index aside."""
    folder = index.published()
    faults = index.faults(is_deep=True)
    if faults and folder:
        index.close()
        index.quarantine(folder)
    return [f"{index.folder.name}/{fault}" for fault in faults]


def _archive(store: Store, night: date | None) -> Check:
    archive = store.archive
    stored_ranges = chain.from_iterable(archive.sources().values())
    ranges = [item for item in stored_ranges if is_in_share(item.id, night)]
    damaged = [archive.place_of(item) for item in ranges if not archive.verify(item.id)]
    promise = "every archived byte is as it was captured"
    return outcome("archive", promise, damaged, f"{len(ranges):,} ranges", BACKUP)


def _answers(store: Store, night: date | None) -> Check:
    files = sorted(store.answers.rglob("*.json"))
    paths = [path for path in files if is_in_share(path.name, night)]
    damaged = []
    for path in paths:
        try:
            read_answer(path)
        except StoreError:
            damaged.append(str(path.relative_to(store.answers.parent)))
    promise = "every stored answer of a model can be read"
    return outcome("answers", promise, damaged, f"{len(paths):,} answers", BACKUP)


def _workspace(store: Store) -> Check:
    promise = "git finds every version of MEMORY.md whole"
    if not (store.workspace / ".git").is_dir():
        return Check("workspace", promise, True, "no history yet")
    command = ["git", "-C", str(store.workspace)]
    command += ["fsck", "--no-dangling", "--no-progress"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    output_lines = (result.stderr + result.stdout).strip().splitlines()
    faults = output_lines if result.returncode else []
    remedy = "Restore `workspace/.git` from a backup."
    return outcome("workspace", promise, faults, "its whole history", remedy)
