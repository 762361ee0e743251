"""Whether an answer is in memory: more relevant, more likely; more unheard words, less, the more so in a large memory."""

from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.recall.known import KNOWN, probability_known

SHARE, COUNT = st.floats(0, 1), st.integers(0, 10**6)


@given(st.floats(0, 2), SHARE, COUNT)
def test_it_is_a_probability(relevance: float, unmet: float, texts: int):
    assert 0 <= probability_known(relevance, unmet, texts) <= 1


@given(st.floats(0, 1.5), SHARE, COUNT)
def test_more_relevance_makes_it_likelier_and_an_unknown_name_less_likely(relevance: float, unmet: float, texts: int):
    likely = probability_known(relevance, unmet, texts)
    assert probability_known(relevance + 0.1, unmet, texts) > likely
    assert probability_known(relevance, unmet, texts, names_unknown=True) < likely


def test_unheard_words_tell_little_in_a_small_memory_and_much_in_a_large_one():
    assert probability_known(0.5, 0.8, 50) > 0.4
    assert probability_known(0.5, 0.8, 50_000) < KNOWN
