"""Starts runs and the UI for the command line: the same jobs that the sensors start, in this process, in order.

Dagster is imported only when there is something to run, so that finding nothing to do costs no import.
"""

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from polars.exceptions import PanicException

from memory_assets.errors import DamagedError, StoreError, causes_of
from memory_assets.runs.days import Stretch, first_day_of, has_scopes, stretches, tags_of
from memory_assets.runs.due import due_runs
from memory_assets.runs.freshness import keep_waiting
from memory_assets.runs.record import begin_night
from memory_assets.runs.scopes import register_scopes
from memory_assets.runs.staleness import stale_days
from memory_assets.schema.tables import JOBS, tables_in
from memory_assets.store.damage import is_damage, put_damaged_aside, settle
from memory_assets.store.settings import RULES
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, write_atomically

if TYPE_CHECKING:
    import dagster as dg


CODE_LOCATION = "memory_assets.definitions"
"""The module that the UI loads, and the name under which it shows it."""

POLL_SECONDS = 30.0
"""Time between two readings of the store's first day while the UI is served."""

MOST_ATTEMPTS = 4
"""Times that an update starts again after a damaged file was put aside."""

END_SECONDS = 3.0
"""Time that the processes of the UI have to end before they are killed; a run that is killed is finished by the next one."""

EVENT_LOG = "# Keeps the event log open"
"""The line of dagster.yaml where the part begins that older files lack."""

QUIET = {"loggers": {"console": {"config": {"log_level": "ERROR"}}}}
"""Run configuration that keeps Dagster's log of a run out of the terminal; the UI shows it all the same."""


@dataclass
class RunSummary:
    """The jobs that one call ran, in order, and how long it took in seconds."""

    jobs: list[str] = field(default_factory=list)
    seconds: float = 0.0


def ingest(store: Store, *, reflect: bool = True) -> RunSummary:
    """Updates every table from the transcripts, then reflects and triages; does nothing when nothing is new.

    If a file is damaged, it is put aside and the update starts again from the first job.
    """
    summary = RunSummary()
    put_damaged_aside(store, is_deep=False)
    for attempt in count(1):
        with _Runner(store) as runner:
            try:
                for job in JOBS.values():
                    if reflect or job.is_at_once:
                        runner.run_due(job.name)
                break
            except (Exception, PanicException) as error:
                found = put_damaged_aside(store) if is_damage(error) else []
                is_put_aside = any(isinstance(cause, DamagedError) for cause in causes_of(error))  # by a step
                if attempt == MOST_ATTEMPTS or not (found or is_put_aside):
                    raise
            finally:
                summary = RunSummary([*summary.jobs, *runner.summary().jobs], summary.seconds + runner.summary().seconds)
    if reflect:
        settle(store)
    keep_waiting(store)
    return summary


def backfill(store: Store, days: Iterable[date]) -> RunSummary:
    """Asks the model about the days as if for the first time, then updates everything else."""
    with _Runner(store) as runner:
        for stretch in stretches(days):
            runner.run("process_days", stretch, ask_again=True)
        for job in JOBS:
            runner.run_due(job)
    return runner.summary()


def rematerialise(store: Store, days: Sequence[date], *, retire: Callable[[], bool]) -> RunSummary:
    """Builds the days with the present settings, up to MEMORY.md; asks a model about these days alone.

    In a branch of a store the other days stay as they are, and only what leads to MEMORY.md is built; else those that the
    settings made stale follow, as far as that takes no model. `retire` is called when memories are rebuilt and returns whether
    lines of MEMORY.md have to be removed: these are removed before proposals for their place are decided.
    """
    is_branch = store.origin is not None
    with _Runner(store) as runner:
        for stretch in stretches(days):
            runner.run("process_days", stretch, ask_again=True)
        others = [] if is_branch else [day for day in stale_days(store, "process_days") if day not in days]
        for stretch in stretches(others):
            runner.run("process_days", stretch)
        runner.run("rebuild_memories")
        if retire():
            runner.run("triage")
        due = list(stale_days(store, "reflect"))
        reflected = due if store.settings.model_of("reflector") == RULES else [day for day in due if day in days]
        for stretch in stretches(reflected):
            runner.run("reflect", stretch)
        for stretch in stretches(set(due) - {*reflected, *others}):
            runner.run("reflect", stretch, only=["proposals"])  # no model is asked about other days
        runner.run("triage")
        if not is_branch:
            runner.run_due("brief")
    return runner.summary()


def triage(store: Store) -> RunSummary:
    """Carries out the decisions in the ledger and in REVIEW.md."""
    with _Runner(store) as runner:
        runner.run("triage")
    return runner.summary()


