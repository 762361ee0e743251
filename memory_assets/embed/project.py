"""Plans what the indexes must hold: the vectors of memories, and the words of memories, segments and messages.

Only differences are planned, by comparing ids and what each row was made from; a plan without changes publishes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from memory_assets.embed.concepts import concept_words
from memory_assets.embed.encode import matrix_of
from memory_assets.tables import hash_of

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
    vectors = pl.Series("vector", matrix_of(changed["text_hash"], embeddings).tolist(), dtype=pl.List(pl.Float32))
    upserts = changed.with_columns(vectors).filter(pl.col("vector").list.eval(pl.element().abs()).list.sum() > 0)
    return Plan(upserts, sorted(set(published) - set(wanted["id"])))


def keyword_rows(memories: pl.DataFrame, segments: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    """Returns everything the keyword index holds: id, corpus, text."""
    wanted = memories.filter(pl.col("state").is_in(RETRIEVABLE)).select("id", pl.col("wordings").list.join("\n").alias("text"))
    asked = pl.Series("text", [f"{text}\n{concept_words(text)}" for text in wanted["text"]], dtype=pl.String)
    spoken = messages.filter(pl.col("author").is_in(["owner", "assistant", "subagent"]) & (pl.col("kind") == "text"))
    return pl.concat(
        [
            wanted.select("id", pl.lit("memories").alias("corpus"), asked),
            segments.select(
                pl.col("segment_id").alias("id"), pl.lit("segments").alias("corpus"), pl.col("narrative").alias("text")
            ),
            spoken.select(pl.col("message_id").alias("id"), pl.lit("messages").alias("corpus"), "text"),
        ]
    ).unique(["corpus", "id"], keep="first", maintain_order=True)


def plan_keywords(rows: pl.DataFrame, published: Mapping[str, str]) -> Plan:
    """Returns the change of the keyword index; `published` maps `corpus/id` to the hash of its text."""
    hashes = {f"{corpus}/{id}": hash_of(text) for id, corpus, text in rows.iter_rows()}
    changed = pl.Series(
        [published.get(f"{c}/{i}") != hashes[f"{c}/{i}"] for i, c in rows.select("id", "corpus").iter_rows()], dtype=pl.Boolean
    )
    return Plan(rows.filter(changed), sorted(key.split("/", 1)[1] for key in set(published) - set(hashes)))


def text_hashes(rows: pl.DataFrame) -> dict[str, str]:
    """Returns `corpus/id` → hash of the text, to be kept beside the published generation."""
    return {f"{corpus}/{id}": hash_of(text) for id, corpus, text in rows.select("id", "corpus", "text").iter_rows()}
