"""A word's code is short, says what the word means beside the others, and is the same in a question."""

import numpy as np
import pytest

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.adapters.word_codes import SCALE, directions, encode_words
from memory_assets.schema.protocols import CODE_BYTES
from memory_assets.stages.recall.message_search import match_words
from memory_assets_tests.adapters.make_word_codes import find_directions


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def codes(embedder: LocalEmbedder, text: str) -> np.ndarray:
    return embedder.read_query(text).words


def test_a_code_is_a_unit_vector_in_bytes(embedder: LocalEmbedder):
    words = codes(embedder, "Dependencies are installed with uv, never with pip.")
    assert (words.dtype, words.shape[1]) == (np.int8, CODE_BYTES)
    assert np.linalg.norm(words / SCALE, axis=1) == pytest.approx(1.0, abs=0.03)


def test_stop_words_and_punctuation_have_no_code_unless_there_is_nothing_else(
    embedder: LocalEmbedder,
):
    assert len(codes(embedder, "the kettle!")) == len(codes(embedder, "kettle")) == 1
    assert len(codes(embedder, "the")) > 0


def test_each_code_of_a_question_says_which_word_it_is_a_piece_of(embedder: LocalEmbedder):
    read = embedder.read_query("Which kubectl version?")
    assert len(read.spellings) == len(read.words) > 2
    assert set(read.spellings) == {"kubectl", "version"}


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


def test_reading_gives_the_vector_of_encoding(embedder: LocalEmbedder):
    text = "Never force-push to main."
    assert embedder.read_query(text).vector == pytest.approx(embedder.encode_query(text), abs=1e-6)


@pytest.mark.slow
def test_both_ways_to_run_the_network_give_the_same_codes(embedder: LocalEmbedder):
    texts = [
        "Dependencies are installed with uv, never with pip.",
        "x",
        "",
        "Never force-push to main. " * 60,
    ]
    for text, read in zip(texts, embedder.read(texts), strict=True):
        asked = embedder.read_query(text)
        assert np.array_equal(asked.vector, read.vector)
        assert np.array_equal(asked.words, read.words)


def test_directions_are_those_in_which_states_differ_most():
    draw = np.random.default_rng(7)
    spread = np.r_[np.full(CODE_BYTES, 5.0), np.full(12, 0.1)]
    found = find_directions(draw.normal(size=(400, CODE_BYTES + 12)) * spread)
    assert found.shape == (CODE_BYTES + 12, CODE_BYTES)
    assert np.abs(found[CODE_BYTES:]).max() < 0.1
    assert found.T @ found == pytest.approx(np.eye(CODE_BYTES), abs=1e-9)


def test_the_directions_of_the_built_in_model_are_at_right_angles():
    assert directions().T @ directions() == pytest.approx(np.eye(CODE_BYTES), abs=0.01)


def test_of_nothing_but_silent_words_all_are_kept():
    states = np.eye(384, dtype=np.float32)[:3]
    assert len(encode_words(states, ["[CLS]", "the", "!"])) == 3
    assert len(encode_words(states, ["[CLS]", "kettle", "!"])) == 1


def test_codes_do_not_depend_on_how_many_words_are_computed_at_once():
    states = np.random.default_rng(4).normal(size=(8_000, 384)).astype(np.float32)
    whole = encode_words(states, ["word"] * len(states))
    for size in (1, 7, 60):
        some = [
            encode_words(states[at : at + size], ["word"] * size) for at in range(0, 2_100, size)
        ]
        assert np.array_equal(np.concatenate(some), whole[:2_100])
