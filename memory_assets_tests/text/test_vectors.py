"""Vectors, of any number, and their signs: those that differ in the fewest, and the products with the vectors themselves."""

import numpy as np
import pytest
from pytest import MonkeyPatch

from memory_assets.text import vectors as text_vectors
from memory_assets.text.vectors import count_differing, gather, product_table, products, signs_of


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("rows", [1, 9, 100])
def test_what_is_computed_of_a_few_rows_at_once_is_as_of_all(
    rows: int, threads: str, monkeypatch: MonkeyPatch
):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    for name, value in (
        ("ROWS_AT_ONCE", 8),
        ("VECTORS_AT_ONCE", 3),
        ("LEAST_SIGNS", 5),
        ("LEAST_VECTORS", 2),
    ):
        monkeypatch.setattr(text_vectors, name, value)
    vectors = np.random.default_rng(rows).standard_normal((rows, 70)).astype(np.float32)
    asked = vectors[0]
    differing = count_differing(signs_of(vectors), asked)
    assert differing.tolist() == ((vectors > 0) != (asked > 0)).sum(axis=1).tolist()
    some = np.arange(0, rows, 2)
    assert products(vectors, some, asked) == pytest.approx(vectors[some] @ asked, abs=1e-5)
    assert products(vectors, None, asked) == pytest.approx(vectors @ asked, abs=1e-5)
    assert products(vectors.astype(np.float16), some, asked) == pytest.approx(
        vectors[some] @ asked, abs=0.1
    )
    assert gather(vectors, some).tolist() == vectors[some].tolist()


def test_products_of_many_vectors_are_those_of_blocks(monkeypatch: MonkeyPatch):
    monkeypatch.setattr(text_vectors, "MOST_MULTIPLIED", 50)
    random = np.random.default_rng(1)
    few, many = (random.integers(-127, 128, (count, 8)) for count in (3, 17))
    table = product_table(few.astype(np.int8), many.astype(np.float32))
    assert table.tolist() == (few @ many.T).tolist()
