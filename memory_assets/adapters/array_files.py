"""Arrays in memory-mapped files, and many short texts in one array."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import overload

import numpy as np

MAPPED_BYTES = 4_096
"""Larger files are mapped; small ones, and empty ones, which cannot be mapped, are read."""


class Names(Sequence[str]):
    """Texts in one array of bytes, decoded on access."""

    def __init__(self, content: np.ndarray, starts: np.ndarray) -> None:
        self.content, self.starts = content, starts

    @classmethod
    def of(cls, names: Iterable[str]) -> "Names":
        """Returns the names, packed."""
        encoded = [name.encode() for name in names]
        starts = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(one) for one in encoded], out=starts[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        return self.content[self.starts[at] : self.starts[at + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        content, starts = self.content.tobytes(), self.starts.tolist()
        return (content[start:end].decode() for start, end in pairwise(starts))

    @cached_property
    def places(self) -> dict[str, int]:
        """Number of each name."""
        return {name: at for at, name in enumerate(self)}


def read_array(path: Path) -> np.ndarray:
    """Returns the array in the file; raises `OSError` or `ValueError` if it is incomplete."""
    mapped = path.stat().st_size > MAPPED_BYTES
    return np.asarray(np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False))


def write_array(path: Path, array: np.ndarray) -> None:
    """Writes the array into a file that only its owner can read; readers of a replaced file keep the old one."""
    path.unlink(missing_ok=True)
    np.save(path, array, allow_pickle=False)
    path.chmod(0o600)


def read_names(path: Path) -> Names:
    """Returns the names in the file and its `.starts.npy`; raises like `read_array`."""
    return Names(read_array(path), read_array(path.with_suffix(".starts.npy")))


def write_names(path: Path, names: Names) -> None:
    """Writes the names into the file and its `.starts.npy`."""
    write_array(path, names.content)
    write_array(path.with_suffix(".starts.npy"), names.starts)
