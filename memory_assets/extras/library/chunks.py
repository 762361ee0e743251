"""Cuts documents into chunks, encodes them, and finds chunks by words and meaning of a question.

A chunk is part of one page or section. Chunks have an index that only a search of the library
reads: none is in a briefing, a recall or a proposal, and nothing in them is taken for a statement
of the owner.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl

from memory_assets.extras.library.contents import DocumentSection
from memory_assets.extras.library.kept_documents import KeptDocument
from memory_assets.schema.frames import frame_of
from memory_assets.schema.protocols import Embedder, Texts
from memory_assets.schema.records.distill import NAMESPACE
from memory_assets.schema.requests import Filters
from memory_assets.stages.embed.encode import cut_spans, read_texts
from memory_assets.stages.recall.layout import Layout
from memory_assets.stages.recall.message_search import SearchQuery, find_messages
from memory_assets.stages.recall.parsed_question import KnownNames, parse_question
from memory_assets.stages.recall.relevance import judge_messages
from memory_assets.stages.recall.results import Asker
from memory_assets.text.terms import query_terms
from memory_assets.text.words import text_hash

DOCUMENTS = "documents"
"""Name of the corpus of chunks in the index."""

CHUNK_CHARS = 900
"""Longest chunk. In the prose of books about 220 tokens, as many as the model MiniLM reads."""


def chunks_of(document: KeptDocument, sections: Sequence[DocumentSection]) -> pl.DataFrame:
    """Returns the table `document_chunks` of one document."""
    return frame_of("document_chunks", _chunks(document, sections))


def _chunks(
    document: KeptDocument, sections: Sequence[DocumentSection]
) -> Iterator[dict[str, Any]]:
    texts = (
        (section, section.text[start:end])
        for section in sections
        for start, end in cut_spans(section.text, CHUNK_CHARS)
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


def encode_chunks(chunks: pl.DataFrame, embedder: Embedder, encoded: pl.DataFrame) -> pl.DataFrame:
    """Returns the table `document_vectors` for the chunks of one document.

    Vectors of texts that are in `encoded` already are taken from there. A chunk that the model
    cannot encode has no row, and is found by its words alone.
    """
    texts = dict(chunks.select("text_hash", "content").iter_rows())
    vectors = read_texts(texts, embedder, encoded)
    rows = (
        {
            "id": id,
            "doc_id": doc_id,
            "text_hash": digest,
            "model": embedder.name,
            "model_version": embedder.version,
            "vector": vectors[digest][0],
            "words": vectors[digest][1],
        }
        for id, doc_id, digest in chunks.select("id", "doc_id", "text_hash").iter_rows()
        if digest in vectors
    )
    return frame_of("document_vectors", rows)


def index_rows(chunks: pl.DataFrame, vectors: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows of the index, grouped by document and ordered as in the document."""
    joined = chunks.join(vectors.select("id", "vector", "words"), on="id", how="left")
    return joined.select(
        "id",
        pl.lit(DOCUMENTS).alias("corpus"),
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
    allowed: Iterable[str],
    aliases: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, float]:
    """Returns the score of each chunk that is relevant to the question, by id, best first.

    `allowed` are the ids of the documents that are searched.
    """
    query = SearchQuery(question, dict.fromkeys(query_terms(question), 1.0))
    if embedder:
        encoded = embedder.read_query(question)
        query = SearchQuery(question, query.terms, encoded.vector, encoded.words)
    matches = find_messages(query, texts, Layout(texts), (), _rows_of(texts, allowed))
    ids = pl.Series("id", [match.passage_id for match in matches], dtype=pl.String)
    rows = pl.DataFrame([ids]).with_columns(project=pl.lit(""), event_at=pl.lit(now))
    parsed = parse_question(question, Asker(now), Filters(), texts, KnownNames(aliases=aliases))
    judged = judge_messages(parsed, rows, texts, query.vector)
    return {
        match.passage_id: match.score
        for match, judgement in zip(matches, judged, strict=True)
        if not judgement.reason
    }


def _rows_of(texts: Texts, documents: Iterable[str]) -> np.ndarray:
    """Returns for each row of the index whether it belongs to one of the documents."""
    numbers = {name: number for number, name in enumerate(texts.group_ids)}
    return np.isin(texts.groups, [numbers[id] for id in documents if id in numbers])
