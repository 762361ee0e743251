"""The tables and the jobs of the library."""

from memory_assets.extras.library import records as r
from memory_assets.schema.declarations import Job, JobTimes, Table

_INDEXING = ("index_documents",)

TABLES = (
    Table(
        "adrs",
        "capture",
        ("capture",),
        "adrs/1",
        record=r.Adr,
        made_from=("windows",),
        settings=("owner", "adr_folders"),
        plots=("status",),
        before="harness_memories",
    ),
    Table(
        "discoveries",
        "capture",
        _INDEXING,
        "discoveries/1",
        record=r.Discovery,
        grain="document",
        plots=("kind",),
        before="harness_memories",
    ),
    Table(
        "adr_conflicts",
        "library",
        ("rebuild_memories",),
        "adr-conflicts/1",
        record=r.AdrConflict,
        made_from=("adrs", "memories"),
        plots=("reason",),
        before="mentions",
    ),
    Table(
        "slog",
        "triage",
        ("triage", "review"),
        "slog/1",
        record=r.SlogEntry,
        made_from=("memory_md",),
        plots=("action",),
        kinds=frozenset({"polars", "parquet", "git"}),
        pool="memory_md",
        before="patches",
    ),
    Table(
        "documents",
        "library",
        _INDEXING,
        "documents/1",
        record=r.Document,
        plots=("kind",),
        before="patches",
    ),
    Table(
        "document_chunks",
        "library",
        _INDEXING,
        "documents/1",
        record=r.DocumentChunk,
        grain="document",
        made_from=("documents",),
        before="patches",
    ),
    Table(
        "document_vectors",
        "library",
        _INDEXING,
        "document-vectors/1",
        record=r.DocumentVector,
        grain="document",
        made_from=("document_chunks",),
        settings=("embedding_model",),
        kinds=frozenset({"polars", "parquet", "onnx"}),
        before="patches",
    ),
    Table(
        "document_index",
        "library",
        _INDEXING,
        "documents/1",
        made_from=("document_chunks", "document_vectors"),
        doc="Terms and vectors of the chunks of documents, apart from those of memories and "
        "messages.",
        kinds=frozenset({"numpy"}),
        pool="index",
        before="patches",
    ),
    Table(
        "feed_items",
        "library",
        ("poll_feeds",),
        "feeds/1",
        record=r.FeedItem,
        grain="feed",
        every_run=True,
        before="patches",
    ),
)
JOBS = (
    Job(
        "index_documents",
        "Indexing documents",
        "Cut the documents of the library into chunks, encode these, and index them.",
    ),
    Job(
        "poll_feeds",
        "Polling feeds",
        "Look for new items in the feeds that you watch.",
        is_scheduled=True,
        schedule=JobTimes(
            "feeds_hourly",
            "15 * * * *",
            "Every hour, looks for new items in the feeds that you watch.",
        ),
    ),
)
