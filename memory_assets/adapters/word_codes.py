"""Short codes for what the words of a text mean in it: 48 signed bytes for each word piece worth comparing.

A vector of a whole passage blurs what its words say; comparing word by word (late interaction: Khattab and Zaharia 2020) finds
more, and MiniLM computes the states of all words anyway. They are projected on the 48 directions in which the states of
the model's own vocabulary differ most, brought to unit length, and rounded to bytes, a 32nd of their size as float32.
`word_codes.npy` holds the directions of the built-in model; `python -m memory_assets.adapters.make_word_codes` makes it
again from the weights alone. Stop words and punctuation have no code.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from memory_assets.text.terms import STOP_WORDS

FILE = Path(__file__).with_suffix(".npy")
SCALE = 254.0
"""A coordinate of a unit vector in 48 dimensions is seldom beyond ±0.5, which becomes ±127."""

VOCABULARY = 12_000
"""Word pieces, the most frequent first, that the directions are found from."""


def encode_words(states: np.ndarray, pieces: Sequence[str]) -> np.ndarray:
    """Returns the codes of the pieces that say something (of all, where none does); int8, shape (pieces, 48)."""
    spoken = [place for place, piece in enumerate(pieces) if not _is_silent(piece)] or list(range(len(pieces)))
    projected = unit(unit(states[spoken]) @ directions())
    return np.rint(np.clip(projected * SCALE, -127, 127)).astype(np.int8)


def unit(rows: np.ndarray) -> np.ndarray:
    """Returns the rows at unit length."""
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)


@cache
def directions() -> np.ndarray:
    """Returns the directions, float32, shape (384, 48)."""
    return np.load(FILE).astype(np.float32)


@cache
def _is_silent(piece: str) -> bool:
    """Returns whether a piece is a stop word, punctuation, or a mark of the tokenizer's own."""
    return piece in STOP_WORDS or not re.search(r"\w", piece) or re.fullmatch(r"\[\w+\]", piece) is not None
