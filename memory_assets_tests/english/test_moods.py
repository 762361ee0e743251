"""A statement says what is or was; everything else is taken for an order."""

import pytest

from memory_assets.english.moods import is_statement


@pytest.mark.parametrize(
    "sentence",
    [
        "The token expires after a day.",
        "Postgres listens on port 5433.",
        "Refresh tokens expire after a month.",
        "`docker pull` fails behind the proxy.",
        "In CI, the cache is cold.",
        "We moved the queue to Redis.",
        "Root cause: the index was missing.",
    ],
)
def test_a_thing_with_a_finite_verb_is_a_statement(sentence: str):
    assert is_statement(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Refresh the tokens that are old.",
        "Always format the code.",
        "Every session starts with the mirror.",
        "Agents run with the flag.",
        "The cache must be warm.",
        "The build is slow, so skip the tests.",
        "The tests are optional.",
        "Siempre usa uv.",
    ],
)
def test_what_orders_or_permits_or_cannot_be_told_is_none(sentence: str):
    assert not is_statement(sentence)
