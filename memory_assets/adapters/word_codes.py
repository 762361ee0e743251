"""Contextual word codes for late interaction (Khattab and Zaharia 2020): 48 signed bytes per word
piece.

Comparing word by word finds more than comparing passage vectors, and MiniLM computes the states of
all word pieces anyway. A state is projected on the 48 directions in which the states of the model's
vocabulary differ most, normalised, and rounded to bytes: a 32nd of its size as float32.
`word_codes.npy` contains the directions of the built-in model;
`memory_assets_tests.adapters.make_word_codes` regenerates it from the weights. Stop words and
punctuation have no code.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from memory_assets.text.terms import STOP_WORDS
from memory_assets.text.vectors import product_table

FILE = Path(__file__).with_suffix(".npy")
SCALE = 254.0
"""Maps ±0.5 to ±127: coordinates of unit vectors in 48 dimensions are rarely larger."""

CONTINUED = "##"
"""Start of a piece that continues the word of the piece before it."""


def encode_words(states: np.ndarray, pieces: Sequence[str]) -> np.ndarray:
    """Returns the codes of the content words (of all words if there are none), int8, shape (pieces,
    48).

    Computed with twice the precision of the states: the order in which threads add numbers then
    does not change the rounded result.
    """
    content = unit(states[_content(pieces)].astype(np.float64))
    projected = unit(product_table(directions().T, content).T)
    return np.rint(np.clip(projected * SCALE, -127, 127)).astype(np.int8)


def spellings(pieces: Sequence[str]) -> list[str]:
    """Returns the word to which each piece with a code belongs."""
    words = list[str]()
    numbers = list[int]()
    for piece in pieces:
        if piece.startswith(CONTINUED) and words:
            words[-1] += piece.removeprefix(CONTINUED)
        else:
            words.append(piece)
        numbers.append(len(words) - 1)
    return [words[numbers[place]] for place in _content(pieces)]


def _content(pieces: Sequence[str]) -> list[int]:
    """Returns the places of the pieces that have a code."""
    places = [place for place, piece in enumerate(pieces) if not _is_stop(piece)]
    return places or list(range(len(pieces)))


def unit(rows: np.ndarray) -> np.ndarray:
    """Returns the rows at unit length."""
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)


@cache
def directions() -> np.ndarray:
    """Returns the directions, float32, shape (384, 48)."""
    return np.load(FILE).astype(np.float32)


@cache
def _is_stop(piece: str) -> bool:
    """Returns whether a piece is a stop word, punctuation, or a special token."""
    return (
        piece in STOP_WORDS
        or not re.search(r"\w", piece)
        or re.fullmatch(r"\[\w+\]", piece) is not None
    )
