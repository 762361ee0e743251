"""Encodes the texts of a day, each distinct text once; known vectors are reused by the hash of their text."""

from datetime import date

import numpy as np
import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Embedder


def encode_day(day: date, observations: pl.DataFrame, embedder: Embedder, known: pl.DataFrame | None = None) -> pl.DataFrame:
    """Returns the embeddings of the day's texts; `known` holds reusable rows."""
    wanted = observations.select("text_hash", "text").unique("text_hash").sort("text_hash")
    vectors = _known_vectors(known, embedder)
    missing = wanted.filter(~pl.col("text_hash").is_in(list(vectors))).sort(pl.col("text").str.len_chars(), "text_hash")
    if missing.height:
        made = embedder.encode(missing["text"].to_list())
        vectors |= dict(zip(missing["text_hash"], made, strict=True))
    common = {"day": day, "model": embedder.name, "model_version": embedder.version}
    found = ((text_hash, vectors[text_hash]) for text_hash in wanted["text_hash"])
    rows = ({"text_hash": h, **common, "dimension": len(vector), "vector": vector.tolist()} for h, vector in found)
    return schemas.frame_of("embeddings", rows)


def _known_vectors(known: pl.DataFrame | None, embedder: Embedder) -> dict[str, np.ndarray]:
    if known is None or known.is_empty():
        return {}
    same = known.filter((pl.col("model") == embedder.name) & (pl.col("model_version") == embedder.version))
    return {h: np.asarray(v, dtype=np.float32) for h, v in same.select("text_hash", "vector").iter_rows()}


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
