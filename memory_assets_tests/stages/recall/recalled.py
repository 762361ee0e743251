"""Texts of an index that a test writes down as rows, and results of a recall."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.adapters.text_index import TextIndex
from memory_assets.schema.protocols import Texts
from memory_assets.stages.recall.results import Recalled
from memory_assets_tests.factories import START, index_rows


def indexed(
    folder: Path, rows: Sequence[Any], columns: str | None = None, corpus: str = "messages"
) -> Texts:
    """The texts of an index with these rows: records, or tuples of the named columns."""
    index, schema = TextIndex(folder), columns.split() if columns else None
    index.update(index_rows(pl.DataFrame(rows, schema=schema, orient="row")), [])
    texts = index.open(corpus)
    assert texts is not None
    return texts


def result(id: str, text: str = "", **changes: Any) -> Recalled:
    plain = {
        "memory_id": id, "kind": "fact", "text": text or f"Text of {id}.", "score": 0.5, "confidence": 0.9, "category": "operations",
        "priority": "high", "age_days": 3, "event_at": START, "session": "s", "path": "p", "lines": (1,), "project": "shop",
    }  # fmt: skip
    return Recalled(**plain | changes)
