"""Runs jobs in this process, for the command line and the worker of `memory up`.

These are the jobs that the sensors start in processes of their own. Dagster is imported only when
there is something to run.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any

from polars.exceptions import PanicException

from memory_assets.errors import DamagedError, causes_of
from memory_assets.runs import days as day_runs
from memory_assets.runs.due import DueRun, due_runs
from memory_assets.runs.estimate import expected_seconds
from memory_assets.runs.freshness import keep_waiting
from memory_assets.runs.instance import open_instance
from memory_assets.runs.record import begin_night
from memory_assets.runs.scopes import register_keys
from memory_assets.runs.staleness import stale_days
from memory_assets.runs.word_search import index_words
from memory_assets.schema.extras import loaded
from memory_assets.schema.progress import expect, part, works
from memory_assets.schema.tables import ADDED_JOBS, JOBS, tables_in, with_sources
from memory_assets.services.forget.erase import finish
from memory_assets.services.health import housekeeping
from memory_assets.services.settings.which_store import is_sample
from memory_assets.store.damage import is_damage, put_damaged_aside, settle
from memory_assets.store.settings import RULES
from memory_assets.store.store import Store

if TYPE_CHECKING:
    import dagster as dg


MOST_ATTEMPTS = 4
"""How often an update is tried if a damaged file is put aside each time."""

ANSWERING = ("text_index", "vector_index")
"""The indexes that answer questions."""

MOST_DAYS_FIRST = 2
"""With at most so many new days, the indexes that answer questions are built first, and the other
tables of these days after them. With more days, each is built as a whole.
"""

WORKS = {"rebuild_memories": "recall works", "triage": "recall works and MEMORY.md is written"}
"""By job: what a person can use once it has run."""

OF_SAMPLE = "This is the bundled sample, not the memory of your own sessions."


@dataclass
class RunSummary:
    """The jobs that one call ran, in order, and how long it took in seconds."""

    jobs: list[str] = field(default_factory=list)
    seconds: float = 0.0


def ingest(store: Store, *, reflect: bool = True, with_chroma: bool = False) -> RunSummary:
    """Updates every table from the transcripts, then reflects and triages.

    Does nothing when nothing is new. With `with_chroma`, Chroma's copy of the vectors is updated
    now; else the next nightly run does that.
    """
    finish(store)  # erases what other machines forgot
    notice = OF_SAMPLE if is_sample(store.settings) else ""
    with Runner(store) as runner, expect(partial(expected_seconds, store), notice):
        update(runner, [job.name for job in JOBS.values() if reflect or job.is_at_once])
        for hand_over in loaded("after_update"):
            hand_over(store)
        if reflect:
            settle(store)
            if housekeeping.is_due(store):
                housekeeping.keep_house(store)
        jobs = [*runner.summary().jobs]
        if with_chroma:
            # A part of a nightly run: not among the jobs of the summary.
            runner.run("nightly", only=["chroma"])
        keep_waiting(store)
        return RunSummary(jobs, runner.summary().seconds)


def update(runner: "Runner", jobs: Sequence[str], *, recall_first: bool = False) -> None:
    """Runs what is due of these jobs, in order, after everything that was said can be found by its
    words.

    With `recall_first`, the tables that answer questions are built before all others. If a file is
    damaged, it is put aside and the update starts again with the first job.
    """
    put_damaged_aside(runner.store, is_deep=False)
    for attempt in count(1):
        try:
            index_words(runner.store)
            if recall_first:
                runner.run_recall_first()
            jobs_run = _run_all_due(runner, jobs)
            if not jobs_run.isdisjoint(ADDED_JOBS):
                # Such as notes about pages, which earlier jobs make memories of.
                _run_all_due(runner, jobs)
            break
        except (Exception, PanicException) as error:
            runner.disconnect()
            damages = put_damaged_aside(runner.store) if is_damage(error) else []
            # A step that puts a damaged file aside itself raises `DamagedError`.
            by_step = any(isinstance(cause, DamagedError) for cause in causes_of(error))
            if attempt == MOST_ATTEMPTS or not (damages or by_step):
                raise


def _run_all_due(runner: "Runner", jobs: Sequence[str]) -> set[str]:
    """Runs what is due of these jobs, in order, and returns the jobs that ran."""
    jobs_run = set()
    for job in jobs:
        if not runner.run_due(job):
            continue
        jobs_run.add(job)
        if job in WORKS:
            works(WORKS[job])
    return jobs_run


def backfill(store: Store, days: Iterable[date]) -> RunSummary:
    """Asks the model about the days again, then updates everything else."""
    with Runner(store) as runner:
        runner.run_days("process_days", days, ask_again=True)
        for job in JOBS:
            runner.run_due(job)
    return runner.summary()


def rematerialise(store: Store, days: Sequence[date], *, retire: Callable[[], bool]) -> RunSummary:
    """Builds the days with the present settings, up to MEMORY.md, and asks a model about them.

    In a branch of a store (a what-if copy), other days stay as they are. Else all other days that
    the settings made stale are built too, without asking a model about them.

    `retire` is called after the memories are built, and returns whether lines of MEMORY.md are to
    be removed. A triage then removes them before proposals for the same places are decided.
    """
    is_branch = store.origin is not None
    with Runner(store) as runner:
        runner.run_days("process_days", days, ask_again=True)
        stale = set() if is_branch else {*stale_days(store, "process_days")}
        others = stale.difference(days)
        runner.run_days("process_days", others)
        runner.run("rebuild_memories")
        if retire():
            runner.run("triage")
        due = {*stale_days(store, "reflect")}
        has_model = store.settings.model_of("reflector") != RULES
        reflected = due.intersection(days) if has_model else due
        runner.run_days("reflect", reflected)
        # Reflections of the remaining days would ask the model.
        runner.run_days("reflect", due - reflected - others, only=["proposals"])
        runner.run("triage")
        if not is_branch:
            runner.run_due("brief")
    return runner.summary()


def triage(store: Store) -> RunSummary:
    """Carries out the decisions in the ledger and in REVIEW.md."""
    with Runner(store) as runner:
        runner.run("triage")
    return runner.summary()


class Runner(ExitStack):
    """Runs jobs in this process, with the Dagster instance of the store.

    The first run opens the instance; leaving the `with` block closes it.
    """

    def __init__(self, store: Store, started_by: str = "command line") -> None:
        super().__init__()
        self.store = store
        self.started_by = started_by
        self._started = time.monotonic()
        self._jobs: list[str] = []
        self._definitions: dg.Definitions | None = None
        self._first_day = date.max
        self._instance: dg.DagsterInstance | None = None

    def run_due(self, job: str) -> bool:
        """Runs the job for everything that is due, and returns whether anything was.

        Jobs that build each day by itself (`BY_DAY`) begin with the latest days.
        """
        due = due_runs(self.store, job)
        if job in day_runs.BY_DAY:
            days = [day for run in due if run.stretch for day in run.stretch.days()]
            self._run_newest_first(job, days)
        else:
            for run in due:
                self.run(job, run.stretch)
        return bool(due)

    def run_days(self, job: str, days: Iterable[date], **options: Any) -> None:
        """Runs the job for the days, with the options of `run`."""
        for stretch in day_runs.stretches(days, job):
            self.run(job, stretch, **options)

    def run_recall_first(self) -> None:
        """Captures; of a few new days, builds the indexes that answer questions, then the rest.

        If it is killed in between, the other tables are stale, and the next run builds them.
        """
        self.run_due("capture")
        due = due_runs(self.store, "process_days")
        days = sum(len(run.stretch.days()) for run in due if run.stretch)
        if not 0 < days <= MOST_DAYS_FIRST:
            return
        later_runs = self._run_for_recall(due)
        later_runs += self._run_for_recall(due_runs(self.store, "rebuild_memories"))
        for run_others in later_runs:
            run_others()

    def _run_for_recall(self, due: Sequence[DueRun]) -> list[Callable[[], None]]:
        """Builds what the indexes are made from; returns functions that build the other tables."""
        later_runs = []
        sources = with_sources(ANSWERING)
        for run in due:
            names = [table.name for table in tables_in(run.job)]
            first = [name for name in names if name in sources]
            others = [name for name in names if name not in sources]
            self.run(run.job, run.stretch, only=first)
            later_runs.append(partial(self.run, run.job, run.stretch, only=others))
        return later_runs

    def _run_newest_first(self, job: str, days: Sequence[date]) -> None:
        """Runs the job for the days, the latest first; recall works after the first stretch."""
        runs = day_runs.newest_first(days, day_runs.session_days(self.store), job) if days else []
        for place, stretch in enumerate(runs):
            # Tells the progress bar which share of the days comes next.
            part(len(stretch.days()) / len(days))
            self.run(job, stretch)
            if place == 0 and len(runs) > 1:
                part(0.0)
                if job == "process_days":
                    # Files of the workspace and the other tables wait for the rest of the days.
                    self._run_for_recall(due_runs(self.store, "rebuild_memories"))
                    works("recall works for the latest sessions")
                for build_ahead in loaded("before_days"):
                    build_ahead(self, job, runs[1:])
        part(1.0)

    def run(
        self,
        job: str,
        stretch: day_runs.Stretch | None = None,
        *,
        ask_again: bool = False,
        only: Sequence[str] | None = None,
    ) -> None:
        """Runs the job, or only the named tables of it; raises `StoreError` where it fails."""
        quieten()
        from memory_assets.runs.execute import execute

        definitions = self._definitions_from(stretch.first if stretch else date.max)
        if job == "nightly" and stretch:
            begin_night(self.store, stretch.first)
        grain = day_runs.dynamic_grain(job)
        keys = register_keys(self.instance, self.store, grain) if grain else []
        is_branch = self.store.origin is not None
        job_tables = [table.name for table in tables_in(job, only_in_branch=is_branch)]
        tables = only or day_runs.buildable(job, keys) or job_tables
        tags = day_runs.tags_of(
            job, stretch, keys=keys, ask_again=ask_again, started_by=self.started_by
        )
        job_definition = definitions.resolve_job_def(job)
        execute(self.instance, self.store, job_definition, tables, tags)
        self._jobs.append(job)

    def warm_up(self) -> None:
        """Imports and opens what a run after a session needs, so that the first one is fast too."""
        from memory_assets.services.search.corpus import open_embedder

        quieten()
        definitions = self._definitions_from(date.max)
        for job in JOBS.values():
            if job.is_at_once:
                definitions.resolve_job_def(job.name)
        self.instance.get_run_records(limit=1)
        import_module("memory_assets.runs.builders")
        open_embedder(self.store.settings.embedding_model).encode(["A sentence."])

    def _definitions_from(self, day: date) -> "dg.Definitions":
        """Returns the definitions with partitions from the store's first day, or from `day`, on."""
        from memory_assets.definitions import assemble

        first = min(day_runs.first_day_of(self.store), day)
        if self._definitions is None or first < self._first_day:
            self._definitions = assemble(self.store.settings, first, self.store)
            self._first_day = first
        return self._definitions

    @property
    def instance(self) -> "dg.DagsterInstance":
        """The store's Dagster instance."""
        if self._instance is None:
            from memory_assets.runs.liveness import failing_dead_runs

            self._instance = self.enter_context(open_instance(self.store))
            self.enter_context(failing_dead_runs(self._instance, self.store))
        return self._instance

    def disconnect(self) -> None:
        """Closes the instance; the next run opens it again, so that damaged files can be moved."""
        self.close()
        self._instance = None

    def summary(self) -> RunSummary:
        """Returns the jobs that were run, and the time since the start."""
        return RunSummary(self._jobs, time.monotonic() - self._started)


def quieten() -> None:
    """Keeps Dagster's run log and its notices about beta features out of the terminal."""
    import logging
    import warnings

    import dagster as dg

    logging.getLogger("dagster").setLevel(logging.ERROR)
    for notice in (dg.BetaWarning, dg.PreviewWarning, dg.SupersessionWarning):
        warnings.filterwarnings("ignore", category=notice)
