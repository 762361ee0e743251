"""Labelled near-misses stay apart and labelled repetitions come together, with the similarity that the model really gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.stages.embed.claims import same_claim
from memory_assets_tests.labelled import labelled

PAIRS = labelled(__file__)
"""Near-misses and repetitions, the newer statement first."""


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def cosine(embedder: LocalEmbedder, a: str, b: str) -> float:
    return float(embedder.encode_query(a) @ embedder.encode_query(b))


@pytest.mark.parametrize(("newer", "older"), PAIRS["near misses"])
def test_a_near_miss_is_another_claim_whichever_came_first(
    embedder: LocalEmbedder, newer: str, older: str
):
    similarity = cosine(embedder, newer, older)
    assert same_claim(newer, older, similarity) is None
    assert same_claim(older, newer, similarity) is None


@pytest.mark.parametrize(("newer", "older"), PAIRS["repetitions"])
def test_a_repetition_in_other_words_is_the_same_claim(
    embedder: LocalEmbedder, newer: str, older: str
):
    assert same_claim(newer, older, cosine(embedder, newer, older)) is not None


@pytest.mark.parametrize("lost", PAIRS["lost values"])
def test_a_newer_wording_without_a_specific_of_the_older_one_does_not_absorb_it(lost: str):
    assert same_claim("Use port for the db.", lost, 0.99) is None


@given(st.text(min_size=1, max_size=200))
def test_the_same_words_are_the_same_claim_at_any_similarity(text: str):
    assert same_claim(text, text, 0.0) == "same words"


def test_a_sentence_that_gives_something_up_is_not_the_one_that_asserted_it():
    assert (
        same_claim(
            "We moved from Jenkins to Buildkite for make check.", "Jenkins runs make check.", 0.95
        )
        is None
    )
    assert (
        same_claim("Always use uv, never pip.", "Use uv, not pip.", 0.95)
        == "same words in another order"
    )
