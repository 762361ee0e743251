"""Vectors of texts that no published index contains yet: one file per vector, named by the hash of
its text.

Files are replaced atomically, and the file of a text always has the same content, so several
processes may write it at once.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from memory_assets.text.files import write_atomically


class VectorFiles:
    """The vectors of short-lived texts, one folder per model."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, model: str, text_hash: str) -> np.ndarray | None:
        """Returns the vector that the model made of the text, or None if it is missing."""
        try:
            return np.frombuffer((self._folder / model / text_hash).read_bytes(), dtype="<f4")
        except FileNotFoundError:
            return None

    def write(self, model: str, text_hash: str, vector: np.ndarray) -> None:
        """Stores the vector that the model made of the text."""
        write_atomically(
            self._folder / model / text_hash, np.asarray(vector, dtype="<f4").tobytes()
        )

    def remove(self, text_hashes: Iterable[str]) -> None:
        """Removes the vectors of these texts."""
        for text_hash in set(text_hashes):
            for path in self._folder.glob(f"*/{text_hash}"):
                path.unlink(missing_ok=True)

    def remove_all(self) -> None:
        """Removes every vector."""
        shutil.rmtree(self._folder, ignore_errors=True)
