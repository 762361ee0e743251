"""Runs of days in several processes of this machine at once, each share of the days as a run of its
own.

Each process (`runs.day_process`) gets its next share as a line on its standard input and answers
with a line. It ends when its input does, so that none stays behind where this process is killed. A
share whose process was killed is started again: what the first one wrote is whole days, and is left
as it is.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Self

from memory_assets import errors
from memory_assets.errors import MemoryAssetsError, StoreError
from memory_assets.runs.days import Stretch
from memory_assets.services.settings.which_store import environment_of
from memory_assets.store.store import Store

COMMAND = (sys.executable, "-m", "memory_assets.runs.day_process")
MOST_STARTS = 3
"""Times that a share is started whose process is killed each time."""

THREADS = ("OMP_NUM_THREADS", "POLARS_MAX_THREADS")
END_SECONDS = 30.0


class DayProcesses:
    """As many processes as the setting `workers` says, each started with its first share of days;
    they end with the block.
    """

    def __init__(self, store: Store) -> None:
        count = store.settings.workers
        threads = max(1, (os.cpu_count() or 1) // count)
        self._processes = [DayProcess(store, threads) for _ in range(count)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._end(at_once=kind is not None)

    def run(
        self,
        job: str,
        shares: Sequence[Stretch],
        *,
        started_by: str,
        done: Callable[[Stretch], None],
        killed: Callable[[], object],
    ) -> None:
        """Runs the job for each share and calls `done` after each, `killed` after a process was
        killed.

        Raises what the first failed run raised, and cancels the others.
        """
        waiting, ended, starts = (
            deque(shares),
            SimpleQueue[Stretch | Exception](),
            Counter[Stretch](),
        )
        is_over = threading.Event()

        def work(process: DayProcess) -> None:
            while not is_over.is_set():
                try:
                    share = waiting.popleft()
                except IndexError:
                    return
                try:
                    process.run(job, share, started_by)
                    ended.put(share)
                except ProcessKilledError as error:
                    starts[share] += 1
                    if starts[share] == MOST_STARTS:
                        ended.put(StoreError(str(error)))
                    elif not is_over.is_set():
                        killed()
                        waiting.appendleft(share)
                except Exception as error:
                    ended.put(error)

        threads = [
            threading.Thread(target=work, args=[one], daemon=True)
            for one in self._processes[: len(shares)]
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in shares:
                if isinstance(one := ended.get(), Exception):
                    raise one
                done(one)
        except BaseException:
            is_over.set()
            self._end(at_once=True)
            raise
        finally:
            is_over.set()
            for thread in threads:
                thread.join()

    def pids(self) -> list[int]:
        """Returns the ids of the processes that run."""
        return [pid for process in self._processes if (pid := process.pid)]

    def _end(self, *, at_once: bool) -> None:
        for process in self._processes:
            process.end(at_once=at_once)


class ProcessKilledError(Exception):
    """The process ended before its run did."""


class DayProcess:
    """A process that runs days of the store; it is started with the first of them."""

    def __init__(self, store: Store, threads: int) -> None:
        few = {name: str(threads) for name in THREADS if name not in os.environ}
        self._environment = {**os.environ, **few, **environment_of(store.settings)}
        self._process: subprocess.Popen[str] | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115

    def run(self, job: str, share: Stretch, started_by: str) -> None:
        """Runs the job for the days; raises what the run raised, or `ProcessKilledError`."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        question = {
            "job": job,
            "first": str(share.first),
            "last": str(share.last),
            "started_by": started_by,
        }
        try:
            print(json.dumps(question), file=process.stdin, flush=True)
            line = process.stdout.readline()
        except (OSError, ValueError):
            line = ""
        if not line:
            self._process = None
            ended = f"ended with {process.wait()} before its run{self._last_line()}"
            raise ProcessKilledError(
                f"The process that built {share.first} to {share.last} {ended}. "
                "If memory is short, set `workers` to less, then run the same command again."
            )
        if problem := json.loads(line)["problem"]:
            raise _error_of(problem)

    @property
    def pid(self) -> int | None:
        """The id of the process; None while it does not run."""
        return self._process.pid if self._process else None

    def _start(self) -> "subprocess.Popen[str]":
        pipes: dict[str, Any] = {
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "stderr": self._said,
            "text": True,
        }
        return subprocess.Popen(COMMAND, env=self._environment, **pipes)

    def _last_line(self) -> str:
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return f" ({lines[-1]})" if lines else ""

    def end(self, *, at_once: bool) -> None:
        """Ends the process: `at_once` in the middle of a run, which counts as cancelled."""
        process, self._process = self._process, None
        if process is None:
            return
        if at_once:
            process.terminate()
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _error_of(problem: dict[str, str]) -> Exception:
    kind = getattr(errors, problem["kind"], StoreError)
    return (
        kind(problem["message"])
        if issubclass(kind, MemoryAssetsError)
        else StoreError(problem["message"])
    )
