"""The rows with the best scores, of equal scores the first ones, however many rows there are."""

import numpy as np
import pytest

from memory_assets.text.best_rows import best_rows


@pytest.mark.parametrize("count", [1, 7, 64, 100, 5_000])
@pytest.mark.parametrize("most", [1, 3, 60, 700])
@pytest.mark.parametrize("values", [2, 50, 10**6])
def test_they_are_those_of_a_sort(count: int, most: int, values: int):
    scores = np.random.default_rng(count + most).integers(values, size=count).astype(np.float32)
    assert best_rows(scores, most).tolist() == sorted(
        np.argsort(-scores, kind="stable")[:most].tolist()
    )


def test_rows_that_must_not_be_found_come_last():
    scores = np.where(np.arange(1_000) % 100 == 99, 1.0, -np.inf)
    assert best_rows(scores, 3).tolist() == [99, 199, 299] and set(range(99, 1_000, 100)) <= {
        *best_rows(scores, 12).tolist()
    }
