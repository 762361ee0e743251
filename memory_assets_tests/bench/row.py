"""One line of the report, and what all rows use: a clock, and processes of their own."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """A ratio, what it may be at most or must be at least, and the figures it was made from."""

    name: str
    ratio: float
    figures: str
    limit: float | None = None
    floor: float | None = None

    @property
    def is_missed(self) -> bool:
        """Whether the ratio is over its limit or under its floor."""
        return (self.limit is not None and self.ratio > self.limit) or (
            self.floor is not None and self.ratio < self.floor
        )


def render(row: Row) -> str:
    """Returns the row as one line of text."""
    wanted = [
        f"{word} {bound:g}"
        for word, bound in (("limit", row.limit), ("floor", row.floor))
        if bound is not None
    ]
    kept = f"{', '.join(wanted)}  {'MISSED' if row.is_missed else 'kept'}" if wanted else ""
    return f"{row.name:<48} {row.ratio:>8.3f}  {kept:<20} {row.figures}".rstrip()


def seconds_of(work: Callable[[], object]) -> float:
    """Returns how long the work takes by the wall clock."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def best_of(rounds: int, *works: Callable[[], object]) -> list[float]:
    """Returns the shortest time of each work; they take turns, so that a busy machine is busy for all of them."""
    times = [[seconds_of(work) for work in works] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def answer_of(module: str, *arguments: str) -> dict[str, Any]:
    """Runs a module of the bench as a process of its own and returns what it prints last, as JSON."""
    done = run([sys.executable, "-m", f"memory_assets_tests.bench.{module}", *arguments])
    return json.loads(done.stdout.splitlines()[-1])


def run(
    command: list[str], environ: dict[str, str] | None = None, said: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end, with what is said on stdin; stops the bench with what it answered when it fails."""
    done = subprocess.run(command, env=environ, input=said, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(
            f"{' '.join(command)} failed:\n{done.stdout[-2_000:]}\n{done.stderr[-4_000:]}"
        )
    return done
