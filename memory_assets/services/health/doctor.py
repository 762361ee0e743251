"""The doctor: checks the counts from files to facts, the indexes, and the store's environment.

Takes an open store and returns a report of checks. Changes nothing, except that a deep examination
puts damaged files aside.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.errors import DamagedError, MemoryAssetsError
from memory_assets.harnesses.homes import instruction_files
from memory_assets.schema.extras import gather
from memory_assets.schema.protocols import TaskList
from memory_assets.services.health import surroundings
from memory_assets.services.health.deep import deep_checks
from memory_assets.services.health.housekeeping import disk_use
from memory_assets.services.health.identity import check_identity
from memory_assets.services.health.sums import HarnessCounts, Sums, read_sums
from memory_assets.services.health.surroundings import check_projection, render_lines
from memory_assets.services.models.model_names import name_problems
from memory_assets.services.review.written_lines import read_lines
from memory_assets.services.sources.ignoring import ignored_files_of_projects
from memory_assets.services.sources.transcripts import find_ignored, find_left_out, find_unread
from memory_assets.stages.capture.ownership import PLACE
from memory_assets.stages.capture.tombstones import unfinished
from memory_assets.stages.embed.encode import cut_messages
from memory_assets.stages.embed.present import overlay
from memory_assets.stages.embed.project import RETRIEVABLE
from memory_assets.stages.maintain.checks import Check, check_secrets, judge
from memory_assets.stages.reflect.proposals import NUMBERED, ids_by_number
from memory_assets.stages.triage.file_sizes import too_long_files
from memory_assets.store import ledger
from memory_assets.store.archive import Archive
from memory_assets.store.damage import list_damage, missing_parts
from memory_assets.store.places import home_folder
from memory_assets.store.store import Store

SHOWN = 3
"""Proposals or lines named in a finding."""

AGAIN = (
    "Run `memory ingest`, which puts damaged files aside and rebuilds them; then run "
    "`memory doctor` again."
)

AFTER_FORGETTING = "The next run counts without what was forgotten: `memory ingest`."


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


def examine(
    store: Store,
    projections: Projections,
    tasks: TaskList | None = None,
    *,
    deadlines: Callable[[], Sequence[Check]] = tuple,
    is_deep: bool = False,
    night: date | None = None,
) -> Health:
    """Returns the counts and checks of the store; a check that cannot run counts as failed.

    `tasks` is the owner's task list, if one is used. `deadlines` returns the checks of input that
    waits (`runs.freshness`). With `is_deep`, every byte is read again, or the share of the `night`.
    """
    now = store.settings.clock()
    harnesses, count_checks = _check_counts(store)
    task_checks: Iterable[Check] = ()
    if tasks is not None:
        task_checks = _run("Todoist", lambda: surroundings.check_tasks(tasks, now))
    byte_checks = _each("deep checks", lambda: deep_checks(store, night)) if is_deep else ()
    checks = (
        *count_checks,
        *_check_projections(store, projections),
        *_check_permanent(store),
        *_check_surroundings(store, now),
        *_each("deadlines", deadlines),
        *task_checks,
        *byte_checks,
    )
    return Health(store.root, now, harnesses, checks)


def _check_counts(store: Store) -> tuple[tuple[HarnessCounts, ...], tuple[Check, ...]]:
    """Returns the counts by harness and the checks of the equations between them; no counts where a
    table cannot be read.
    """
    sums: list[Sums] = []

    def count() -> Iterable[Check]:
        notes = store.ledger.events([ledger.NOTED, ledger.CORRECTED])
        harness_memories = store.tables.read("harness_memories", columns=["id"])
        note_count = len(notes) + harness_memories.height
        memories = overlay(store.tables.read("memories"), store.ledger.events(ledger.NOTES))
        sums.append(read_sums(store.tables, store.archive.resources(), memories, note_count))
        return sums[0].checks

    checks = tuple(_each("counts", count))
    if _awaits_run_after_forgetting(store):
        checks = tuple(replace(check, remedy=AFTER_FORGETTING, is_advice=True) for check in checks)
    harnesses = sums[0].harnesses if sums else ()
    return harnesses, checks


def _awaits_run_after_forgetting(store: Store) -> bool:
    """Returns whether no transcript was captured since something was erased."""
    erased = max((event.at for event in store.ledger.events([ledger.WORDS_ERASED])), default=None)
    try:
        captured = [info.written_at for info in store.tables.parts("records").values()]
    except DamagedError:
        return False
    return erased is not None and erased > max(captured, default=erased)


def _check_projections(store: Store, projections: Projections) -> Iterator[Check]:
    model = store.settings.embedding_model
    yield from _run(
        "embedding model", lambda: surroundings.check_model(model, projections.model_version)
    )
    yield from _each("indexes", lambda: _check_indexes(store, projections))


def _check_indexes(store: Store, projections: Projections) -> Iterator[Check]:
    """Yields whether each index has exactly the ids that it should have by the tables."""
    memories = store.tables.read("memories", columns=["id", "state", "text_hash"])
    recallable = memories.filter(pl.col("state").is_in(RETRIEVABLE))
    embedded = store.tables.read("embeddings", columns=["text_hash"])
    ids_with_vector = set(recallable.join(embedded, on="text_hash", how="semi")["id"])
    passage_ids = {
        *store.tables.read("passages", columns=["id"])["id"],
        *cut_messages(store.tables.read("messages_open"))["id"],
    }

    def check_vectors() -> Check:
        """Checks that the vector index has every memory with a vector."""
        return check_projection("vector", "memories", ids_with_vector, projections.vector_ids())

    def check_texts(corpus: str, expected_ids: set[str]) -> Check:
        """Checks that the text index has every text of the corpus."""
        return check_projection("text", corpus, expected_ids, projections.text_ids(corpus))

    yield from _run("vector index", check_vectors)
    yield from _run("text index", lambda: check_texts("memories", set(recallable["id"])))
    yield from _run("text index", lambda: check_texts("messages", passage_ids))


def _check_permanent(store: Store) -> Iterator[Check]:
    """Yields whether the ledger and the archive's catalog, which nothing rebuilds, can be read, and
    what was put aside.
    """
    yield from _run("ledger", lambda: _check_ledger(store))
    yield from _run("catalog", lambda: _check_catalog(store))
    yield from _run("damage", lambda: _check_damage(store))


def _check_ledger(store: Store) -> Check:
    damaged = store.ledger.damaged()
    return _check_lines("ledger", "ledger", damaged, f"{len(store.ledger.events()):,} events")


def _check_catalog(store: Store) -> Check:
    damaged = store.archive.damaged_lines()
    whole = f"{store.archive.resources().height:,} ranges"
    return _check_lines("catalog", "catalog of the archive", damaged, whole)


def _check_lines(name: str, file: str, damaged: Sequence[str], whole: str) -> Check:
    fault = f"{len(damaged):,} cannot{render_lines(damaged)}" if damaged else ""
    remedy = "Restore these lines from a backup."
    return judge(name, f"every line of the {file} can be read", fault, whole, remedy)


def _check_damage(store: Store) -> Check:
    promise = "what was damaged and put aside is rebuilt"
    damages = list_damage(store)
    missing_count = sum(map(len, missing_parts(store).values()))
    lines = render_lines(
        f"{damage.found_at[:10]} {damage.place} ({damage.reason}): {damage.aside}"
        for damage in damages
    )
    fault = f"{missing_count:,} not{lines}" if missing_count else ""
    whole = f"{len(damages):,} put aside so far{lines}" if damages else "nothing was ever damaged"
    return judge("damage", promise, fault, whole, "Run `memory ingest`.")


def _check_surroundings(store: Store, now: datetime) -> Iterator[Check]:
    checks: dict[str, Callable[[], Check]] = {
        "git": surroundings.check_git,
        "permissions": lambda: surroundings.check_permissions(store.root),
        "links": lambda: surroundings.check_links(store.root),
        "models": lambda: surroundings.check_model_names(tuple(name_problems(store.settings))),
        "disk": lambda: surroundings.check_disk(store.root),
        "disk use": lambda: surroundings.check_disk_use(
            disk_use(store.root), store.settings.disk_gb
        ),
        "MEMORY.md": lambda: surroundings.check_text(store.workspace / "MEMORY.md"),
        "size of MEMORY.md": lambda: surroundings.check_sizes(too_long_files(store.workspace)),
        "names": lambda: surroundings.check_lines([*read_lines(store)]),
        "REVIEW.md": lambda: surroundings.check_text(store.workspace / "REVIEW.md"),
        "ids": lambda: _check_ids(store),
        "spool": lambda: surroundings.check_spool(store.root),
        "dead letters": lambda: surroundings.check_dead_letters(store.root),
        "forgetting": lambda: _check_forgetting(store),
        "secrets": lambda: check_secrets(store.tables, store.root),
        "identity": lambda: _check_identity(store, now),
        "left out": lambda: surroundings.check_left_out(find_left_out(store)),
        "not read": lambda: surroundings.check_unread(find_unread(store)),
        "ignored": lambda: surroundings.check_ignored(find_ignored(store.settings)),
        "ignore files": lambda: _check_ignore_files(store),
        "damaged lines": lambda: _check_damaged_lines(store),
        "record types": lambda: surroundings.check_record_types(
            store.tables.read("records", columns=surroundings.RECORD_COLUMNS)
        ),
    }
    for name, check in checks.items():
        yield from _run(name, check)


def _check_ignore_files(store: Store) -> Check:
    folders = store.tables.read("sessions", columns=["folder"])["folder"].unique()
    return surroundings.check_ignore_files(ignored_files_of_projects(folders))


def _check_damaged_lines(store: Store) -> Check:
    """Names the parts of transcript lines that no record could be read from."""
    promise = "every line of the transcripts can be read"
    records = store.tables.read("records", columns=[*PLACE, "byte_from", "byte_to", "status"])
    damaged = records.filter(status="broken").sort(PLACE)
    first_places = [_place_of(row, store.archive) for row in damaged.head(SHOWN).to_dicts()]
    size = (damaged["byte_to"] - damaged["byte_from"]).sum()
    fault = f"{damaged.height:,} damaged, {size:,} bytes{render_lines(first_places)}"
    remedy = "Nothing else is lost: whole records in these lines are read."
    fault = fault if damaged.height else ""
    return judge("damaged lines", promise, fault, remedy=remedy, is_advice=True)


def _place_of(record: Mapping[str, Any], archive: Archive) -> str:
    """Returns the file, line and bytes of a record; lines are counted from 1, as editors do."""
    source = record["source_id"]
    generation = record["generation"]
    path = next(entry.path for entry in archive.ranges(source) if entry.generation == generation)
    line = archive.read(source, generation, 0, record["byte_from"]).count(b"\n") + 1
    return f"{path}, line {line:,}, bytes {record['byte_from']:,} to {record['byte_to']:,}"


def _check_identity(store: Store, now: datetime) -> Check:
    log = store.workspace / "memory" / f"{now.astimezone(store.settings.zone):%Y-%m-%d}.md"
    home = Path(home_folder())
    return check_identity(home, instruction_files(home), store.workspace / "MEMORY.md", log)


def _check_forgetting(store: Store) -> Check:
    events = store.ledger.events([ledger.WORDS_FORGOTTEN, ledger.WORDS_ERASED])
    promise = "what is forgotten is erased everywhere"
    interrupted = unfinished(events)
    if interrupted:
        remedy = "Run `memory ingest`; it finishes it."
        return Check("forgetting", promise, False, f"{len(interrupted)} interrupted", remedy)
    incoming = gather("incoming", store)
    fault = f"{len(incoming)} pushed by others wait" if incoming else ""
    count = sum(event.kind == ledger.WORDS_FORGOTTEN for event in events)
    remedy = "Run `memory ingest`; it erases them."
    return judge("forgetting", promise, fault, f"{count:,} forgettings", remedy)


def _check_ids(store: Store) -> Check:
    """Checks that each proposed memory exists and still has the id with which it was proposed."""
    promise = "every proposed memory exists and has the id with which it was proposed"
    present = set(store.tables.read("observations", columns=["id"])["id"])
    numbers = ids_by_number(store.ledger.events([NUMBERED]))
    missing = sorted(number for number, ids in numbers.items() if present.isdisjoint(ids))
    moved = sorted(
        number for number, ids in numbers.items() if ids[0] not in present and number not in missing
    )
    faults = []
    if moved:
        fault = "have another id and kept their number and decision"
        faults.append(f"{len(moved):,} {fault}{_first(moved)}")
    if missing:
        faults.append(f"{len(missing):,} have no memory any more{_first(missing)}")
    remedy = (
        "Ids change with new rules, or if a message moves to another session; `memory explain "
        "ID` shows what was decided."
    )
    whole = f"{len(numbers):,} proposals"
    return judge("ids", promise, "; ".join(faults), whole, remedy, is_advice=True)


def _first(numbers: list[str]) -> str:
    return f" ({', '.join(numbers[:SHOWN])}{', …' if len(numbers) > SHOWN else ''})"


def _run(name: str, check: Callable[[], Check]) -> Iterator[Check]:
    """Yields the check, or one that says why it cannot run."""
    yield from _each(name, lambda: [check()])


def _each(name: str, checks: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    """Yields the checks until one cannot run, then a failed check of this name that says why.

    Any exception is caught, because a damaged file can make any library fail in its own way.
    """
    try:
        yield from checks()
    except (Exception, pl.exceptions.PanicException) as error:
        kind = type(error).__name__
        is_ours = isinstance(error, MemoryAssetsError | OSError)
        message = str(error) if is_ours else f"{kind}: {error}"
        yield Check(name, "can be checked", False, (message or kind).splitlines()[0], AGAIN)
