"""A signal that arrives during a run of Dagster interrupts the command, whenever it arrives."""

import os
import signal
import sys
from collections.abc import Callable
from threading import Thread

import dagster as dg
import pytest

from memory_assets.runs.interrupts import interrupted_by_signals

NUMBERS = [signal.SIGINT, signal.SIGTERM]


def run_with(act: Callable[[], object]) -> dg.ExecuteInProcessResult:
    """Runs a job whose only step does that."""

    @dg.op
    def step() -> None:
        act()

    @dg.job
    def work() -> None:
        step()

    return work.execute_in_process()


@pytest.fixture(autouse=True)
def _handlers():
    before = {number: signal.getsignal(number) for number in NUMBERS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_that_dagster_drops_is_raised_when_the_run_is_over(number: int):
    from dagster._utils.interrupts import capture_interrupts

    with pytest.raises(KeyboardInterrupt), interrupted_by_signals():  # noqa: SIM117
        with capture_interrupts():
            os.kill(os.getpid(), number)


def test_a_signal_inside_a_finaliser_is_raised_later_and_prints_nothing(
    monkeypatch: pytest.MonkeyPatch,
):
    printed = list[object]()
    monkeypatch.setattr(sys, "unraisablehook", printed.append)

    class Finalised:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    def drop() -> None:
        made = Finalised()
        del made

    with pytest.raises(KeyboardInterrupt), interrupted_by_signals():
        drop()
    assert printed == []


def test_a_run_in_another_thread_takes_no_signals():
    done = list[bool]()

    def work() -> None:
        with interrupted_by_signals():
            done.append(run_with(lambda: None).success)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
