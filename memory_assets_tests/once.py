"""What several tests need and one of them builds: a folder shared by all workers of a run; and samples of long matrices."""

import fcntl
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random, SystemRandom
from typing import TypeVar

import pytest

Case = TypeVar("Case")

TEST_ALL = os.environ.get("TEST_ALL") == "1"
"""Whether long matrices run whole (`make test-all`) or as a sample."""


def only_whole(reason: str) -> pytest.MarkDecorator:
    """Marks a test of a minute that runs by `make test-all` alone, with what holds the same in every run."""
    return pytest.mark.skipif(not TEST_ALL, reason=f"by `make test-all`; {reason}")


_RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID")
SEED = int(
    os.environ.get("TEST_SEED") or (int(_RUN[:7], 16) if _RUN else SystemRandom().randrange(10**9))
)
"""Draws the samples, the same in all workers of a run; a failure names it, and `TEST_SEED` gives it again."""


def sampled(matrix: Sequence[Case], count: int) -> list[Case]:
    """Returns that many of the cases, in their order, or all of them under `make test-all`."""
    if TEST_ALL or count >= len(matrix):
        return list(matrix)
    return [matrix[at] for at in sorted(Random(SEED).sample(range(len(matrix)), count))]


def built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """Returns the folder of that name, built by the first worker that asks; nobody may change it."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").is_file():
            folder.mkdir(exist_ok=True)
            build(folder)
            (folder / "built").touch()
    return folder
