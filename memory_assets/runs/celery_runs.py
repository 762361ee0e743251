"""Runs of days on Celery workers, each share of the days as a run of its own.

A worker finds the same store through its own environment. A run whose worker was killed is started
again, as another run: what the first one wrote is whole days, and is left as it is.

Of a store in a bucket, workers may have data folders of their own. They build the tables alone,
which this process fetches when a share is done; the files of the days (`files_of`) are built in its
own folder.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.launcher import LaunchRunContext, WorkerStatus
from dagster._core.storage.tags import MAX_RETRIES_TAG

from memory_assets.errors import StoreError
from memory_assets.runs.celery_tasks import unreachable
from memory_assets.runs.days import STORE, Stretch, address_of
from memory_assets.runs.deployment import WORKER_COMMAND
from memory_assets.runs.liveness import (
    SLOT_CHECK_SECONDS,
    UNFINISHED,
    fail_dead_runs,
    fail_run,
    is_executed,
)
from memory_assets.runs.record import note_builds
from memory_assets.schema.tables import tables_in
from memory_assets.store.store import PART_WAIT_SECONDS, Store

DEFINITIONS = ("memory_assets.definitions", "defs")
POLL_SECONDS = 0.2
PING_SECONDS = 5.0
SILENT_SECONDS = 60.0
"""Time without a worker after which the command fails: one that was killed may be started again
meanwhile.
"""

IDLE_SECONDS = 300.0
"""Time after which the command fails if workers answer and none of them takes a run."""

MOST_STARTS = 3
"""Times that a share is started whose worker is killed each time."""


def files_of(store: Store, job: str) -> list[str]:
    """Returns what of the job is not in the store's bucket, so that a worker with a folder of its
    own cannot build it.
    """
    return (
        [] if store.mirror is None else [table.name for table in tables_in(job) if not table.record]
    )


class WorkerRuns:
    """Runs of a job for shares of days, which are launched as Celery tasks and watched until they
    end.
    """

    def __init__(
        self,
        store: Store,
        instance: dg.DagsterInstance,
        job: str,
        tags_of: Callable[[Stretch], Mapping[str, str]],
        run_config: Mapping[str, Any],
    ) -> None:
        self._store, self._instance, self._job = store, instance, job
        self._tags_of, self._run_config = tags_of, run_config
        self._tables = [table for table in tables_in(job) if table.name not in files_of(store, job)]
        self._running = dict[str, Stretch | None]()
        """The runs and their shares; None for the run of an ingest that was killed."""
        self._starts = Counter[Stretch]()
        self._launcher: Any = instance.run_launcher
        self._heard = self._worked = time.monotonic()

    def run(self, shares: Sequence[Stretch], done: Callable[[Stretch], None]) -> None:
        """Runs all shares, and calls `done` after each.

        Raises `StoreError` where a run fails, or no worker answers; the others are cancelled then.
        """
        if not self._hears_worker():
            raise StoreError(
                f"No Celery worker answers. Start one with `{WORKER_COMMAND}` "
                "(docs/scaling.md), then run this again."
            )
        try:
            for share in shares:
                self._launch(share)
            self._wait(done)
        finally:
            self._cancel()

    def wait_for_others(self) -> None:
        """Waits for the shares of an ingest that was killed, and fetches what workers with folders
        of their own made of them.

        What is due is found afterwards: nothing else keeps two workers from asking a model the
        same.
        """
        about = dg.RunsFilter(statuses=UNFINISHED.statuses, tags={STORE: address_of(self._store)})
        self._running.update((run.run_id, None) for run in self._instance.get_runs(about))
        try:
            self._wait(lambda _: None)
        finally:
            self._cancel()

    def _wait(self, done: Callable[[Stretch], None]) -> None:
        looked = time.monotonic()
        while self._running:
            if time.monotonic() - looked > SLOT_CHECK_SECONDS:
                self._look()
                looked = time.monotonic()
            for run in self._ended():
                self._take(run, done)
            time.sleep(POLL_SECONDS)

    def _take(self, run: dg.DagsterRun, done: Callable[[Stretch], None]) -> None:
        share = self._running.pop(run.run_id)
        if run.status == dg.DagsterRunStatus.SUCCESS:
            self._fetch()
        if share is None:
            return
        if run.status == dg.DagsterRunStatus.SUCCESS:
            done(share)
        elif (
            MAX_RETRIES_TAG in run.tags and self._starts[share] < MOST_STARTS
        ):  # its worker was killed
            self._launch(share)
        else:
            reason = _reason(self._instance, run.run_id)
            raise StoreError(
                f"The run of '{self._job}' failed{reason}; see run {run.run_id} in the "
                "Dagster UI (`memory up`)."
            )

    def _fetch(self) -> None:
        """Fetches what a worker with a folder of its own wrote, so that the next steps see it."""
        if self._store.mirror is not None:
            self._store.sync(wait_seconds=PART_WAIT_SECONDS)
            note_builds(self._store, self._tables)

    def _launch(self, share: Stretch) -> None:
        found = ReconstructableRepository.for_module(*DEFINITIONS).get_reconstructable_job(
            self._job
        )
        selected = frozenset(dg.AssetKey(table.name) for table in self._tables)
        run = self._instance.create_run_for_job(
            found.get_definition().get_subset(asset_selection=selected),
            run_config=self._run_config,
            tags={**self._tags_of(share), STORE: address_of(self._store)},
            asset_selection=selected,
            job_code_origin=found.get_python_origin(),
        )
        try:
            self._launcher.launch_run(LaunchRunContext(dagster_run=run, workspace=None))
        except Exception as error:
            fail_run(self._instance, run, "It could not be handed to a Celery worker.")
            raise unreachable(error) from error
        self._running[run.run_id] = share
        self._starts[share] += 1

    def _ended(self) -> list[dg.DagsterRun]:
        return [run for run in self._present() if run.is_finished]

    def _present(self) -> Sequence[dg.DagsterRun]:
        return (
            self._instance.get_runs(dg.RunsFilter(run_ids=list(self._running)))
            if self._running
            else []
        )

    def _look(self) -> None:
        """Marks runs as failed whose worker was killed: nobody has the run's lock or task, or
        Celery says that it failed.
        """
        fail_dead_runs(self._instance, self._store)
        for run in self._present():
            if (
                not run.is_finished
                and self._launcher.check_run_worker_health(run).status == WorkerStatus.FAILED
            ):
                fail_run(self._instance, run, "The worker of this run was killed.")
        if is_executed(self._instance, self._store, list(self._running)):
            self._worked = self._heard = time.monotonic()
        elif not self._hears_worker() and time.monotonic() - self._heard > SILENT_SECONDS:
            raise StoreError(
                f"The Celery workers have ended. Start one with `{WORKER_COMMAND}`, then "
                "run this again."
            )
        elif time.monotonic() - self._worked > IDLE_SECONDS:
            raise StoreError(
                f"Celery workers answer, but took no run for {IDLE_SECONDS:.0f} s: they do "
                "other tasks, or the queue was lost "
                "when its server was started again. Run this again."
            )

    def _hears_worker(self) -> bool:
        try:
            answers = self._launcher.celery.control.ping(timeout=PING_SECONDS, limit=1)
        except Exception as error:
            raise unreachable(error) from error
        if answers:
            self._heard = time.monotonic()
        return bool(answers)

    def _cancel(self) -> None:
        for run in self._present():
            if not run.is_finished:
                self._launcher.terminate(run.run_id)
                self._instance.report_run_canceled(run)
        self._running.clear()


def _reason(instance: dg.DagsterInstance, run_id: str) -> str:
    """Returns the first error of the run, in parentheses; empty if none was logged."""
    kinds = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}
    for record in instance.get_records_for_run(run_id, of_type=kinds).records:
        event = record.event_log_entry.dagster_event
        error = getattr(event.event_specific_data, "error", None) if event else None
        while error is not None and error.cause is not None:
            error = error.cause
        if error is not None:
            return f" ({error.message.strip()})"
        if event is not None and event.message:
            return f" ({event.message.strip()})"
    return ""
