"""The rows with the best scores, of equal scores the first ones, however many rows there are."""

import numpy as np

from memory_assets.text.best_rows import best_rows


def test_rows_that_must_not_be_found_come_last():
    scores = np.where(np.arange(1_000) % 100 == 99, 1.0, -np.inf)
    assert best_rows(scores, 3).tolist() == [99, 199, 299] and set(range(99, 1_000, 100)) <= {
        *best_rows(scores, 12).tolist()
    }
