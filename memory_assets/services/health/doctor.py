"""The doctor: counts everything from files to observations, checks that it adds up, and what the store stands on.

Takes an open store, changes nothing, returns a report whose every line is a promise that holds or does not.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from memory_assets.errors import MemoryAssetsError
from memory_assets.schema.protocols import TaskList
from memory_assets.services.health import surroundings
from memory_assets.services.health.sums import Counts, read_frames, sums_of
from memory_assets.services.health.surroundings import check_projection
from memory_assets.stages.capture.tombstones import unfinished
from memory_assets.stages.embed.passages import cut_messages
from memory_assets.stages.embed.project import RETRIEVABLE
from memory_assets.stages.maintain.checks import Check
from memory_assets.stages.maintain.secrets import check_secrets
from memory_assets.store.ledger import CORRECTED, NOTED, WORDS_ERASED, WORDS_FORGOTTEN

if TYPE_CHECKING:
    from memory_assets.store.store import Store


@dataclass(frozen=True)
class Health:
    """What the doctor found."""

    store: Path
    examined_at: datetime
    harnesses: tuple[Counts, ...]
    checks: tuple[Check, ...]

    @property
    def broken(self) -> tuple[Check, ...]:
        """The promises that do not hold."""
        return tuple(check for check in self.checks if not check.passed and not check.is_advice)

    @property
    def is_well(self) -> bool:
        """Whether every promise holds."""
        return not self.broken

    def to_dict(self) -> dict[str, Any]:
        """Returns the report for programs."""
        return {
            "is_well": self.is_well,
            "store": self.store,
            "examined_at": self.examined_at,
            "harnesses": self.harnesses,
            "checks": self.checks,
        }


@dataclass(frozen=True)
class Projections:
    """What can be made again from the tables, and the model that makes vectors."""

    model_version: Callable[[], str]
    """Raises `ModelError` where the model's weights are missing or others than they should be."""
    vector_ids: Callable[[], set[str]]
    """Ids in the vector index."""
    text_ids: Callable[[str], set[str]]
    """Corpus → ids in the text index."""


def examine(store: "Store", projections: Projections, tasks: TaskList | None = None) -> Health:
    """Returns the counts and checks of the store; a check that cannot be carried out is a broken one.

    `tasks` is the owner's list of tasks, where one is used.
    """
    noted = len(store.ledger.events([NOTED, CORRECTED])) + store.tables.read("harness_memories", columns=["id"]).height
    sums = sums_of(read_frames(store.tables, store.archive.resources(), noted))
    now = store.settings.clock()
    checks = (*sums.checks, *_projected(store, projections), *_surroundings(store, now))
    if tasks is not None:
        checks = (*checks, *_carry_out("Todoist", lambda: surroundings.check_tasks(tasks, now)))
    return Health(store.root, now, sums.harnesses, checks)


def _projected(store: "Store", projections: Projections) -> Iterator[Check]:
    model = store.settings.embedding_model
    yield from _carry_out("embedding model", lambda: surroundings.check_model(model, projections.model_version))
    memories = store.tables.read("memories", columns=["id", "state", "text_hash"]).filter(pl.col("state").is_in(RETRIEVABLE))
    embedded = store.tables.read("embeddings", columns=["text_hash"])
    recallable, near = set(memories["id"]), set(memories.join(embedded, on="text_hash", how="semi")["id"])
    said = {*store.tables.read("passages", columns=["id"])["id"], *cut_messages(store.tables.read("messages_open"))["id"]}
    yield from _carry_out("vector index", lambda: check_projection("vector", "memories", near, projections.vector_ids()))
    for corpus, wanted in (("memories", recallable), ("messages", said)):
        found = partial(projections.text_ids, corpus)
        yield from _carry_out("text index", lambda c=corpus, w=wanted, f=found: check_projection("text", c, w, f()))


def _surroundings(store: "Store", now: datetime) -> Iterator[Check]:
    yield from _carry_out("git", surroundings.check_git)
    yield from _carry_out("permissions", lambda: surroundings.check_permissions(store.root))
    yield from _carry_out("disk", lambda: surroundings.check_disk(store.root))
    for name in ("MEMORY.md", "REVIEW.md"):
        yield from _carry_out(name, lambda name=name: surroundings.check_text(store.workspace / name))
    yield from _carry_out("ledger", lambda: _check_ledger(store))
    yield from _carry_out("spool", lambda: surroundings.check_spool(store.root))
    yield from _carry_out("dead letters", lambda: surroundings.check_dead_letters(store.root))
    yield from _carry_out("forgetting", lambda: _check_forgetting(store))
    yield from _carry_out("secrets", lambda: check_secrets(store.tables, store.root))
    yield from _carry_out("freshness", lambda: _check_freshness(store, now))


def _check_ledger(store: "Store") -> Check:
    return Check("ledger", "every line of the ledger can be read", True, f"{len(store.ledger.events()):,} events")


def _check_forgetting(store: "Store") -> Check:
    told = store.ledger.events([WORDS_FORGOTTEN, WORDS_ERASED])
    promise, waiting = "what is forgotten is erased everywhere", unfinished(told)
    if waiting:
        return Check("forgetting", promise, False, f"{len(waiting)} interrupted", "Run `memory ingest`; it finishes it.")
    return Check("forgetting", promise, True, f"{sum(event.kind == WORDS_FORGOTTEN for event in told):,} forgettings")


def _check_freshness(store: "Store", now: datetime) -> Check:
    from memory_assets.services.sources import find_sources
    from memory_assets.stages.capture.intake import changed_files

    return surroundings.check_freshness(changed_files(find_sources(store.settings), store.archive), now)


def _carry_out(name: str, check: Callable[[], Check]) -> Iterator[Check]:
    try:
        yield check()
    except (MemoryAssetsError, OSError) as error:
        yield Check(name, "can be checked", False, str(error), "Mend what the message names, then run `memory doctor` again.")
