"""Cuts messages into passages of a few sentences, each with its vector and the codes of its words.

One vector of a long message is about everything and near to nothing, so a message is found by its best passage. Only the words
of people and assistants are cut; tool calls and outputs are not. A passage has the role of its message: a turn of the owner,
the answer that ends the assistant's turn, or a step before it.
"""

import hashlib
import re
from collections.abc import Iterator
from datetime import date

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


def spoken(messages: pl.DataFrame) -> pl.DataFrame:
    """Returns the messages of people and assistants, each with its role in the turn, in order."""
    said = messages.filter(pl.col("author").is_in(SPEAKERS) & (pl.col("kind") == "text") & (pl.col("text").str.len_chars() > 0))
    said = said.sort("window_id", "ordinal")
    follows = pl.col("author").shift(-1).over("window_id")
    role = (
        pl.when(pl.col("author") == "owner")
        .then(pl.lit("turn"))
        .when(follows.is_null() | (follows == "owner"))
        .then(pl.lit("answer"))
        .otherwise(pl.lit("step"))
    )
    return said.with_columns(role.alias("role"))


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
_MADE = ("vector", "words")


def make_passages(day: date, messages: pl.DataFrame, embedder: Embedder, known: pl.DataFrame | None = None) -> pl.DataFrame:
    """Returns the table `passages` of a day; `known` holds reusable rows."""
    cut = cut_messages(messages)
    hashes = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in cut["text"]]
    texts = {h: text for h, text, number in zip(hashes, cut["text"], cut["number"], strict=True) if number < MOST_VECTORS}
    made = _read(texts, embedder, known)
    common = {"day": day, "model": embedder.name, "model_version": embedder.version}
    rows = []
    for row, text_hash in zip(cut.drop("text").iter_rows(named=True), hashes, strict=True):
        vector, words = made[text_hash] if row["number"] < MOST_VECTORS else (None, None)
        rows.append({**row, **common, "text_hash": text_hash, "vector": vector, "words": words})
    return schemas.frame_of("passages", rows)


def _read(texts: dict[str, str], embedder: Embedder, known: pl.DataFrame | None) -> dict[str, tuple[list[float], bytes]]:
    """Returns the vector of each text and the codes of its words, by the hash of the text."""
    found = {}
    if known is not None and not known.is_empty():
        same = known.filter((pl.col("model") == embedder.name) & (pl.col("model_version") == embedder.version))
        rows = same.drop_nulls(_MADE).select("text_hash", *_MADE).iter_rows()
        found = {text_hash: (vector, words) for text_hash, vector, words in rows}
    missing = sorted((h for h in texts if h not in found), key=lambda h: (len(texts[h]), h))
    read = embedder.read([texts[h] for h in missing])
    return found | {h: (one.vector.tolist(), one.words.tobytes()) for h, one in zip(missing, read, strict=True)}
