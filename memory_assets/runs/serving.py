"""Serves the Dagster UI with its sensors and schedules, and runs what is due in this process
meanwhile.

The UI is a process with children of its own. However this process is asked to end, at any moment,
they end with it. What they print goes to a log that rotates (`store.service_log`), not to the
terminal. Runs have a thread of their own: in the main one, Dagster handles signals during a run,
and loses one that arrives at its end. The next run finishes one that was cut off.
"""

import atexit
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Container, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Thread, Timer
from typing import Self, TypeVar

from memory_assets.runs.days import first_day_of
from memory_assets.runs.instance import make_home
from memory_assets.runs.worker import Worker
from memory_assets.services.settings.which_store import environment_of, read_again
from memory_assets.store.service_log import copy_lines, log_path
from memory_assets.store.store import Store
from memory_assets.text.files import text_of

T = TypeVar("T")

CODE_LOCATION = "memory_assets.definitions"
"""The module that the UI loads, and the name under which it shows it."""

PATIENCE_SECONDS = 60.0
"""Time after which runs begin although the UI does not answer yet; before it, they would take the
processor from its start.
"""

TICK_SECONDS = 0.5
"""Time between two looks at the processes of the UI."""

LOOK_SECONDS = 0.1
"""Time between two looks at the events that were sent: a listing of one small folder."""

POLL_SECONDS = 30.0
"""Time between two readings of the store's first day while the UI is served."""

END_SECONDS = 3.0
"""Time that the processes of the UI have to end before they are killed; a run that is killed is
finished by the next one.
"""

LAST_LINES = 12
"""Lines of the log that are told where the UI ends by itself."""

HOST = "127.0.0.1"

Tell = Callable[[str], None]


class Serving:
    """The UI of a store, and the worker that runs what becomes due while it is served.

    The UI is there within seconds; a first build goes on behind it (`during`).
    """

    def __init__(self, store: Store, port: int, tell: Tell) -> None:
        """`tell` is given the address, and problems of the UI and of runs."""
        self._worker = Worker(lambda: Store(read_again(store.settings), store.root), tell)
        self._ui = DagsterUi(store, port, environment_of(store.settings), tell)
        self._working: Thread | None = None

    def start(self) -> Self:
        """Starts the UI, which answers some seconds later and ends with this process at the
        latest.
        """
        atexit.register(self.stop)
        self._worker.begin()
        self._ui.start()
        return self

    def during(self, work: Callable[[], T]) -> T:
        """Returns what the work returns; SIGTERM and ctrl-C interrupt it and end the UI, and so
        does an error.
        """
        try:
            result = self._ui.result_of(work)
            self._ui.look_for_older_days()
            return result
        except BaseException:
            self.stop()
            raise

    def wait(self, *, is_service: bool = False) -> int:
        """Serves until the UI ends, and returns its exit code, or 0 after ctrl-C, for a service
        also after SIGTERM.
        """
        ends_well = {signal.SIGINT, signal.SIGTERM} if is_service else {signal.SIGINT}
        self._working = Thread(target=self._work, daemon=True)
        self._working.start()
        try:
            return self._ui.wait(ends_well)
        finally:
            self.stop()

    def stop(self) -> None:
        """Ends the UI and the worker; a run that goes on ends with this process, which then also
        stops being the worker.
        """
        atexit.unregister(self.stop)
        self._ui.kill()
        if self._working is not None:
            self._working.join(END_SECONDS)
        if self._working is None or not self._working.is_alive():
            self._worker.end()

    def _work(self) -> None:
        is_warm = False
        while self._ui.is_wanted:
            if self._ui.has_started:
                self._worker.tick()
                if not is_warm:
                    self._worker.warm_up()
                    is_warm = True
            time.sleep(LOOK_SECONDS)


