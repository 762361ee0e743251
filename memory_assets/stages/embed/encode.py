"""Encodes the texts of a day: those of observations, and the passages that its messages are cut into.

Each distinct text is encoded once; known vectors are reused by the hash of their text. One vector of a long message is about
everything and near to nothing, so a message is found by its best passage. Only the words of people and assistants are cut; tool
calls and outputs are not. A passage has the role of its message: a turn of the owner, the answer that ends the assistant's
turn, or a step before it.
"""

import hashlib
import re
from collections.abc import Container, Iterator, Mapping
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Embedder

PASSAGE_CHARS = 500
"""About 125 tokens, half of what MiniLM reads. On questions about labelled sessions single sentences found less, and whole
messages much less."""

MOST_VECTORS = 24
"""Passages of one message that get a vector; the rest of longer pastes is found by its words."""

SPEAKERS = ("owner", "assistant", "subagent")

_BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)])\s)")


def encode_day(day: date, observations: pl.DataFrame, embedder: Embedder, known: pl.DataFrame | None = None) -> pl.DataFrame:
    """Returns the embeddings of the day's texts; `known` holds reusable rows."""
    texts = dict(observations.select("text_hash", "text").iter_rows())
    found = _reusable(known, embedder, "vector")
    if missing := _missing(texts, found):
        made = embedder.encode([texts[text_hash] for text_hash in missing])
        found |= {text_hash: (vector.tolist(),) for text_hash, vector in zip(missing, made, strict=True)}
    common = {"day": day, "model": embedder.name, "model_version": embedder.version}
    vectors = ((text_hash, *found[text_hash]) for text_hash in sorted(texts))
    rows = ({"text_hash": h, **common, "dimension": len(vector), "vector": vector} for h, vector in vectors)
    return schemas.frame_of("embeddings", rows)


def _reusable(known: pl.DataFrame | None, embedder: Embedder, *columns: str) -> dict[str, tuple[Any, ...]]:
    """Returns the columns of the rows that the same model made, by the hash of their text."""
    if known is None:
        return {}
    same = known.filter(model=embedder.name, model_version=embedder.version).drop_nulls(columns)
    return {text_hash: tuple(values) for text_hash, *values in same.select("text_hash", *columns).iter_rows()}


def _missing(texts: Mapping[str, str], found: Container[str]) -> list[str]:
    """Returns the hashes of the texts that are not found, in order of their length, so that a batch is of one length."""
    return sorted((text_hash for text_hash in texts if text_hash not in found), key=lambda h: (len(texts[h]), h))


def matrix_of(text_hashes: pl.Series, embeddings: pl.DataFrame) -> np.ndarray:
    """Returns the vectors of the texts, float32, shape (texts, dimension); zeros for a text without one."""
    distinct = embeddings.unique("text_hash", keep="first", maintain_order=True)
    if distinct.is_empty():
        return np.zeros((len(text_hashes), 1), dtype=np.float32)
    dimension = int(distinct["dimension"][0])
    stacked = distinct["vector"].explode().to_numpy().reshape(-1, dimension)
    places = pl.DataFrame({"text_hash": text_hashes}).join(
        distinct.select("text_hash").with_row_index("place"), on="text_hash", how="left", maintain_order="left"
    )["place"]
    found = stacked[places.fill_null(0).to_numpy()].astype(np.float32, copy=True)
    found[places.is_null().to_numpy()] = 0.0
    return found


def spoken(messages: pl.DataFrame) -> pl.DataFrame:
    """Returns the messages of people and assistants, each with its role in the turn, in order."""
    said = messages.filter(pl.col("author").is_in(SPEAKERS) & (pl.col("kind") == "text") & (pl.col("text").str.len_chars() > 0))
    said = said.sort("window_id", "ordinal")
    follows = pl.col("author").shift(-1).over("window_id")
    reply = pl.when(follows.is_null() | (follows == "owner")).then(pl.lit("answer")).otherwise(pl.lit("step"))
    return said.with_columns(role=pl.when(pl.col("author") == "owner").then(pl.lit("turn")).otherwise(reply))


def cut_spans(text: str) -> list[tuple[int, int]]:
    """Returns the spans of the passages, in order: paragraphs and list items joined, long ones cut at a space."""
    spans: list[tuple[int, int]] = []
    for start, end in _pieces(text):
        if spans and end - spans[-1][0] <= PASSAGE_CHARS:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in (*(match.start() for match in _BREAK.finditer(text)), len(text)):
        yield from _cut_long(text, start, end)
        start = end


def _cut_long(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end - start > PASSAGE_CHARS:
        space = text.rfind(" ", start + PASSAGE_CHARS // 2, start + PASSAGE_CHARS)
        cut = space if space > 0 else start + PASSAGE_CHARS
        yield start, cut
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end


def cut_messages(messages: pl.DataFrame) -> pl.DataFrame:
    """Returns the passages of the messages with their text, without vectors."""
    rows = [
        {
            **{name: row[name] for name in _OF_THE_MESSAGE},
            "id": f"{row['message_id']}#{number}",
            "number": number,
            "char_from": start,
            "char_to": end,
            "text": row["text"][start:end],
        }
        for row in spoken(messages).iter_rows(named=True)
        for number, (start, end) in enumerate(cut_spans(row["text"]))
    ]
    schema = {name: kind for name, kind in schemas.schema_of("passages").items() if name in _CUT}
    return pl.DataFrame(rows, schema={**schema, "text": pl.String}, orient="row")


_OF_THE_MESSAGE = "message_id session_id window_id line author role event_at".split()
_CUT = ("id", *_OF_THE_MESSAGE, "number", "char_from", "char_to")


def make_passages(day: date, messages: pl.DataFrame, embedder: Embedder, known: pl.DataFrame | None = None) -> pl.DataFrame:
    """Returns the table `passages` of a day; `known` holds reusable rows."""
    cut = cut_messages(messages)
    hashes = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in cut["text"]]
    texts = {h: text for h, text, number in zip(hashes, cut["text"], cut["number"], strict=True) if number < MOST_VECTORS}
    found = _reusable(known, embedder, "vector", "words")
    missing = _missing(texts, found)
    read = embedder.read([texts[text_hash] for text_hash in missing])
    found |= {h: (one.vector.tolist(), one.words.tobytes()) for h, one in zip(missing, read, strict=True)}
    common = {"day": day, "model": embedder.name, "model_version": embedder.version}
    rows = []
    for row, text_hash in zip(cut.drop("text").iter_rows(named=True), hashes, strict=True):
        vector, words = found[text_hash] if row["number"] < MOST_VECTORS else (None, None)
        rows.append({**row, **common, "text_hash": text_hash, "vector": vector, "words": words})
    return schemas.frame_of("passages", rows)
