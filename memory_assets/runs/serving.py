"""Serves the Dagster UI with its sensors and schedules, and the page; runs what becomes due.

The UI is a process with children of its own. They end with this process, whatever ends it. What
they print goes to a log file that rotates (`store.service_log`), not to the terminal.

Runs happen in a second thread of this process. In the main thread, Dagster would handle signals
during a run, and lose a signal that arrives at its end. A run that is cut off is finished by the
next one.
"""

import atexit
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Thread, Timer
from typing import Self, TypeVar

from memory_assets.runs.days import first_day_of
from memory_assets.runs.instance import CODE_LOCATION, make_home
from memory_assets.runs.worker import Worker
from memory_assets.services.search.corpus import open_texts
from memory_assets.services.settings.which_store import environment_of, read_again
from memory_assets.store import page_links
from memory_assets.store.service_log import copy_lines, log_path
from memory_assets.store.sockets import HAS_SOCKETS, is_listening
from memory_assets.store.store import Store
from memory_assets.text.files import text_of

T = TypeVar("T")

SERVICE = "memory_assets.interfaces.service"
"""The module of the process that answers commands; it ends when its stdin closes."""

PAGE = "memory_assets.interfaces.page"
"""The module of the process that serves the page; it ends when its stdin closes."""

RESTART_SECONDS = 60.0
"""A service that ended is started again, but not more often than this."""

PATIENCE_SECONDS = 60.0
"""Runs wait until the UI answers, but no longer than this. They would slow down its start."""

TICK_SECONDS = 0.5
"""How often the processes of the UI are checked."""

LOOK_SECONDS = 0.1
"""How often the spool of sent events is checked, which lists one small folder."""

POLL_SECONDS = 30.0
"""How often the store's first day is read while the UI is served."""

END_SECONDS = 3.0
"""Time that the processes of the UI have to end by themselves before they are killed."""

LAST_LINES = 12
"""Last lines of the log that a person is shown if the UI fails."""

HOST = "127.0.0.1"

Tell = Callable[[str], None]


class Serving:
    """The UI of a store, and the worker that runs what becomes due while it is served.

    The UI answers within seconds, and work such as a first build can go on meanwhile (`during`).
    """

    def __init__(self, store: Store, port: int, tell: Tell, page_port: int | None = None) -> None:
        """`tell` shows a person the address, and problems of the UI and of runs.

        The page is served if it has a port.
        """
        self._worker = Worker(lambda: Store(read_again(store.settings), store.root), tell)
        environ = environment_of(store.settings)
        self._ui = DagsterUi(store, port, environ, tell)
        self._service = KeptProcess([SERVICE], environ) if HAS_SOCKETS else None
        self._page = KeptProcess([PAGE, str(page_port)], environ) if page_port else None
        self._has_told_of_page = False
        self._store = store
        self._tell = tell
        self._runs: Thread | None = None

    def start(self) -> Self:
        """Starts the UI, which answers some seconds later."""
        atexit.register(self.stop)
        if self._page:
            page_links.end(self._store.root)
        self._worker.begin()
        self._ui.start()
        return self

    def during(self, work: Callable[[], T]) -> T:
        """Does the work while the UI is served, and returns its result.

        The page is served as soon as words can be searched. SIGTERM and ctrl-C interrupt the work
        and end the UI. An error in it ends the UI, too.
        """
        try:
            result = self._ui.result_of(work, self._keep_page_of_words)
            self._ui.look_for_older_days()
            return result
        except BaseException:
            self.stop()
            raise

    def wait(self, *, is_service: bool = False) -> int:
        """Serves until the UI ends, and returns its exit code.

        Returns 0 after ctrl-C, and for a service also after SIGTERM, which is how it is stopped.
        """
        expected = {signal.SIGINT, signal.SIGTERM} if is_service else {signal.SIGINT}
        self._runs = Thread(target=self._work, kwargs={"is_service": is_service}, daemon=True)
        self._runs.start()
        try:
            return self._ui.wait(expected)
        finally:
            self.stop()

    def stop(self) -> None:
        """Ends the UI and the worker.

        If a run goes on, this process stays the worker until it ends, and the run ends with it.
        """
        atexit.unregister(self.stop)
        self._ui.kill()
        for process in filter(None, (self._service, self._page)):
            process.stop()
        if self._runs is not None:
            self._runs.join(END_SECONDS)
        if self._runs is None or not self._runs.is_alive():
            self._worker.end()

    def _keep_page_of_words(self) -> None:
        if open_texts(self._store).generation() is not None:
            self._keep_page()

    def _keep_page(self, *, is_service: bool = False) -> None:
        """Keeps the page served; once its server listens, tells the link to it, or of a service,
        whose log is no place for it, the command that prints one.
        """
        if not self._page:
            return
        self._page.keep()
        link = "" if self._has_told_of_page else page_links.new_link(self._store.root)
        if link:
            command = "`memory serve page --link` prints a link to your page."
            invitation = f"Your page: {link} (it works once, within 15 minutes)."
            self._tell(command if is_service else invitation)
            self._has_told_of_page = True

    def _work(self, *, is_service: bool) -> None:
        is_warm = False
        while self._ui.is_wanted:
            if self._ui.has_started:
                self._keep_page(is_service=is_service)
                if self._service:
                    self._service.keep()
                self._worker.tick()
                if not is_warm:
                    self._worker.warm_up()
                    is_warm = True
            time.sleep(LOOK_SECONDS)


