"""Plans what the indexes must hold: the vectors of memories, and the terms of memories, segments and messages.

Only differences are planned, by comparing ids and what each row was made from; a plan without changes publishes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from memory_assets.schema.frames import hash_of
from memory_assets.stages.embed.concepts import concept_words
from memory_assets.stages.embed.encode import matrix_of

RETRIEVABLE = ("active", "held", "stale", "archived", "cold", "superseded")
"""States whose vectors are kept; which of them a question may see is decided when it is asked."""


@dataclass(frozen=True)
class Plan:
    """Rows to put in, ids to take out, and what the whole will then be made from."""

    upserts: pl.DataFrame
    deletes: list[str]

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return self.upserts.is_empty() and not self.deletes


def plan_vectors(memories: pl.DataFrame, embeddings: pl.DataFrame, published: Mapping[str, str]) -> Plan:
    """Returns the change of the vector index; `published` maps each id in it to the hash of the text it was made from."""
    wanted = memories.filter(pl.col("state").is_in(RETRIEVABLE)).select("id", "text_hash", "category", "kind", "state")
    changed = wanted.filter(
        pl.Series([published.get(i) != h for i, h in wanted.select("id", "text_hash").iter_rows()], dtype=pl.Boolean)
    )
    vectors = matrix_of(changed["text_hash"], embeddings)
    is_known = pl.Series("is_known", np.any(vectors, axis=1).tolist(), dtype=pl.Boolean)
    upserts = changed.with_columns(pl.Series("vector", vectors)).filter(is_known)
    return Plan(upserts, sorted(set(published) - set(wanted["id"])))


def text_rows(memories: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """Returns everything the text index holds, each row with its session and its place there."""
    both = pl.concat([memory_rows(memories), passage_rows(passages)])
    return both.unique(["corpus", "id"], keep="first", maintain_order=True)


def memory_rows(memories: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows of memories: all their wordings, and what the tools that they name are for."""
    known = memories.filter(pl.col("state").is_in(RETRIEVABLE)).with_columns(wording=pl.col("wordings").list.join("\n"))
    asked = [f"{text}\n{concept_words(text)}" for text in known["wording"]]
    return known.select(
        "id",
        pl.lit("memories").alias("corpus"),
        pl.Series("text", asked, dtype=pl.String),
        pl.lit(None, pl.String).alias("parent"),
        pl.col("session_id").alias("group"),
        pl.col("event_at").dt.epoch("ms").alias("order"),
        pl.lit(None, pl.List(pl.Float32)).alias("vector"),
        pl.lit(None, pl.Binary).alias("words"),
    )


def passage_rows(passages: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows of passages, which have their text beside the columns of the table; one may lack its vector."""
    return passages.select(
        "id",
        pl.lit("messages").alias("corpus"),
        "text",
        pl.col("message_id").alias("parent"),
        pl.col("session_id").alias("group"),
        place_in_session(pl.col("line"), pl.col("number")).alias("order"),
        "vector",
        "words",
    )


PASSAGES_A_LINE = 4_096
"""More than a message can have; a transcript line's passages stand together in the order of the session."""


def place_in_session(line: pl.Expr, number: pl.Expr) -> pl.Expr:
    """Returns where a passage stands in its session."""
    return line.cast(pl.Int64) * PASSAGES_A_LINE + number.clip(0, PASSAGES_A_LINE - 1)


def plan_texts(rows: pl.DataFrame, published: Mapping[str, str]) -> Plan:
    """Returns the change of the text index; `published` maps `corpus/id` to the hash of what was put in."""
    hashes = hashes_of(rows)
    changed = pl.Series([published.get(key) != hashed for key, hashed in hashes.items()], dtype=pl.Boolean)
    return Plan(rows.filter(changed), sorted(key.split("/", 1)[1] for key in set(published) - set(hashes)))


def hashes_of(rows: pl.DataFrame) -> dict[str, str]:
    """Returns `corpus/id` → hash of what is put in, to be kept beside the published generation."""
    heads = rows.with_columns(pl.col("vector").list.head(4), pl.col("words").bin.head(16))  # they tell models apart
    return {f"{row[1]}/{row[0]}": hash_of("\n".join(map(str, row[2:]))) for row in heads.iter_rows()}
