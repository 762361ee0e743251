"""Cuts what was said into passages of a few sentences, and gives each its vector and the codes of its words.

One vector of a long message is about everything and near to nothing, so a message is found by its best passage. Only what
people and assistants said in words is cut; calls and outputs of tools are not. A passage knows the part that its message
plays: a turn of the owner, the answer that ends the assistant's turn, or a step on the way to it.
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
"""Passages of one message that get a vector; of pastes beyond 12,000 characters the rest is found by its words."""

SPEAKERS = ("owner", "assistant", "subagent")

_BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)])\s)")


def spoken(messages: pl.DataFrame) -> pl.DataFrame:
    """Returns the messages that people and assistants said in words, each with its role in the turn, in order."""
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
    """Returns where the passages of a text lie, in order: paragraphs and list items together, long ones cut at a space."""
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
    """Returns the passages of the messages, with their text; one row each, without vectors."""
    rows = [
        {
            "id": f"{row['message_id']}#{number}",
            "message_id": row["message_id"],
            "session_id": row["session_id"],
            "window_id": row["window_id"],
            "line": row["line"],
            "number": number,
            "author": row["author"],
            "role": row["role"],
            "event_at": row["event_at"],
            "char_from": start,
            "char_to": end,
            "text": row["text"][start:end],
        }
        for row in spoken(messages).iter_rows(named=True)
        for number, (start, end) in enumerate(cut_spans(row["text"]))
    ]
    schema = {name: kind for name, kind in schemas.schema_of("passages").items() if name in _CUT}
    return pl.DataFrame(rows, schema={**schema, "text": pl.String}, orient="row")


_CUT = (
    "id message_id session_id window_id line number author role event_at char_from char_to".split()
)  # what is known before a vector is made


_MADE = ("vector", "words")


def make_passages(day: date, messages: pl.DataFrame, embedder: Embedder, known: pl.DataFrame | None = None) -> pl.DataFrame:
    """Returns the table `passages` of a day; `known` holds rows whose vectors need not be made again."""
    cut = cut_messages(messages)
    hashes = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in cut["text"]]
    texts = {h: text for h, text, number in zip(hashes, cut["text"], cut["number"], strict=True) if number < MOST_VECTORS}
    made = _read(texts, embedder, known)
    return schemas.frame_of(
        "passages",
        (
            {
                **{name: row[name] for name in _CUT},
                "day": day,
                "text_hash": text_hash,
                "model": embedder.name,
                "model_version": embedder.version,
                **dict(zip(_MADE, made[text_hash] if row["number"] < MOST_VECTORS else (None, None), strict=True)),
            }
            for row, text_hash in zip(cut.iter_rows(named=True), hashes, strict=True)
        ),
    )


def _read(texts: dict[str, str], embedder: Embedder, known: pl.DataFrame | None) -> dict[str, tuple[list[float], bytes]]:
    """Returns the vector of each text and the codes of its words, by the text's hash."""
    found: dict[str, tuple[list[float], bytes]] = {}
    if known is not None and not known.is_empty():
        same = known.filter((pl.col("model") == embedder.name) & (pl.col("model_version") == embedder.version))
        rows = same.drop_nulls(_MADE).select("text_hash", *_MADE).iter_rows()
        found = {text_hash: (vector, words) for text_hash, vector, words in rows}
    missing = sorted((h for h in texts if h not in found), key=lambda h: (len(texts[h]), h))
    read = embedder.read([texts[h] for h in missing])
    return found | {h: (one.vector.tolist(), one.words.tobytes()) for h, one in zip(missing, read, strict=True)}
