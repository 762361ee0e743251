"""Each distinct text is encoded once, and known vectors only stand in for the model that made them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from memory_assets.errors import ModelError
from memory_assets.stages.embed import encode
from memory_assets.stages.embed.encode import (
    COOL_DOWN,
    encode_passages,
    make_passages,
    retry_at,
)
from memory_assets_tests.factories import START, ReadsWhole, frame, message, row

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
        "observations",
        *(
            row("observations", id=str(n), text=text, text_hash=f"h-{text}")
            for n, text in enumerate(texts)
        ),
    )


def embeddings_of(*given) -> pl.DataFrame:
    return encode.encode_day(*given, now=START)["embeddings"]


@dataclass
class FailingEmbedder(CountingEmbedder):
    """Fails for a batch with a bad text, and gives no usable vector for an odd one."""

    bad: frozenset[str] = frozenset({"bad"})
    odd: frozenset[str] = frozenset({"odd"})

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        made = super().encode(texts)
        if not self.bad.isdisjoint(texts):
            raise RuntimeError(f"cannot encode {texts}")
        made[[text in self.odd for text in texts]] = np.nan
        return made


def failing(
    texts: Sequence[str], known=None, *, now: datetime = START, **how
) -> tuple[list[str], list[tuple], FailingEmbedder]:
    embedder = FailingEmbedder(**how)
    found = encode.encode_day(DAY, observed(*texts), embedder, *(known or ()), now=now)
    failures = (
        found["embedding_failures"].select("text_hash", "attempts", "problem", "failed_at").rows()
    )
    return found["embeddings"]["text_hash"].to_list(), failures, embedder


def test_a_text_that_cannot_be_encoded_keeps_no_other_from_its_vector():
    vectors, failures, _ = failing(["one", "bad", "two", "odd", "three"])
    assert vectors == ["h-one", "h-three", "h-two"]
    assert failures == [
        ("h-bad", 1, "RuntimeError", START),
        ("h-odd", 1, "no usable vector", START),
    ]


def test_a_failed_text_is_tried_again_no_sooner_than_after_five_minutes():
    texts = ["one", "bad"]
    first = encode.encode_day(DAY, observed(*texts), FailingEmbedder(), now=START)
    known = first["embeddings"], first["embedding_failures"]
    assert retry_at(known[1]) == START + timedelta(minutes=5)

    early, waiting, embedder = failing(
        [*texts, "new"], known, now=START + COOL_DOWN - timedelta(seconds=1)
    )
    assert (early, waiting) == (["h-new", "h-one"], [("h-bad", 1, "RuntimeError", START)])
    assert embedder.asked == ["new"]

    again, failed, embedder = failing(texts, known, now=START + COOL_DOWN)
    assert (again, failed) == (["h-one"], [("h-bad", 2, "RuntimeError", START + COOL_DOWN)])
    assert embedder.asked == ["bad"]

    repaired, left, _ = failing(texts, known, now=START + COOL_DOWN, bad=frozenset())
    assert (repaired, left) == (["h-bad", "h-one"], [])
    other, left, embedder = failing(texts, known, version="2", bad=frozenset())
    assert (other, left, sorted(embedder.asked)) == (["h-bad", "h-one"], [], ["bad", "one"])


def test_a_model_that_encodes_nothing_is_at_fault_itself():
    with pytest.raises(ModelError, match="Cannot encode any of 3 texts: cannot encode"):
        failing(["one", "two", "three"], bad=frozenset({"one", "two", "three"}))
    vectors, failures, _ = failing(["bad"])
    assert (vectors, len(failures)) == ([], 1)


def test_high_priority_and_newest_come_first():
    said = [("old", "high", 0), ("older", "medium", 1), ("new", "high", 5), ("newer", "low", 9)]
    rows = [
        row(
            "observations",
            id=text,
            text=text,
            text_hash=text,
            priority=priority,
            event_at=START + timedelta(hours=hour),
        )
        for text, priority, hour in said
    ]
    embedder = CountingEmbedder()
    encode.encode_day(DAY, frame("observations", *rows), embedder, now=START)
    assert embedder.asked == ["new", "old", "newer", "older"]


def test_a_passage_that_cannot_be_encoded_is_found_by_its_words():
    said = [message("one", message_id="a"), message("bad", 1, message_id="b")]
    messages = frame("messages", *said)
    encoded = encode_passages(DAY, messages, FailingEmbedder())["text_hash"]
    found = make_passages(DAY, messages).select(
        "message_id", pl.col("text_hash").is_in(encoded.implode())
    )
    assert found.rows() == [("a", True), ("b", False)]


def test_a_known_vector_is_not_made_again():
    first = CountingEmbedder()
    known = embeddings_of(DAY, observed("one"), first)
    second = CountingEmbedder()
    made = embeddings_of(DAY, observed("one", "three"), second, known)
    assert second.asked == ["three"]
    assert made.equals(embeddings_of(DAY, observed("three", "one"), CountingEmbedder()))
