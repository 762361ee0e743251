"""Vectors, of any number, and their signs: those that differ in the fewest, and the products with the vectors themselves."""

import numpy as np
import pytest
from pytest import MonkeyPatch

from memory_assets.text import vectors as text_vectors
from memory_assets.text.vectors import count_differing, fewest, gather, products, signs_of


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


def test_the_fewest_leave_out_those_above_the_highest():
    differing = np.array([3, 1, 9, 2, 2, 9], dtype=np.uint16)
    assert fewest(differing, 8, 2).tolist() == [1, 3, 4] and fewest(differing, 8, 6).tolist() == [
        0,
        1,
        3,
        4,
    ]


@pytest.mark.parametrize("seed", range(20))
def test_the_fewest_are_the_same_whatever_the_sample_says(seed: int):
    random = np.random.default_rng(seed)
    differing = random.integers(0, random.integers(2, 60), 5_000).astype(np.uint16)
    differing[:: text_vectors.SAMPLED] = random.integers(0, 60)  # the sample is misleading
    for most in (1, 40, 1_000, 4_999, 5_000, 6_000):
        limits = [least for least in range(51) if (differing <= least).sum() >= most] or [50]
        assert (
            fewest(differing, 50, most).tolist() == np.flatnonzero(differing <= limits[0]).tolist()
        )
