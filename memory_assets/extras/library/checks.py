"""Asset checks of the library's tables.

Each function is named after what must hold, and returns the rows for which it does not. The tables
are not divided into days, so every check reads all rows and ignores `days`. The slog is a log of
what people, agents and this program did to systems (`extras.library.slog`).
"""

import polars as pl

from memory_assets.assets.checks.common import Days, check
from memory_assets.extras.library.chunks import DOCUMENTS
from memory_assets.extras.library.feeds import feeds_of
from memory_assets.extras.library.index import open_index
from memory_assets.extras.library.kept_documents import document_ids, documents_of
from memory_assets.extras.library.slog import problems_of
from memory_assets.store.store import Store


@check("slog", level="error")
def is_append_only(store: Store, days: Days) -> pl.DataFrame:
    """Every line of the slog is an entry, and no committed line was changed or removed."""
    return pl.DataFrame({"problem": [*problems_of(store)]}, {"problem": pl.String})


@check("adrs", level="warn")
def are_in_order(store: Store, days: Days) -> pl.DataFrame:
    """Every decision record has one status of one word, a number of its own, and names records that
    exist.
    """
    records = store.tables.read("adrs", columns=["project", "number", "problems"])
    problems = records.explode("problems").drop_nulls("problems")
    return problems.select("project", "number", pl.col("problems").alias("problem"))


@check("adr_conflicts", level="warn")
def no_memory_contradicts_a_decision(store: Store, days: Days) -> pl.DataFrame:
    """No active memory contradicts a decision in force; the review shows those that do."""
    return store.tables.read("adr_conflicts", columns=["number", "memory_id", "reason"])


@check("discoveries", level="error")
def are_of_kept_documents(store: Store, days: Days) -> pl.DataFrame:
    """Every note is of a page or repository whose whole text is in the library, and says where it
    was read.
    """
    notes = store.tables.read("discoveries", columns=["doc_id", "url", "note"])
    has_document = pl.col("doc_id").is_in(document_ids(store))
    return notes.filter(~has_document | (pl.col("url") == "") | (pl.col("note") == "")).select(
        "doc_id"
    )


@check("feed_items", level="warn")
def last_polls_succeeded(store: Store, days: Days) -> pl.DataFrame:
    """Every feed was read at its last poll."""
    problems = [(feed.id, feed.problem) for feed in feeds_of(store).all() if feed.problem]
    return pl.DataFrame(problems, {"feed_id": pl.String, "problem": pl.String}, orient="row")


@check("documents", level="error")
def texts_are_intact(store: Store, days: Days) -> pl.DataFrame:
    """Every kept text of a document is as it was written."""
    damaged = list(documents_of(store).faults(document_ids(store)))
    return pl.DataFrame({"file": damaged}, {"file": pl.String})


@check("document_chunks", level="error")
def belong_to_kept_documents(store: Store, days: Days) -> pl.DataFrame:
    """Every chunk belongs to a document that is in the library, and the chunks of each are numbered
    without a gap.
    """
    chunks = store.tables.read("document_chunks", columns=["doc_id", "chunk_index"])
    count_by_index = (pl.col("chunk_index").max() + 1).alias("numbered")
    counts = chunks.group_by("doc_id").agg(pl.len().alias("chunks"), count_by_index).sort("doc_id")
    is_kept = pl.col("doc_id").is_in(document_ids(store))
    return counts.filter(~is_kept | (pl.col("chunks") != pl.col("numbered")))


@check("document_vectors", level="warn")
def every_chunk_has_a_vector(store: Store, days: Days) -> pl.DataFrame:
    """Every chunk has a vector; one that the model cannot encode is found by its words alone.

    "One" is a chunk: without a vector, recall finds it by its words.
    """
    read = store.tables.read
    return read("document_chunks", columns=["doc_id", "id"]).join(
        read("document_vectors", columns=["id"]), on="id", how="anti"
    )


@check("document_index", level="error")
def has_exactly_the_chunks(store: Store, days: Days) -> pl.DataFrame:
    """The index has exactly the chunks of the table."""
    indexed = open_index(store).ids(DOCUMENTS)
    chunks = {*store.tables.read("document_chunks", columns=["id"])["id"]}
    return pl.DataFrame({"chunk": sorted(indexed ^ chunks)}, {"chunk": pl.String})
