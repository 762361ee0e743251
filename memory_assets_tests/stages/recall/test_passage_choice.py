"""Of a large corpus only some passages are compared one by one, and the first results are those of comparing all."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from pytest import MonkeyPatch

from memory_assets.adapters.text_arrays import TextArrays, change_arrays, empty_arrays
from memory_assets.stages.recall import passage_choice
from memory_assets.stages.recall.layout import Layout
from memory_assets.stages.recall.message_search import Origin, SearchQuery, find_messages
from memory_assets_tests.factories import index_rows

ROWS, SESSION, DIMENSION = 6_000, 20, 384
WORDS = [f"word{number}" for number in range(600)]


@pytest.fixture(scope="module")
def texts() -> TextArrays:
    """Passages of some words, each near the direction of its words."""
    numbers = np.random.default_rng(4)
    meanings = numbers.standard_normal((len(WORDS), DIMENSION))
    said = np.minimum(numbers.pareto(0.6, (ROWS, 4)).astype(int), len(WORDS) - 1)
    vectors = np.stack([meanings[own].sum(axis=0) for own in said]) + numbers.standard_normal(
        (ROWS, DIMENSION)
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = pl.DataFrame(
        {
            "id": [f"m{number:05d}#0" for number in range(ROWS)],
            "corpus": ["messages"] * ROWS,
            "text": [
                " ".join([*(WORDS[one] for one in own), f"n{number}"])
                for number, own in enumerate(said)
            ],
            "parent": [f"m{number:05d}" for number in range(ROWS)],
            "group": [f"s{number // SESSION:04d}" for number in range(ROWS)],
            "order": [number % SESSION for number in range(ROWS)],
            "vector": vectors.astype(np.float32).tolist(),
        }
    )
    return change_arrays(empty_arrays(), index_rows(rows), ())


@pytest.fixture(autouse=True)
def few(monkeypatch: MonkeyPatch) -> None:
    for name, value in (("CHOSEN", 200), ("BY_SIGNS", 600), ("FARTHEST", 100)):
        monkeypatch.setattr(passage_choice, name, value)


def query_of(texts: TextArrays, row: int, *words: str) -> SearchQuery:
    return SearchQuery(" ".join(words), dict.fromkeys(words, 1.0), texts.vectors[row])


def first(texts: TextArrays, query: SearchQuery, most: int, **how: Any) -> list[str]:
    found = find_messages(
        query, texts, Layout(texts, 2), how.pop("origins", []), how.get("allowed"), most=most
    )
    assert all(texts.ids[one.row] == one.passage_id for one in found)
    return [one.passage_id for one in found[:5]]


def test_the_first_results_are_those_of_comparing_all(texts: TextArrays):
    shares = []
    for row in range(0, ROWS, 151):
        query = query_of(texts, row, WORDS[row % 90], WORDS[row % 40])
        whole = first(texts, query, ROWS)
        shares.append(len({*whole} & {*first(texts, query, 100)}) / 5)
    assert np.mean(shares) >= 0.95


def test_only_allowed_passages_and_those_of_memories_are_found(texts: TextArrays):
    allowed = texts.groups == 17
    query = query_of(texts, 4_000, "word7", "word31")
    found = first(texts, query, 100, allowed=allowed)
    assert found and all(
        id in {texts.ids[int(row)] for row in np.flatnonzero(allowed)} for id in found
    )
    assert found == first(texts, query, ROWS, allowed=allowed)
    zebra, origins = SearchQuery("zebra", {"zebra": 1.0}), [Origin("s0123", 0, 1.0)]
    assert first(texts, zebra, 100, origins=origins) == first(texts, zebra, ROWS, origins=origins)
