"""Each distinct text is encoded once, and known vectors only stand in for the model that made them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from memory_assets.stages.embed.encode import encode_day, matrix_of
from memory_assets_tests.factories import START, ReadsWhole, frame, row

DAY = START.date()


@dataclass
class CountingEmbedder(ReadsWhole):
    version: str = "1"
    name: str = "counting"
    dimension: int = 2
    asked: list[str] = field(default_factory=list)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.array([[1.0, len(text)] for text in texts], dtype=np.float32)

    def encode_query(self, text: str) -> np.ndarray:
        return self.encode([text])[0]


def observed(*texts: str) -> pl.DataFrame:
    return frame(
        "observations", *(row("observations", id=str(n), text=text, text_hash=f"h-{text}") for n, text in enumerate(texts))
    )


def test_a_text_that_occurs_twice_is_encoded_once_and_short_ones_first():
    embedder = CountingEmbedder()
    made = encode_day(DAY, observed("longer", "ab", "longer"), embedder)
    assert embedder.asked == ["ab", "longer"]
    assert made["text_hash"].to_list() == ["h-ab", "h-longer"]
    assert made["vector"].to_list() == [[1.0, 2.0], [1.0, 6.0]]


def test_a_known_vector_is_not_made_again():
    first = CountingEmbedder()
    known = encode_day(DAY, observed("one"), first)
    second = CountingEmbedder()
    made = encode_day(DAY, observed("one", "three"), second, known)
    assert second.asked == ["three"]
    assert made.equals(encode_day(DAY, observed("three", "one"), CountingEmbedder()))


def test_vectors_of_other_weights_are_made_again():
    known = encode_day(DAY, observed("one"), CountingEmbedder(version="1"))
    embedder = CountingEmbedder(version="2")
    assert encode_day(DAY, observed("one"), embedder, known)["model_version"].to_list() == ["2"]
    assert embedder.asked == ["one"]


def test_a_day_without_observations_asks_nothing():
    embedder = CountingEmbedder()
    assert encode_day(DAY, observed(), embedder).is_empty()
    assert embedder.asked == []


def test_a_text_without_a_vector_is_a_row_of_zeros():
    made = encode_day(DAY, observed("one"), CountingEmbedder())
    assert matrix_of(pl.Series(["h-one", "h-unknown", "h-one"]), made).tolist() == [[1.0, 3.0], [0.0, 0.0], [1.0, 3.0]]
