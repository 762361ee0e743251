"""How far a likelihood is from the share of questions that are answerable."""

import pytest

from memory_assets_tests.bench.honesty import calibration_error


def test_a_likelihood_that_is_the_share_has_no_error():
    likelihoods, is_true = [0.25] * 4 + [0.75] * 4, [True] + [False] * 3 + [True] * 3 + [False]
    assert calibration_error(likelihoods, is_true) == (
        pytest.approx(0.0),
        [(0.25, 0.25), (0.75, 0.75)],
    )


def test_one_that_is_always_sure_is_wrong_by_half_whatever_the_mixture():
    assert calibration_error([1.0] * 10, [True] * 9 + [False])[0] == pytest.approx(0.5)
