"""The worker of `memory up`: runs what new input requires within a second, in a process that stays
warm.

A run in a process of its own spends most of its time on imports, and a sensor looks for input once
a minute. While a worker is alive, the sensors leave new transcripts and sent events to it
(`runs.liveness`); they take over as soon as it ends.
"""

import time
from collections.abc import Callable
from contextlib import suppress

from polars.exceptions import PanicException

from memory_assets.runs.due import DueRun, next_runs
from memory_assets.runs.freshness import keep_waiting
from memory_assets.runs.launch import Runner, update
from memory_assets.schema.tables import JOBS
from memory_assets.stages.deliver import spool
from memory_assets.store.store import Store

LOOK_SECONDS = 20.0
"""Time between two looks at the transcripts; what is sent through the spool is seen at every tick.
"""

RETRY_SECONDS = 600.0
"""Time after which a run that failed, or that changed nothing, is tried again."""

STARTED_BY = "memory up"

AT_ONCE = [job.name for job in JOBS.values() if job.is_at_once]


class Worker:
    """Runs the jobs that new transcripts and events make due. One process at a time is the worker
    of a store.
    """

    def __init__(
        self,
        reopen: Callable[[], Store],
        tell: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ):
        """`reopen` opens the store with the present settings; `tell` shows a problem to the
        person.
        """
        self._reopen = reopen
        self._tell = tell
        self._clock = clock
        self._store = reopen()
        self._runner: Runner | None = None
        self._looked = -LOOK_SECONDS
        self._tried = dict[tuple[str, str], float]()
        self._problem = ""

    def begin(self) -> bool:
        """Makes this process the worker of the store; returns False if there is another one."""
        from memory_assets.runs.liveness import WORKER, hold

        return hold(self._store, WORKER)

    def warm_up(self) -> None:
        """Gets a runner ready; where that fails, the first run says why."""
        with suppress(Exception):
            self._connect(self._store).warm_up()

    def end(self) -> None:
        """Leaves the runs to the sensors."""
        from memory_assets.runs.liveness import WORKER, release

        self._disconnect()
        release(self._store, WORKER)

    def tick(self) -> list[str]:
        """Runs what is due, if events wait or the last look was long enough ago; returns the jobs
        that ran.
        """
        now = self._clock()
        if now - self._looked < LOOK_SECONDS and not spool.unread(str(self._store.root)):
            return []
        self._looked = now
        try:
            ran = self._work(now)
            self._problem = "" if ran else self._problem
            return ran
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
        done = list[str]()
        if not self.begin():
            return []
        while True:
            runs = [run for run in next_runs(store) if self._may_try(run, now)]
            if not runs:
                break
            runner = self._connect(store)
            unfinished = fail_dead_runs(runner.instance, store)
            if any(is_alive(store, run_id) for run_id in unfinished):
                # a run that a schedule or a person started goes on: the next look sees what it left
                return done
            count = len(runner.summary().jobs)
            self._tried |= {(run.job, run.state): now for run in runs}
            update(runner, AT_ONCE, recall_first=True)
            done += runner.summary().jobs[count:]
        if done:
            keep_waiting(store)
        return done

    def _may_try(self, run: DueRun, now: float) -> bool:
        """Returns whether the same state did not require the same run a short time ago, without the
        run changing it.
        """
        self._tried = {key: at for key, at in self._tried.items() if now - at < RETRY_SECONDS}
        return (run.job, run.state) not in self._tried

    def _connect(self, store: Store) -> Runner:
        """Returns the open runner, or opens one."""
        self._runner = self._runner or Runner(store, STARTED_BY)
        return self._runner

    def _disconnect(self) -> None:
        if self._runner is not None:
            self._runner.disconnect()
        self._runner = None
