"""A process that runs days of a store one share after the other, as `runs.processes` asks on its
standard input.

A question is a line of JSON with the job and its first and last day. The answer is one, too: the
problem, or none. The store is the one of this process's settings.
"""

import json
import os
import sys
from datetime import date
from typing import Any, TextIO

from polars.exceptions import PanicException

from memory_assets.errors import DamagedError, MemoryAssetsError, causes_of
from memory_assets.runs.days import Stretch
from memory_assets.runs.launch import Runner
from memory_assets.store.damage import is_damage
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store


def main(questions: TextIO, answers: TextIO) -> None:
    """Answers each question once its run has ended; returns when there are no more."""
    store = open_store(read_settings())
    with Runner(store) as runner:
        for line in questions:
            print(json.dumps({"problem": _run(runner, json.loads(line))}), file=answers, flush=True)


def _run(runner: Runner, asked: dict[str, str]) -> dict[str, str] | None:
    """Runs the job for the days; returns the problem, if any, with the class of the error that a
    person is meant to read.
    """
    runner.started_by = asked["started_by"]
    try:
        runner.run(
            asked["job"], Stretch(*(date.fromisoformat(asked[name]) for name in ("first", "last")))
        )
    except (Exception, PanicException) as error:
        runner.disconnect()
        return _problem(error)
    return None


def _problem(error: BaseException) -> dict[str, Any]:
    ours = [cause for cause in causes_of(error) if isinstance(cause, MemoryAssetsError)]
    damaged = [cause for cause in ours if isinstance(cause, DamagedError)]
    told = (damaged or ours or [error])[0]
    kind = DamagedError if damaged or is_damage(error) else type(told)
    return {"kind": kind.__name__, "message": str(told)}


if __name__ == "__main__":
    answering = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    main(sys.stdin, answering)
