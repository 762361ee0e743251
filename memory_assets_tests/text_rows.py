"""The rows of a text index, all at once, for tests and benches that fill one without a run."""

import polars as pl

from memory_assets.stages.embed.project import memory_rows, passage_rows


def text_rows(memories: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """Returns all rows of the text index, each with its session and its position there."""
    both = pl.concat([memory_rows(memories), passage_rows(passages)])
    return both.unique(["corpus", "id"], keep="first", maintain_order=True)
