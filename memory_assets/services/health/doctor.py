"""The doctor: checks that the counts from files to observations add up, the indexes, and the store's environment.

Takes an open store, changes nothing, and returns a report of checks.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.errors import MemoryAssetsError
from memory_assets.schema.protocols import TaskList
from memory_assets.services.health import surroundings
from memory_assets.services.health.identity import check_identity
from memory_assets.services.health.sums import HarnessCounts, read_sums
from memory_assets.services.health.surroundings import check_projection
from memory_assets.services.sources import find_left_out, find_sources
from memory_assets.stages.capture.intake import changed_files
from memory_assets.stages.capture.tombstones import unfinished
from memory_assets.stages.embed.encode import cut_messages
from memory_assets.stages.embed.memories import overlay
from memory_assets.stages.embed.project import RETRIEVABLE
from memory_assets.stages.maintain.checks import Check, check_secrets
from memory_assets.store.ledger import CORRECTED, NOTED, NOTES, WORDS_ERASED, WORDS_FORGOTTEN
from memory_assets.store.places import harness_homes
from memory_assets.store.store import Store


@dataclass(frozen=True)
class Health:
    """The doctor's report."""

    store: Path
    examined_at: datetime
    harnesses: tuple[HarnessCounts, ...]
    checks: tuple[Check, ...]

    @property
    def broken(self) -> tuple[Check, ...]:
        """The failed checks, advice aside."""
        return tuple(check for check in self.checks if not check.passed and not check.is_advice)

    @property
    def is_well(self) -> bool:
        """Whether no check failed."""
        return not self.broken

    def to_dict(self) -> dict[str, Any]:
        """Returns the report for programs."""
        return {"is_well": self.is_well, **vars(self)}


@dataclass(frozen=True)
class Projections:
    """Access to the indexes, which are rebuilt from the tables, and to the embedding model."""

    model_version: Callable[[], str]
    """Raises `ModelError` where the model's weights are missing or changed."""
    vector_ids: Callable[[], set[str]]
    """Ids in the vector index."""
    text_ids: Callable[[str], set[str]]
    """Corpus → ids in the text index."""


def examine(store: Store, projections: Projections, tasks: TaskList | None = None) -> Health:
    """Returns the counts and checks of the store; a check that cannot run counts as failed.

    `tasks` is the owner's task list, if one is used.
    """
    noted = len(store.ledger.events([NOTED, CORRECTED])) + store.tables.read("harness_memories", columns=["id"]).height
    memories = overlay(store.tables.read("memories"), store.ledger.events(NOTES))
    sums = read_sums(store.tables, store.archive.resources(), memories, noted)
    now = store.settings.clock()
    asked = _run("Todoist", lambda: surroundings.check_tasks(tasks, now)) if tasks is not None else ()
    checks = (*sums.checks, *_projected(store, projections), *_surroundings(store, now), *asked)
    return Health(store.root, now, sums.harnesses, checks)


def _projected(store: Store, projections: Projections) -> Iterator[Check]:
    model = store.settings.embedding_model
    yield from _run("embedding model", lambda: surroundings.check_model(model, projections.model_version))
    memories = store.tables.read("memories", columns=["id", "state", "text_hash"]).filter(pl.col("state").is_in(RETRIEVABLE))
    embedded = store.tables.read("embeddings", columns=["text_hash"])
    recallable, near = set(memories["id"]), set(memories.join(embedded, on="text_hash", how="semi")["id"])
    passages = {*store.tables.read("passages", columns=["id"])["id"], *cut_messages(store.tables.read("messages_open"))["id"]}
    yield from _run("vector index", lambda: check_projection("vector", "memories", near, projections.vector_ids()))
    for corpus, wanted in (("memories", recallable), ("messages", passages)):
        found = partial(projections.text_ids, corpus)
        yield from _run("text index", lambda c=corpus, w=wanted, f=found: check_projection("text", c, w, f()))


def _surroundings(store: Store, now: datetime) -> Iterator[Check]:
    checks: dict[str, Callable[[], Check]] = {
        "git": surroundings.check_git,
        "permissions": lambda: surroundings.check_permissions(store.root),
        "disk": lambda: surroundings.check_disk(store.root),
        "MEMORY.md": lambda: surroundings.check_text(store.workspace / "MEMORY.md"),
        "REVIEW.md": lambda: surroundings.check_text(store.workspace / "REVIEW.md"),
        "ledger": lambda: Check(
            "ledger", "every line of the ledger can be read", True, f"{len(store.ledger.events()):,} events"
        ),
        "spool": lambda: surroundings.check_spool(store.root),
        "dead letters": lambda: surroundings.check_dead_letters(store.root),
        "forgetting": lambda: _check_forgetting(store),
        "secrets": lambda: check_secrets(store.tables, store.root),
        "identity": lambda: _check_identity(store, now),
        "left out": lambda: surroundings.check_left_out(find_left_out(store)),
        "freshness": lambda: surroundings.check_freshness(changed_files(find_sources(store.settings), store.archive), now),
    }
    for name, check in checks.items():
        yield from _run(name, check)


def _check_identity(store: Store, now: datetime) -> Check:
    log = store.workspace / "memory" / f"{now.astimezone(store.settings.zone):%Y-%m-%d}.md"
    return check_identity(Path.home(), harness_homes(Path.home()), store.workspace / "MEMORY.md", log)


def _check_forgetting(store: Store) -> Check:
    events = store.ledger.events([WORDS_FORGOTTEN, WORDS_ERASED])
    promise = "what is forgotten is erased everywhere"
    if waiting := unfinished(events):
        return Check("forgetting", promise, False, f"{len(waiting)} interrupted", "Run `memory ingest`; it finishes it.")
    return Check("forgetting", promise, True, f"{sum(event.kind == WORDS_FORGOTTEN for event in events):,} forgettings")


def _run(name: str, check: Callable[[], Check]) -> Iterator[Check]:
    try:
        yield check()
    except (MemoryAssetsError, OSError) as error:
        yield Check(name, "can be checked", False, str(error), "Fix the cause, then run `memory doctor` again.")
