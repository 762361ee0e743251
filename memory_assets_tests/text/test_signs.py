"""Signs of vectors, of any number: those that differ in the fewest, and the products with the vectors themselves."""

import numpy as np
import pytest
from pytest import MonkeyPatch

from memory_assets.text import signs
from memory_assets.text.signs import count_differing, fewest, products, signs_of


@pytest.mark.parametrize("rows", [1, 9, 100])
def test_what_is_computed_of_a_few_rows_at_once_is_as_of_all(rows: int, monkeypatch: MonkeyPatch):
    monkeypatch.setattr(signs, "ROWS_AT_ONCE", 8)
    monkeypatch.setattr(signs, "VECTORS_AT_ONCE", 3)
    vectors = np.random.default_rng(rows).standard_normal((rows, 70)).astype(np.float32)
    asked = vectors[0]
    differing = count_differing(signs_of(vectors), asked)
    assert differing.tolist() == ((vectors > 0) != (asked > 0)).sum(axis=1).tolist()
    some = np.arange(0, rows, 2)
    assert products(vectors, some, asked) == pytest.approx(vectors[some] @ asked, abs=1e-5)


def test_the_fewest_leave_out_those_above_the_highest():
    differing = np.array([3, 1, 9, 2, 2, 9], dtype=np.uint16)
    assert fewest(differing, 8, 2).tolist() == [1, 3, 4] and fewest(differing, 8, 6).tolist() == [0, 1, 3, 4]