class DagsterUi:
    """The processes of the UI. SIGTERM and ctrl-C end them, those that do not end by themselves
    after `END_SECONDS`.
    """

    def __init__(self, store: Store, port: int, environ: Mapping[str, str], tell: Tell) -> None:
        self._store = store
        self._port = port
        self._environ = environ
        self._tell = tell
        self._log = log_path(store.root)
        self._has_answered = False
        self._copying: Thread | None = None
        self._process: subprocess.Popen | None = None
        self._asked: list[int] = []
        self._has_ended = False
        self._first_day = first_day_of(store)
        self._read_at = time.monotonic()
        self._begun_at = self._read_at

    def start(self) -> None:
        """Starts the processes, which answer some seconds later."""
        self._tell(
            f"Starting the Dagster UI at http://{HOST}:{self._port}. Press Ctrl-C to stop it."
        )
        with self._store.lock():
            make_home(self._store)
        for number in (signal.SIGTERM, signal.SIGINT):
            # Before the start, so that no process outlives a signal that arrives during it.
            signal.signal(number, self._end)
        self._process = self._open()
        if self._asked:
            self._end(self._asked.pop(), None)

    def _open(self) -> subprocess.Popen:
        arguments = f"dagster dev -m {CODE_LOCATION} -h {HOST} -p {self._port} --log-level warning"
        variables = {
            **os.environ,
            **self._environ,
            "DAGSTER_HOME": str(self._store.dagster_home),
            "PYTHONWARNINGS": "ignore",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments.split()],
            env=variables,
            cwd=self._store.root,
            # Ctrl-C reaches this process alone, which ends the others.
            start_new_session=os.name == "posix",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        assert process.stdout is not None
        self._copying = copy_lines(process.stdout, self._store.root)
        return process

    def wait(self, ends_well: Container[int]) -> int:
        """Serves until the UI ends, and returns its exit code, or 0 after these signals.

        When transcripts older than the first partition are captured, it reloads the code location
        for earlier partitions.
        """
        assert self._process is not None
        while True:
            with suppress(subprocess.TimeoutExpired):
                code = self._process.wait(timeout=TICK_SECONDS)
                self._has_ended = True
                if code and not self._asked:
                    self._tell(
                        f"The Dagster UI ended with exit code {code}. The end of "
                        f"{self._log}:\n{self._last_lines()}"
                    )
                return 0 if any(number in ends_well for number in self._asked) else code
            self._tell_when_it_answers()
            self._every_half_minute()

    def result_of(self, work: Callable[[], T]) -> T:
        """Returns what the work returns, and raises what it raises, or `KeyboardInterrupt` after
        SIGTERM and ctrl-C.
        """
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(work())
            except BaseException as error:  # whatever it is, the main thread raises it
                done.set_exception(error)

        Thread(target=run, daemon=True).start()
        while not wait([done], timeout=TICK_SECONDS).done:
            if self._asked:
                raise KeyboardInterrupt
        return done.result()

    @property
    def is_wanted(self) -> bool:
        """Whether it has neither ended nor was asked to end."""
        return not self._asked and not self._has_ended

    @property
    def has_started(self) -> bool:
        """Whether it answers, or has had the time for that."""
        return self._has_answered or time.monotonic() > self._begun_at + PATIENCE_SECONDS

    def _tell_when_it_answers(self) -> None:
        if not self._has_answered and answers(self._port):
            self._has_answered = True
            self._tell(
                f"The Dagster UI answers at http://{HOST}:{self._port}; its log is {self._log}."
            )

    def look_for_older_days(self) -> None:
        """Makes the next look at the store's first day an early one."""
        self._read_at = time.monotonic() - POLL_SECONDS

    def kill(self) -> None:
        """Kills what is left of the processes."""
        self._has_ended = True
        if self._process is not None:
            kill_group(self._process.pid)

    def _end(self, number: int, _: object) -> None:
        self._asked.append(number)
        if self._process is not None:
            self._process.terminate()  # Dagster stops its own processes
            killing = Timer(
                END_SECONDS if len(self._asked) == 1 else 0.0, kill_group, [self._process.pid]
            )
            killing.daemon = True
            killing.start()

    def _last_lines(self) -> str:
        if self._copying is not None:
            self._copying.join(END_SECONDS)
        return "\n".join(text_of(self._log).splitlines()[-LAST_LINES:])

    def _every_half_minute(self) -> None:
        if time.monotonic() - self._read_at < POLL_SECONDS:
            return
        self._read_at = time.monotonic()
        first = first_day_of(self._store)
        if first < self._first_day and reload_code_location(self._port):
            self._first_day = first


def answers(port: int) -> bool:
    """Returns whether something listens on the port: the UI does once it has loaded the assets."""
    with suppress(OSError), socket.create_connection((HOST, port), timeout=TICK_SECONDS):
        return True
    return False


def kill_group(leader: int) -> None:
    """Kills a process that was started in a session of its own, and everything it started."""
    if os.name == "nt":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(leader)], capture_output=True)
        return
    with suppress(ProcessLookupError, PermissionError):  # it ended by itself
        os.killpg(leader, signal.SIGKILL)


def reload_code_location(port: int) -> bool:
    """Makes the UI on the port reload the definitions; returns False where it does not answer."""
    from dagster_graphql import (
        DagsterGraphQLClient,
        DagsterGraphQLClientError,
        ReloadRepositoryLocationStatus,
    )

    try:
        client = DagsterGraphQLClient(HOST, port_number=port)
        status = client.reload_repository_location(CODE_LOCATION).status
        return status == ReloadRepositoryLocationStatus.SUCCESS
    except (DagsterGraphQLClientError, OSError):
        return False
