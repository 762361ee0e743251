"""Rows and sessions with complete defaults, so that a test says only what its case is about."""

import re
import types
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
import polars as pl

from memory_assets.schema import frames as tables
from memory_assets.schema.protocols import Read
from memory_assets.store.parquet_tables import values_of

START = datetime(2026, 8, 3, 9, 0, tzinfo=UTC)


def _row(defaults: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    unknown = set(changes) - set(defaults)
    assert not unknown, f"unknown columns {sorted(unknown)}"
    return {**defaults, **changes}


def fact(id: str, text: str, **changes: Any) -> dict[str, Any]:
    """An active fact of the project `shop` in the table `memories`."""
    base = {
        "kind": "fact",
        "state": "active",
        "scope": "project",
        "project": "shop",
        "category": "operations",
        "person": "ann",
    }
    return row("memories", **base | {"id": id, "text": text} | changes)


def message(text: str = "Use uv, never pip.", ordinal: int = 0, **changes: Any) -> dict[str, Any]:
    """A message of the owner, one minute after the one before it."""
    defaults = {
        "message_id": f"msg_{ordinal:020x}",
        "session_id": "session-1",
        "window_id": "w" * 64,
        "day": START.date(),
        "ordinal": ordinal,
        "line": ordinal,
        "byte_from": ordinal * 100,
        "byte_to": ordinal * 100 + 100,
        "resource_id": "resource-1",
        "author": "owner",
        "kind": "text",
        "tool_name": None,
        "is_error": False,
        "is_user_turn": changes.get("author", "owner") == "owner",
        "event_at": START + timedelta(minutes=ordinal),
        "is_time_guessed": False,
        "text": text,
        "text_chars": len(text),
        "image_count": 0,
        "model": None,
        "harness_version": None,
    }
    return _row(defaults, changes)


PLAIN = {
    "kind": "fact",
    "gate": "allow",
    "priority": "medium",
    "author": "assistant",
    "category": "operations",
}
"""What the rows of a plain fact hold."""


def forty_facts(day: date) -> list[dict[str, Any]]:
    """Returns rows of `observations` that do not fit into a reflection."""
    return [
        row(
            "observations",
            id=f"{port:08x}-0000-5000-8000-000000000000",
            text=f"Service number {port} listens on port {port} of the harbor.",
            event_at=START,
            day=day,
            tokens=20,
            **PLAIN,
        )
        for port in range(6380, 6420)
    ]


def frame(table: str, *rows: dict[str, Any]) -> pl.DataFrame:
    """The rows as a frame of the table."""
    return tables.frame_of(table, rows)


def frame_of_part(table: str, part: str, *rows: dict[str, Any]) -> pl.DataFrame:
    """The rows as a frame of the part; they get the values that the part is named by."""
    schema, values = tables.schema_of(table), values_of(table, part) or {}
    named = {
        name: date.fromisoformat(value) if schema[name] == pl.Date() else value
        for name, value in values.items()
    }
    return frame(table, *({**each, **named} for each in rows))


def row(table: str, **changes: Any) -> dict[str, Any]:
    """A row of any table, with plain values for what the case is not about."""
    fields = tables.record_of(table).model_fields
    return _row({name: _plain(field.annotation) for name, field in fields.items()}, changes)


def _plain(annotation: Any) -> Any:
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return None
    if get_origin(annotation) is Literal:
        return get_args(annotation)[0]
    if get_origin(annotation) is list:
        return []
    return {
        str: "x",
        bytes: b"",
        int: 0,
        float: 0.5,
        bool: False,
        datetime: START,
        date: START.date(),
    }[annotation]


class ReadsWhole:
    """For embedders without codes of words: what they make of a text as a whole is all."""

    encode: Any
    encode_query: Any

    def read(self, texts: Sequence[str]) -> list[Read]:
        return [Read(vector) for vector in self.encode(texts)]

    def read_query(self, text: str) -> Read:
        return Read(self.encode_query(text))


class WordEmbedder(ReadsWhole):
    """Its vectors are counts of words, after replacing each with its synonym if it has one: similar sentences are near."""

    name, version, dimension = "words", "1", 512

    def __init__(self, synonyms: Mapping[str, str]) -> None:
        self.synonyms = synonyms

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([self.encode_query(text) for text in texts])

    def encode_query(self, text: str) -> np.ndarray:
        vector = np.zeros(self.dimension, dtype=np.float32)
        for word in re.findall(r"[a-z]+", text.lower()):
            vector[zlib.crc32(self.synonyms.get(word, word).encode()) % self.dimension] += 1
        return vector / max(float(np.linalg.norm(vector)), 1e-9)


def index_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with every column that the text index takes; what is missing is empty."""
    columns = {
        "id": pl.String, "corpus": pl.String, "text": pl.String, "parent": pl.String, "group": pl.String, "order": pl.Int64,
        "vector": pl.List(pl.Float32), "words": pl.Binary,
    }  # fmt: skip
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in columns.items()
    )
