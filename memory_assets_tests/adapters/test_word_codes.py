"""A word's code is short, says what the word means beside the others, and is the same in a question."""

import numpy as np
import pytest

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.adapters.word_codes import SCALE
from memory_assets.schema.protocols import CODE_BYTES
from memory_assets.stages.recall.message_search import match_words


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def codes(embedder: LocalEmbedder, text: str) -> np.ndarray:
    return embedder.read_query(text).words


def test_a_code_is_a_unit_vector_in_bytes(embedder: LocalEmbedder):
    words = codes(embedder, "Dependencies are installed with uv, never with pip.")
    assert (words.dtype, words.shape[1]) == (np.int8, CODE_BYTES)
    assert np.linalg.norm(words / SCALE, axis=1) == pytest.approx(1.0, abs=0.03)


def test_what_a_word_means_depends_on_what_stands_beside_it(embedder: LocalEmbedder):
    asked, money, river = (
        codes(embedder, text)
        for text in (
            "Which bank lends the money?",
            "The bank gave us a loan.",
            "We sat on the bank of the river.",
        )
    )
    fits = match_words(asked, [money, river]).mean(axis=0)
    assert fits[0] > fits[1] + 0.05 * SCALE**2
