"""A statement says what is or was; everything else is taken for an order."""

import pytest

from memory_assets.english.moods import is_statement
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)


@pytest.mark.parametrize("sentence", LABELLED["statements"])
def test_a_thing_with_a_finite_verb_is_a_statement(sentence: str):
    assert is_statement(sentence)


@pytest.mark.parametrize("sentence", LABELLED["others"])
def test_what_orders_or_permits_or_cannot_be_told_is_none(sentence: str):
    assert not is_statement(sentence)
