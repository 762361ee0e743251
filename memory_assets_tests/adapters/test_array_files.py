"""Arrays in files, read by several threads."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from memory_assets.adapters.array_files import MAPPED_BYTES, Names, read_fields, write_fields

THREADS = 6


@dataclass(frozen=True)
class Kept:
    names: Names
    small: np.ndarray
    large: np.ndarray


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    write_fields(
        tmp_path, Kept(Names.of(["tea", "", "Kräuter"]), np.arange(3), np.arange(MAPPED_BYTES))
    )
    return tmp_path


def test_a_record_comes_back_as_it_was_written(kept: Path):
    read = read_fields(Kept, kept)
    assert list(read.names) == ["tea", "", "Kräuter"]
    assert (read.small.tolist(), read.large.tolist()) == ([0, 1, 2], list(range(MAPPED_BYTES)))


def test_no_two_threads_read_a_header_at_once(kept: Path, monkeypatch: pytest.MonkeyPatch):
    load, inside, most = np.load, list[int](), list[int]()

    def watched(*args, **how):
        inside.append(1)
        most.append(len(inside))
        sleep(0.001)
        try:
            return load(*args, **how)
        finally:
            inside.pop()

    monkeypatch.setattr(np, "load", watched)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda _: read_fields(Kept, kept), range(THREADS)))
    assert max(most) == 1
