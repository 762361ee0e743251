"""Cuts documents into chunks, encodes them, and finds chunks by the words and the meaning of a
question.

A chunk is part of one page or section. Documents have an index of their own, which only a search of
the library reads: no chunk is in a briefing, in a recall or in a proposal. Their text is nobody's
statement and makes no rule.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Embedder, Texts
from memory_assets.schema.records.distill import NAMESPACE
from memory_assets.schema.requests import Filters
from memory_assets.stages.embed.encode import cut_spans, read_texts
from memory_assets.stages.recall.message_search import REACH, Layout, SearchQuery, find_messages
from memory_assets.stages.recall.parsed_question import KnownNames, parse_question
from memory_assets.stages.recall.relevance import judge_messages
from memory_assets.stages.recall.results import Asker
from memory_assets.store.documents import KeptDocument, KeptSection
from memory_assets.text.terms import query_terms
from memory_assets.text.words import text_hash

CHUNK_CHARS = 900
"""About 220 tokens, what MiniLM reads: prose of books is longer-winded than messages."""


@dataclass(frozen=True)
class ChunkHit:
    """A chunk that was found."""

    id: str
    score: float


def chunks_of(document: KeptDocument, sections: Sequence[KeptSection]) -> pl.DataFrame:
    """Returns the table `document_chunks` of one document."""
    return schemas.frame_of("document_chunks", _chunks(document, sections))


def _chunks(document: KeptDocument, sections: Sequence[KeptSection]) -> Iterator[dict[str, Any]]:
    texts = (
        (one, one.text[start:end])
        for one in sections
        for start, end in cut_spans(one.text, CHUNK_CHARS)
    )
    for number, (section, text) in enumerate(texts):
        digest = text_hash(text)
        yield {
            "id": str(uuid.uuid5(NAMESPACE, f"{document.id}/{number}/{digest}")),
            "doc_id": document.id,
            "chunk_index": number,
            "content": text,
            "source_path": document.source_path,
            "tags": list(document.tags),
            "page": section.page,
            "chapter": section.chapter,
            "text_hash": digest,
        }


def encode_chunks(chunks: pl.DataFrame, embedder: Embedder, known: pl.DataFrame) -> pl.DataFrame:
    """Returns the table `document_vectors` of the chunks of one document; `known` holds reusable
    rows.

    A chunk that the model cannot encode has no row, and is found by its words alone.
    """
    texts = dict(chunks.select("text_hash", "content").iter_rows())
    made = read_texts(texts, embedder, known)
    common = {"model": embedder.name, "model_version": embedder.version}
    rows = (
        {
            "id": id,
            "doc_id": doc_id,
            "text_hash": digest,
            **common,
            "vector": made[digest][0],
            "words": made[digest][1],
        }
        for id, doc_id, digest in chunks.select("id", "doc_id", "text_hash").iter_rows()
        if digest in made
    )
    return schemas.frame_of("document_vectors", rows)


def index_rows(chunks: pl.DataFrame, vectors: pl.DataFrame, corpus: str) -> pl.DataFrame:
    """Returns the rows of the index: documents are its groups, chunks are in their order."""
    joined = chunks.join(vectors.select("id", "vector", "words"), on="id", how="left")
    return joined.select(
        "id",
        pl.lit(corpus).alias("corpus"),
        pl.col("content").alias("text"),
        pl.col("id").alias("parent"),
        pl.col("doc_id").alias("group"),
        pl.col("chunk_index").alias("order"),
        "vector",
        "words",
    )


def find_chunks(
    question: str,
    texts: Texts,
    embedder: Embedder | None,
    *,
    now: datetime,
    allowed: Iterable[str] | None = None,
    aliases: Mapping[str, Sequence[str]] | None = None,
) -> list[ChunkHit]:
    """Returns the chunks that are relevant to the question, best first; `allowed` are the documents
    that are searched.
    """
    read = embedder.read_query(question) if embedder else None
    terms = dict.fromkeys(query_terms(question), 1.0)
    query = (
        SearchQuery(question, terms, read.vector, read.words)
        if read
        else SearchQuery(question, terms)
    )
    found = find_messages(query, texts, Layout(texts, REACH), (), _rows_allowed(texts, allowed))
    rows = pl.DataFrame(
        {"id": [one.passage_id for one in found]}, schema={"id": pl.String}
    ).with_columns(project=pl.lit(""), event_at=pl.lit(now))
    parsed = parse_question(question, Asker(now), Filters(), texts, KnownNames(aliases=aliases))
    judged = judge_messages(parsed, rows, texts, query.vector)
    return [
        ChunkHit(hit.passage_id, hit.score)
        for hit, one in zip(found, judged, strict=True)
        if not one.reason
    ]


def _rows_allowed(texts: Texts, allowed: Iterable[str] | None) -> np.ndarray | None:
    if allowed is None:
        return None
    numbers = {name: number for number, name in enumerate(texts.group_ids)}
    return np.isin(texts.groups, [numbers[one] for one in allowed if one in numbers])