class _Runner(ExitStack):
    """Runs jobs in this process with the store's own Dagster instance, which the first run opens and the exit closes."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store, self._started = store, time.monotonic()
        self._jobs: list[str] = []
        self._definitions: dg.Definitions | None = None
        self._first_day = date.max
        self._instance: dg.DagsterInstance | None = None

    def run_due(self, job: str) -> None:
        """Runs the job for everything that is due."""
        for due in due_runs(self._store, job):
            self.run(job, due.stretch)

    def run(
        self, job: str, stretch: Stretch | None = None, *, ask_again: bool = False, only: Sequence[str] | None = None
    ) -> None:
        """Runs the job, or only the named tables of it; raises `StoreError` where it fails."""
        quieten()
        import dagster as dg

        from memory_assets.definitions import assemble

        first = min(first_day_of(self._store), stretch.first if stretch else date.max)
        if self._definitions is None or first < self._first_day:
            self._definitions, self._first_day = assemble(self._store.settings, first, self._store), first
        if job == "nightly" and stretch:
            begin_night(self._store, stretch.first)
        tables = only or [table.name for table in tables_in(job, only_in_branch=self._store.origin is not None)]
        if self._instance is None:
            self._instance = self.enter_context(open_instance(self._store))
        scopes = register_scopes(self._instance, self._store) if has_scopes(job) else []
        result = self._definitions.resolve_job_def(job).execute_in_process(
            instance=self._instance,
            run_config=QUIET,
            asset_selection=[dg.AssetKey(name) for name in tables],
            tags=tags_of(job, stretch, scopes=scopes, ask_again=ask_again, started_by="command line"),
            raise_on_error=True,
        )
        if not result.success:
            raise StoreError(f"The run of '{job}' failed; see run {result.run_id} in the Dagster UI (`memory up`).")
        self._jobs.append(job)

    def summary(self) -> RunSummary:
        """Returns the jobs that were run, and the time since the start."""
        return RunSummary(self._jobs, time.monotonic() - self._started)


@contextmanager
def open_instance(store: Store) -> Iterator["dg.DagsterInstance"]:
    """Opens the store's Dagster instance, making its home first; two processes never initialise it at once."""
    import dagster as dg

    with store.lock():
        home = str(make_home(store))
    before = {name: value for name, value in os.environ.items() if name == "DAGSTER_HOME"}
    os.environ["DAGSTER_HOME"] = home  # read by the configuration of the event log
    try:
        opened = dg.DagsterInstance.from_config(home)
    finally:
        del os.environ["DAGSTER_HOME"]
        os.environ.update(before)
    with opened as instance:
        yield instance


def make_home(store: Store) -> Path:
    """Makes DAGSTER_HOME with its configuration and database, or adds the event log to a configuration without a storage."""
    home = make_folder(store.dagster_home)
    path, content = home / "dagster.yaml", files("memory_assets.runs").joinpath("dagster.yaml").read_text("utf-8")
    if not path.is_file():
        import dagster as dg

        with dg.DagsterInstance.from_config(str(home)):
            pass
        write_atomically(path, content.encode())
        return home
    written = path.read_text("utf-8")
    if not re.search(r"^(storage|(event_log|run|schedule)_storage|instance_class)\s*:", written, re.M):
        write_atomically(path, (written.rstrip("\n") + "\n\n" + content[content.index(EVENT_LOG) :]).encode())
    return home


def serve(store: Store, port: int, environ: dict[str, str]) -> int:
    """Serves the Dagster UI with its sensors and schedules until it is stopped; returns its exit code.

    When transcripts older than the first partition are captured, it reloads the code location for earlier partitions. SIGTERM
    and ctrl-C end all processes that were started for the UI, those that do not end by themselves after `END_SECONDS`.
    """
    import signal
    import subprocess
    from threading import Timer

    first_day = first_day_of(store)
    with store.lock():
        make_home(store)
    command = [sys.executable, "-m", "dagster", "dev", "-m", CODE_LOCATION, "-h", "127.0.0.1", "-p", str(port)]
    variables = {**os.environ, **environ, "DAGSTER_HOME": str(store.dagster_home), "PYTHONWARNINGS": "ignore"}
    process: subprocess.Popen | None = None
    asked: list[int] = []

    def end(number: int, _: object) -> None:
        asked.append(number)
        if process is None:
            return
        process.terminate()  # Dagster stops its own processes
        killing = Timer(END_SECONDS if len(asked) == 1 else 0.0, kill_group, [process.pid])
        killing.daemon = True
        killing.start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)  # before the start, so that no process outlives a signal that arrives during it
    own_group = os.name == "posix"  # ctrl-C reaches this process alone, which ends the others
    options = {"env": variables, "cwd": store.root, "start_new_session": own_group}
    process = subprocess.Popen([*command, "--log-level", "warning"], **options)
    if asked:
        end(asked.pop(), None)
    try:
        while True:
            try:
                code = process.wait(timeout=POLL_SECONDS)
                return 0 if signal.SIGINT in asked else code
            except subprocess.TimeoutExpired:
                if (first := first_day_of(store)) < first_day and reload_code_location(port):
                    first_day = first
    finally:
        kill_group(process.pid)  # what it left running


def kill_group(leader: int) -> None:
    """Kills a process that was started in a session of its own, and everything it started."""
    import signal
    import subprocess

    if os.name == "nt":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(leader)], capture_output=True)
        return
    with suppress(ProcessLookupError, PermissionError):  # it ended by itself
        os.killpg(leader, signal.SIGKILL)


def reload_code_location(port: int) -> bool:
    """Makes the UI on the port reload the definitions; returns False where it does not answer."""
    from dagster_graphql import DagsterGraphQLClient, DagsterGraphQLClientError, ReloadRepositoryLocationStatus

    try:
        client = DagsterGraphQLClient("127.0.0.1", port_number=port)
        return client.reload_repository_location(CODE_LOCATION).status == ReloadRepositoryLocationStatus.SUCCESS
    except (DagsterGraphQLClientError, OSError):
        return False


def quieten() -> None:
    """Keeps Dagster's run log and its notices about beta features out of the terminal."""
    import logging
    import warnings

    import dagster as dg

    logging.getLogger("dagster").setLevel(logging.ERROR)
    for notice in (dg.BetaWarning, dg.PreviewWarning, dg.SupersessionWarning):
        warnings.filterwarnings("ignore", category=notice)
