"""Updates a store from its transcripts, for `memory up`, `ingest` and `rebuild`.

Chooses the store to fill, copies the bundled sample where there is nothing else, and runs the jobs
in this process (`runs.launch`).
"""

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Literal

from memory_assets.errors import StoreError
from memory_assets.runs import launch
from memory_assets.runs.days import days_between
from memory_assets.runs.inputs import FLUSHED
from memory_assets.runs.look import Look
from memory_assets.schema.extras import extras
from memory_assets.schema.vocabulary import HARNESS_NAMES
from memory_assets.services.health.status import Status, keep_status, status_of
from memory_assets.services.models.model_budget import failure_since
from memory_assets.services.settings.which_store import (
    StoreChoice,
    is_sample,
    present_settings,
    sample_settings,
)
from memory_assets.services.sources.transcripts import (
    find_all,
    find_foreign,
    find_sources,
    store_to_fill,
    widen_since,
)
from memory_assets.services.transfer.backup import restore as restore_backup
from memory_assets.services.transfer.export import changed_tables, import_all
from memory_assets.services.transfer.place import Placed
from memory_assets.stages.reflect.subjects import TABLE_OF
from memory_assets.store.damage import despite_damage
from memory_assets.store.settings import Settings, read_settings
from memory_assets.store.store import Store, open_store, refuse_links, remove_derived
from memory_assets.text.files import path_within


@dataclass(frozen=True)
class Built:
    """What an update did, and the status of the store after it."""

    store: Store
    reason: str
    """Which transcripts were read, or which other work was done, as a sentence for people."""
    jobs: tuple[str, ...]
    seconds: float
    learnt: dict[str, int]
    """By table that people ask about, the rows that the update added to it."""
    status: Status
    warnings: tuple[str, ...] = ()
    model_failure: str = ""
    """Why nothing came of this update's questions to a model; empty if something did."""

    @property
    def is_unchanged(self) -> bool:
        """Whether there was nothing to do."""
        return not self.jobs

    def to_dict(self) -> dict[str, Any]:
        """Returns what `--json` prints."""
        names = "is_unchanged reason jobs seconds learnt status model_failure"
        fields = {name: getattr(self, name) for name in names.split()}
        return fields | {"seconds": round(self.seconds, 3)}


def build(*, since: str | None = None) -> Built:
    """Reads new transcripts and updates the tables."""
    return fill(choose(since=since))


def choose(*, since: str | None = None, may_show_sample: bool = False) -> StoreChoice:
    """Returns the store to fill: the owner's, or the sample's on a machine without transcripts.

    `since` makes older transcripts readable from now on. The transcripts of the sample are copied.
    Raises `StoreError` if the sample's store would be the first one and `may_show_sample` is not
    set.
    """
    settings = read_settings()
    if since is not None:
        widen_since(settings, since)
    choice = store_to_fill(settings)
    if is_sample(choice.settings):
        _prepare_sample(choice.settings, settings, may_create=may_show_sample)
    return choice


def fill(choice: StoreChoice, work: Callable[[Store], launch.RunSummary] | None = None) -> Built:
    """Opens or creates the store and runs what is due, or `work` instead of that.

    Where nothing was due, notes this, so that the next call finds it out faster (`runs.look`).
    """
    store = open_store(choice.settings)
    started = time.time()
    for extra in extras():
        if extra.before_update:
            store = extra.load(extra.before_update)(store)
    old_counts = despite_damage(store, partial(status_of, store)).rows
    look = None if work else despite_damage(store, partial(Look.begin, store))
    summary = work(store) if work else launch.ingest(store)
    status = keep_status(store, is_sample=is_sample(choice.settings))
    model_failure = failure_since(store, started) if status.uses_models else ""
    warnings = (*_warnings(store, status), *filter(None, [model_failure]))
    if look and not summary.jobs and not warnings:
        look.end(store)
    added = {table: count - old_counts[table] for table, count in status.rows.items()}
    learnt = {table: count for table, count in added.items() if count}
    jobs = tuple(summary.jobs)
    seconds = summary.seconds
    return Built(store, choice.reason, jobs, seconds, learnt, status, warnings, model_failure)


def _warnings(store: Store, status: Status) -> tuple[str, ...]:
    """Returns a warning if the folders that the settings name have no transcripts."""
    if not store.settings.source_folders():
        return ()
    if status.unread or status.left_out or find_sources(store.settings):
        return ()
    return (f"No transcripts were found in {store.settings.sources}.",)


