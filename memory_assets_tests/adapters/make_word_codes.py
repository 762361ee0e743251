"""Generates `memory_assets/adapters/word_codes.npy`, the directions on which word vectors of the built-in model are projected."""

import re

import numpy as np
from tokenizers import Tokenizer

from memory_assets.adapters.local_embedder import DEFAULT_MODEL, model_folder
from memory_assets.adapters.minilm import MiniLM
from memory_assets.adapters.word_codes import FILE, unit
from memory_assets.schema.protocols import CODE_BYTES

VOCABULARY = 12_000
"""Number of word pieces, the most frequent first, that the directions are computed from."""


def find_directions(states: np.ndarray) -> np.ndarray:
    """Returns the 48 principal directions of the unit states, the strongest first; shape (width, 48)."""
    states = unit(states.astype(np.float64))
    _, vectors = np.linalg.eigh(states.T @ states)
    found = vectors[:, ::-1][:, :CODE_BYTES]
    return found * np.sign(
        found[np.abs(found).argmax(axis=0), range(CODE_BYTES)]
    )  # else their signs are random


def main() -> None:
    """Writes the file of directions from the built-in model."""
    folder = model_folder(DEFAULT_MODEL)
    model, vocabulary = (
        MiniLM(folder),
        Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab(),
    )
    pieces = sorted(
        (id, piece) for piece, id in vocabulary.items() if re.fullmatch("[a-z]{3,}", piece)
    )
    states = np.stack([model.read(piece).states[1] for _, piece in pieces[:VOCABULARY]])
    np.save(FILE, find_directions(states).astype(np.float16))


if __name__ == "__main__":
    main()
