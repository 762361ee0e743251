"""The list of results ends with what belongs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memory_assets.stages.recall.cut import Evidence, belongs, relevance

COUNT = 6
SHARES = arrays.arrays(np.float64, COUNT, elements=st.floats(0, 1))


def evidence(cosine: list[float], coverage: list[float] | None = None, away: list[bool] | None = None, **changes) -> Evidence:
    none = np.zeros(len(cosine))
    said = none if coverage is None else np.array(coverage)
    return Evidence(np.array(cosine), said, np.array(away) if away else none.astype(bool), **changes)


def kept(found: Evidence, **how) -> list[bool]:
    return belongs(found, relevance(found), **how).tolist()


def test_what_is_far_behind_the_best_stays_out():
    assert kept(evidence([0.8, 0.7, 0.4])) == [True, True, False]


def test_when_nothing_is_near_nothing_belongs():
    assert kept(evidence([0.25, 0.2])) == [False, False]
    assert kept(evidence([])) == []


def test_a_doubt_asks_for_more():
    assert kept(evidence([0.5]), doubt=0.25) == [False]


def test_what_says_as_much_as_any_belongs_though_its_meaning_is_far():
    assert kept(evidence([0.5, 0.0, 0.0], [0.5, 0.5, 0.1])) == [True, True, False]


def test_another_project_yields_to_this_one_and_answers_where_this_one_does_not():
    assert kept(evidence([0.5, 0.6], away=[False, True])) == [True, False]
    assert kept(evidence([0.1, 0.6], away=[False, True])) == [False, True]


def test_who_names_the_number_leaves_its_twins_behind():
    found = evidence([0.57, 0.60], [1.0, 0.4], names_exact=np.array([True, False]))
    assert kept(found) == [True, False]


def test_a_persons_name_alone_is_no_answer():
    assert kept(evidence([0.45], is_person_named=True)) == [False]


def test_few_memories_left_by_filters_are_looked_at_more_kindly():
    assert kept(evidence([0.2, 0.15]), filtered_to=2) == [True, True]


@given(SHARES, SHARES, arrays.arrays(np.bool_, COUNT))
def test_the_best_of_here_is_never_left_out_for_a_lesser_one_of_here(
    cosine: np.ndarray, coverage: np.ndarray, away: np.ndarray
):
    found = Evidence(cosine, coverage, away)
    relevant = relevance(found)
    stays = belongs(found, relevant)
    assert stays.shape == (COUNT,)
    at_home = np.flatnonzero(~away)
    for one in at_home:
        for other in at_home:
            if stays[other] and relevant[one] > relevant[other] and coverage[one] > coverage[other]:
                assert stays[one]


@pytest.mark.parametrize(("cosine", "coverage"), [(-0.3, 0.0), (0.0, 0.0)])
def test_relevance_is_never_below_nothing(cosine: float, coverage: float):
    assert relevance(evidence([cosine], [coverage])).tolist() == [0.0]