def flush(store: Store) -> Built:
    """Ends every open session now and processes it, as if it had been idle for long enough."""
    store.append_event(FLUSHED, "all", {})
    return fill(StoreChoice(store.settings, "Every open session ended now"))


def backfill(store: Store, first: date | None, last: date | None) -> Built:
    """Asks the configured model about the days again, and updates the tables from its answers."""
    from memory_assets.runs.steps.condensing import reopen

    days = days_between(store.tables, first, last)
    with store.lock():
        reopen(store)
    choice = StoreChoice(store.settings, f"{len(days)} days asked about again")
    return fill(choice, partial(launch.backfill, days=days))


RebuiltPart = Literal["all", "indexes", "reflections"]
CONDENSED = (*TABLE_OF.values(), "dropped_facts", "timeline")
"""The tables that a rebuild of the reflections deletes."""

_REBUILT: dict[RebuiltPart, tuple[str, str]] = {
    "all": ("Everything derived", "resources"),
    "indexes": ("All indexes", "tables"),
    "reflections": ("All reflections and distillates", "tables"),
}
"""What a person is told for each part: what was rebuilt, and from which folder of the store."""


def rebuild(part: RebuiltPart = "all") -> Built:
    """Deletes everything derived, or only one part, and rebuilds it.

    Rebuilds from the archive, the ledger and the stored answers of models.
    """
    settings = present_settings()
    # `open_store` would refuse a store with another time zone. That is a reason to rebuild it.
    store = Store(settings, settings.data)
    if not (store.root / "VERSION").is_file():
        raise StoreError(
            f"There is no memory in {store.root} to rebuild. Run `memory up` to take in "
            "transcripts."
        )
    refuse_links(store.root)
    with store.lock():
        if part == "indexes":
            shutil.rmtree(store.root / "index", ignore_errors=True)
        elif part == "reflections":
            for table in CONDENSED:
                for partition in store.tables.parts(table):
                    store.tables.drop(table, partition)
        else:
            remove_derived(store)
    what, source = _REBUILT[part]
    choice = StoreChoice(settings, f"{what}, rebuilt from {store.root / source}")
    if part == "reflections":
        return fill(choice)
    return fill(choice, partial(launch.ingest, with_chroma=True))


def restore(path: Path) -> Built:
    """Makes the store from a backup, and builds its tables."""
    placed = restore_backup(path, read_settings())
    return _fill_placed(placed, f"Restored the backup of {_time_of(placed)}")


def import_folder(path: Path) -> Built:
    """Makes the store from an exported folder, builds its tables, and compares them with the
    exported ones.
    """
    placed = import_all(path, read_settings())
    built = _fill_placed(placed, f"Imported {path}, exported on {_time_of(placed)}")
    changed = changed_tables(built.store, path)
    if not changed:
        return replace(built, reason=f"{built.reason}; all tables are as exported")
    differing = (
        f"Tables that differ from the exported ones: {', '.join(changed)}. What was not ingested "
        "before the export, transcripts and memory files of this machine, or another release "
        "explain it."
    )
    return replace(built, warnings=(*built.warnings, differing))


def _time_of(placed: Placed) -> str:
    return f"{placed.manifest.made_at:%Y-%m-%d %H:%M} UTC"


def _fill_placed(placed: Placed, reason: str) -> Built:
    settings = read_settings()  # read again: the backup or export holds a file of settings
    built = fill(StoreChoice(sample_settings(settings) if placed.is_sample else settings, reason))
    return replace(built, warnings=(*placed.warnings, *built.warnings))


def _prepare_sample(sample: Settings, settings: Settings, *, may_create: bool) -> None:
    """Copies the sample's transcripts; raises `StoreError` if it may not make a missing store.

    `sample` are the settings of the sample's store, `settings` those of the owner.
    """
    from memory_assets.stages.capture.sample import lay_out, sample_root

    if not may_create and not (sample.data / "VERSION").is_file():
        foreign = "".join(f"{line}. " for line in find_foreign(settings, find_all(settings)))
        raise StoreError(
            f"{foreign}There are no transcripts of {HARNESS_NAMES} on this machine. "
            "Name folders or files in MEMORY_SOURCES, or run `memory up` to see the bundled sample."
        )
    sources = path_within(settings.data, str(Path(sample.sources).relative_to(settings.data)))
    lay_out(sample_root(), sources, settings.clock())
