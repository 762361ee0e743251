"""The worker of `memory up`: runs what new input requires, within seconds.

A run of Dagster in a process of its own spends most of its time on imports, and a sensor looks for
input only once a minute. The worker keeps everything imported. While it is alive, the sensors leave
new transcripts and sent events to it (`runs.liveness`). They take over as soon as it ends.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from polars.exceptions import PanicException

from memory_assets.runs.due import DueRun, next_runs
from memory_assets.runs.freshness import keep_waiting
from memory_assets.runs.launch import Runner, update
from memory_assets.schema.tables import JOBS
from memory_assets.stages.deliver import spool
from memory_assets.store.store import Store

LOOK_SECONDS = 20.0
"""How often the transcripts are checked. The spool of sent events is checked at every tick."""

RETRY_SECONDS = 600.0
"""Time after which a run that failed, or that changed nothing, is tried again."""

STARTED_BY = "memory up"

AT_ONCE = [job.name for job in JOBS.values() if job.is_at_once]


class Worker:
    """Runs the jobs that new transcripts and events make due.

    A store has at most one worker at a time.
    """

    def __init__(
        self,
        reopen: Callable[[], Store],
        tell: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ):
        """`reopen` opens the store with the present settings; `tell` shows people a problem."""
        self._reopen = reopen
        self._tell = tell
        self._clock = clock
        self._store = reopen()
        self._runner: Runner | None = None
        self._checked_at = -LOOK_SECONDS
        self._tried_at = dict[tuple[str, str], float]()
        """By job and state, when a run for them last began."""
        self._problem = ""
        """The last problem that was told, so that it is not told again."""

    def begin(self) -> bool:
        """Makes this process the worker of the store; returns False if there is another one."""
        from memory_assets.runs.liveness import WORKER, hold

        return hold(self._store, WORKER)

    def warm_up(self) -> None:
        """Gets a runner ready. If that fails, the first run will tell why."""
        with suppress(Exception):
            self._connect(self._store).warm_up()

    def end(self) -> None:
        """Leaves the runs to the sensors."""
        from memory_assets.runs.liveness import WORKER, release

        self._disconnect()
        release(self._store, WORKER)

    def tick(self) -> list[str]:
        """Runs what is due and returns the jobs that ran.

        Does nothing if no events wait and the last check was less than `LOOK_SECONDS` ago.
        """
        now = self._clock()
        if now - self._checked_at < LOOK_SECONDS and not spool.unread(str(self._store.root)):
            return []
        self._checked_at = now
        try:
            jobs = self._work(now)
            self._problem = "" if jobs else self._problem
            return jobs
        except (Exception, PanicException) as error:
            self._disconnect()
            if str(error) != self._problem:
                self._problem = str(error)
                self._tell(f"{error} It is tried again in {RETRY_SECONDS / 60:.0f} minutes.")
            return []

    def _work(self, now: float) -> list[str]:
        from memory_assets.runs.liveness import fail_dead_runs, is_alive

        store = self._reopen()
        if store.settings != self._store.settings:
            self._disconnect()
        self._store = store
        jobs = list[str]()
        if not self.begin():
            return []
        while True:
            runs = [run for run in next_runs(store) if self._may_try(run, now)]
            if not runs:
                break
            runner = self._connect(store)
            unfinished = fail_dead_runs(runner.instance, store)
            if any(is_alive(store, run_id) for run_id in unfinished):
                # A schedule or a person started this run. The next check sees what it left to do.
                return jobs
            count = len(runner.summary().jobs)
            self._note_attempts(runs, now)
            update(runner, AT_ONCE, recall_first=True)
            jobs += runner.summary().jobs[count:]
        if jobs:
            keep_waiting(store)
        return jobs

    def _may_try(self, run: DueRun, now: float) -> bool:
        """Returns whether no run of this job for the same state began within `RETRY_SECONDS`."""
        tried_at = self._tried_at.get((run.job, run.state))
        return tried_at is None or now - tried_at >= RETRY_SECONDS

    def _note_attempts(self, runs: Iterable[DueRun], now: float) -> None:
        """Notes that the runs begin now, and drops what is older than `RETRY_SECONDS`."""
        recent = {key: at for key, at in self._tried_at.items() if now - at < RETRY_SECONDS}
        self._tried_at = recent | {(run.job, run.state): now for run in runs}

    def _connect(self, store: Store) -> Runner:
        """Returns the runner, which it makes if there is none."""
        self._runner = self._runner or Runner(store, STARTED_BY)
        return self._runner

    def _disconnect(self) -> None:
        if self._runner is not None:
            self._runner.disconnect()
        self._runner = None
