"""Reads and writes records of arrays, one file per array, memory-mapped; `Names` is an array of
many short texts.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar, overload

import numpy as np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

_ONE_AT_A_TIME = Lock()
"""Held while a header is read: NumPy parses it with `ast`, which fails when several threads of
CPython 3.11 do so at once.
"""

MAPPED_BYTES = 4_096
"""Files above this size are mapped; smaller ones are read. (An empty file cannot be mapped.)"""


class Names(Sequence[str]):
    """Texts in one array of bytes, decoded on access."""

    def __init__(self, content: np.ndarray, starts: np.ndarray) -> None:
        self.content = content
        self.starts = starts

    @classmethod
    def of(cls, names: Iterable[str]) -> "Names":
        """Returns the names, packed."""
        encoded = [name.encode() for name in names]
        starts = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(name_bytes) for name_bytes in encoded], out=starts[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        index = range(len(self))[index]
        return self.content[self.starts[index] : self.starts[index + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        content = self.content.tobytes()
        starts = self.starts.tolist()
        return (content[start:end].decode() for start, end in pairwise(starts))

    @cached_property
    def places(self) -> dict[str, int]:
        """Each name → its number, from 0."""
        return {name: place for place, name in enumerate(self)}


def read_fields(kind: type[T], folder: Path) -> T:
    """Returns a record of this class whose fields, arrays or `Names`, are files in the folder,
    memory-mapped.

    Raises `OSError` or `ValueError` if a file is incomplete.
    """
    values = {}
    for field in fields(kind):
        read = _read_names if field.type is Names else _read
        values[field.name] = read(folder / f"{field.name}.npy")
    return kind(**values)


def write_fields(folder: Path, record: "DataclassInstance") -> None:
    """Writes each field of the record into a file of the folder that only its owner can read;
    replaces existing files.
    """
    for field in fields(record):
        value = getattr(record, field.name)
        path = folder / f"{field.name}.npy"
        if isinstance(value, Names):
            _write(path.with_suffix(".starts.npy"), value.starts)
            value = value.content
        _write(path, value)


def _read(path: Path) -> np.ndarray:
    mode = "r" if path.stat().st_size > MAPPED_BYTES else None
    with _ONE_AT_A_TIME:
        return np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False))


def _read_names(path: Path) -> Names:
    return Names(_read(path), _read(path.with_suffix(".starts.npy")))


def _write(path: Path, array: np.ndarray) -> None:
    path.unlink(missing_ok=True)  # readers of a replaced file keep the old one
    np.save(path, array, allow_pickle=False)
    path.chmod(0o600)