class KeptProcess:
    """A module that runs in a process of its own: it answers commands, or serves the page.

    It ends with this process, whatever ends it: that closes its stdin.
    """

    def __init__(self, words: Sequence[str], environ: Mapping[str, str]) -> None:
        """`words` are the module and its arguments."""
        self._words = words
        self._environ = environ
        self._process: subprocess.Popen | None = None
        self._started_at = -RESTART_SECONDS

    def keep(self) -> None:
        """Starts the process where it does not run, unless it ended by itself without an error."""
        is_wanted = self._process is None or self._process.poll()
        if not is_wanted or time.monotonic() < self._started_at + RESTART_SECONDS:
            return
        self._started_at = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", *self._words],
            env={**os.environ, **self._environ},
            start_new_session=True,  # so that ctrl-C reaches only this process
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )

    def stop(self) -> None:
        """Ends the process, and waits for the request that it answers."""
        if self._process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self._process.communicate(timeout=END_SECONDS)  # closes its stdin
        self._process.kill()
        self._process.wait()


class DagsterUi:
    """The processes of the UI.

    SIGTERM and ctrl-C end them. Those that still run `END_SECONDS` later are killed.
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
        self._signals: list[int] = []
        """The signals that asked this process to end."""
        self._has_ended = False
        self._first_day = first_day_of(store)
        self._started_at = self._first_day_read_at = time.monotonic()

    def start(self) -> None:
        """Starts the processes, which answer some seconds later."""
        self._tell(
            f"Starting the Dagster UI at http://{HOST}:{self._port}. Press Ctrl-C to stop it."
        )
        with self._store.lock():
            make_home(self._store)
        # Handled from here on, so that a signal during the start ends the processes, too.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        self._process = self._open()
        if self._signals:
            self._end(self._signals.pop(), None)

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
            # So that ctrl-C reaches only this process, which ends the others.
            start_new_session=os.name == "posix",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        assert process.stdout is not None
        self._copying = copy_lines(process.stdout, self._store.root)
        return process

    def wait(self, expected: Container[int]) -> int:
        """Waits until the UI ends, and returns its exit code, or 0 after an expected signal.

        When older transcripts were captured, the UI loads the assets again, with partitions for
        earlier days.
        """
        assert self._process is not None
        while True:
            with suppress(subprocess.TimeoutExpired):
                code = self._process.wait(timeout=TICK_SECONDS)
                self._has_ended = True
                if code and not self._signals:
                    self._tell(
                        f"The Dagster UI ended with exit code {code}. The end of "
                        f"{self._log}:\n{self._last_lines()}"
                    )
                is_expected = any(number in expected for number in self._signals)
                return 0 if is_expected else code
            self._tell_when_it_answers()
            self._add_older_days()

    def result_of(self, work: Callable[[], T], beside: Callable[[], None]) -> T:
        """Does the work in a second thread, and this thread the other again and again; returns the
        result of the first, or raises its error.

        Raises `KeyboardInterrupt` after SIGTERM and ctrl-C.
        """
        result: Future[T] = Future()

        def run() -> None:
            try:
                result.set_result(work())
            except BaseException as error:  # the main thread raises it
                result.set_exception(error)

        Thread(target=run, daemon=True).start()
        while not wait([result], timeout=TICK_SECONDS).done:
            if self._signals:
                raise KeyboardInterrupt
            self._tell_when_it_answers()
            beside()
        return result.result()

    @property
    def is_wanted(self) -> bool:
        """Whether it has not ended and no signal asks it to end."""
        return not self._signals and not self._has_ended

    @property
    def has_started(self) -> bool:
        """Whether it answers, or `PATIENCE_SECONDS` are over."""
        return self._has_answered or time.monotonic() > self._started_at + PATIENCE_SECONDS

    def _tell_when_it_answers(self) -> None:
        if not self._has_answered and is_listening(self._port):
            self._has_answered = True
            self._tell(
                f"The Dagster UI answers at http://{HOST}:{self._port}; its log is {self._log}."
            )

    def look_for_older_days(self) -> None:
        """Makes `wait` read the store's first day at once."""
        self._first_day_read_at = time.monotonic() - POLL_SECONDS

    def kill(self) -> None:
        """Kills what is left of the processes."""
        self._has_ended = True
        if self._process is not None:
            kill_group(self._process.pid)

    def _end(self, number: int, _: object) -> None:
        """Handles a signal: asks the processes to end and kills them later, or at a second one."""
        self._signals.append(number)
        if self._process is not None:
            self._process.terminate()  # Dagster then stops its own processes
            delay = END_SECONDS if len(self._signals) == 1 else 0.0
            killing = Timer(delay, kill_group, [self._process.pid])
            killing.daemon = True
            killing.start()

    def _last_lines(self) -> str:
        if self._copying is not None:
            self._copying.join(END_SECONDS)
        return "\n".join(text_of(self._log).splitlines()[-LAST_LINES:])

    def _add_older_days(self) -> None:
        """Reads the store's first day every `POLL_SECONDS`; reloads the UI if it is earlier."""
        if time.monotonic() - self._first_day_read_at < POLL_SECONDS:
            return
        self._first_day_read_at = time.monotonic()
        first = first_day_of(self._store)
        if first < self._first_day and reload_code_location(self._port):
            self._first_day = first


def kill_group(leader: int) -> None:
    """Kills a process that was started in a session of its own, and everything it started."""
    if os.name == "nt":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(leader)], capture_output=True)
        return
    with suppress(ProcessLookupError, PermissionError):  # it ended by itself
        os.killpg(leader, signal.SIGKILL)


def reload_code_location(port: int) -> bool:
    """Makes the UI on the port load the definitions again; returns False if it does not answer."""
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
