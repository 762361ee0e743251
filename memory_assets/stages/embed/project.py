"""Plans the changes of the indexes: the vectors of memories, and the texts of memories and
messages.

A plan has only differences, found by comparing ids and hashes. An empty plan publishes nothing.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from memory_assets.schema.frames import hash_of
from memory_assets.stages.embed.encode import matrix_of
from memory_assets.text.patterns import data_beside

_WORDS_OF: dict[str, str] = {}
"""Tool → words of the questions that such a tool is the answer to."""

for _words, _tools in data_beside(__file__)["concepts"].items():
    for _tool in _tools.split(", "):
        _WORDS_OF[_tool] = f"{_WORDS_OF.get(_tool, '')} {_words}".lstrip()
_LONGEST_FIRST = sorted(_WORDS_OF, key=lambda tool: (-len(tool), tool))
_TOOLS = "|".join(map(re.escape, _LONGEST_FIRST))
_TOOL = re.compile(rf"(?<![\w-])(?:{_TOOLS})(?![\w-])", re.I)


def concept_words(text: str) -> str:
    """Returns the question words for the tools that the text names, each once, in order."""
    purposes = " ".join(_WORDS_OF[match[0].lower()] for match in _TOOL.finditer(text))
    return " ".join(dict.fromkeys(purposes.split()))


RETRIEVABLE = ("active", "held", "stale", "archived", "cold", "superseded")
"""States of memories that are in the indexes; each question says which of them it searches."""

LABELS = pl.col("category", "kind", "state")
"""Columns of a memory that Chroma gets with its vector."""

TEXT_HASH = pl.col("text_hash")
LABELLED_HASH = pl.concat_str(TEXT_HASH, LABELS, separator=" ")
"""What is compared of a row: its text, and its text and labels."""

PASSAGES_A_LINE = 4_096
"""Positions for the passages of one transcript line in the order of a session; more than a message
can have passages.
"""

_KEY = pl.concat_str("corpus", "id", separator="/")


@dataclass(frozen=True)
class IndexPlan:
    """Rows to upsert and ids to delete."""

    upserts: pl.DataFrame
    deletes: list[str]

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return self.upserts.is_empty() and not self.deletes


def plan_vectors(
    memories: pl.DataFrame,
    embeddings: pl.DataFrame,
    published: Mapping[str, str],
    row_hash: pl.Expr = TEXT_HASH,
) -> IndexPlan:
    """Returns the changes of the vector index; `published` maps its ids to hashes of rows."""
    is_retrievable = pl.col("state").is_in(RETRIEVABLE)
    retrievable = memories.filter(is_retrievable).select("id", "text_hash", LABELS)
    published_hash = pl.col("id").replace_strict(published, default=None, return_dtype=pl.String)
    changed = retrievable.filter(row_hash.ne_missing(published_hash))
    vectors = matrix_of(changed["text_hash"], embeddings)
    has_vector = np.any(vectors, axis=1)
    if not has_vector.all():  # if all have vectors, nothing is copied
        changed = changed.filter(has_vector)
        vectors = vectors[has_vector]
    upserts = changed.with_columns(pl.Series("vector", vectors))
    return IndexPlan(upserts, sorted(set(published) - set(retrievable["id"])))


def memory_rows(memories: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows of memories in the text index.

    Their texts are all wordings, and the question words for the tools that they name.
    """
    retrievable = memories.filter(pl.col("state").is_in(RETRIEVABLE))
    wordings = retrievable["wordings"].list.join("\n")
    texts = [f"{text}\n{concept_words(text)}" for text in wordings]
    return retrievable.select(
        "id",
        corpus=pl.lit("memories"),
        text=pl.Series(texts, dtype=pl.String),
        parent=pl.lit(None, pl.String),
        group="session_id",
        order=pl.col("event_at").dt.epoch("ms"),
        vector=pl.lit(None, pl.List(pl.Float32)),
        words=pl.lit(None, pl.Binary),
    )


def passage_rows(passages: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows of passages in the text index; `passages` also has texts and vectors."""
    order = pl.col("line").cast(pl.Int64) * PASSAGES_A_LINE
    return passages.select(
        "id",
        pl.lit("messages").alias("corpus"),
        "text",
        pl.col("message_id").alias("parent"),
        pl.col("session_id").alias("group"),
        (order + pl.col("number").clip(0, PASSAGES_A_LINE - 1)).alias("order"),
        "vector",
        "words",
    )


def plan_texts(rows: pl.DataFrame, published: Mapping[str, str]) -> IndexPlan:
    """Returns the changes of the text index; `published` maps `corpus/id` to hashes of rows."""
    changed, deletes = changes_of(hashes_of(rows), published)
    return IndexPlan(rows_named(rows, changed), deletes)


def changes_of(
    hashes: Mapping[str, str], published: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Returns the `corpus/id` that are new or changed, and the ids that no longer exist."""
    changed = [key for key, hashed in hashes.items() if published.get(key) != hashed]
    return changed, sorted(key.split("/", 1)[1] for key in set(published) - set(hashes))


def rows_named(rows: pl.DataFrame, keys: Iterable[str]) -> pl.DataFrame:
    """Returns the rows whose `corpus/id` is among the keys."""
    return rows.filter(_KEY.is_in([*keys]))


def hashes_of(rows: pl.DataFrame) -> dict[str, str]:
    """Returns `corpus/id` → hash of the row, to store with the published generation."""
    # The beginnings of vector and codes are enough to tell models apart.
    model = pl.col("vector").list.head(4).cast(pl.List(pl.String)).list.join(" ")
    codes = pl.col("words").bin.head(16).bin.encode("hex")
    return _hashes(rows.select("corpus", "id", "parent", "group", "order", model, codes, "text"))


def hashes_of_heads(heads: pl.DataFrame) -> dict[str, str]:
    """Returns hashes of passages from columns other than texts and vectors, which need not be read.

    `heads` come from `corpus.passage_heads`.
    """
    place = ["corpus", "id", "message_id", "session_id", "line", "number"]
    return _hashes(heads.select(*place, "text_hash", "encoded_by"))


def _hashes(rows: pl.DataFrame) -> dict[str, str]:
    of_row = pl.concat_str(pl.all().cast(pl.String).fill_null("-"), separator="\x1f")
    keyed = rows.select(_KEY.alias("key"), of_row.alias("row"))
    return {key: hash_of(row) for key, row in keyed.iter_rows()}
