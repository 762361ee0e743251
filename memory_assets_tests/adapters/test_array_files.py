"""Arrays in files, read by several threads."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from memory_assets.adapters.array_files import MAPPED_BYTES, Names, read_fields, write_fields


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
