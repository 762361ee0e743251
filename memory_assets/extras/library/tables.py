"""The tables and the jobs of the library."""

from memory_assets.extras.library import records as r
from memory_assets.schema.declarations import Job, JobTimes, Table

_INDEXING = ("index_documents",)

TABLES = (
    Table("adrs", "capture", ("capture",), "adrs/1", r.Adr, before="harness_memories",
          made_from=("windows",), settings=("owner", "adr_folders"), plots=("status",)),
    Table("discoveries", "capture", _INDEXING, "discoveries/1", r.Discovery, grain="document",
          before="harness_memories", plots=("kind",)),
    Table("adr_conflicts", "library", ("rebuild_memories",), "adr-conflicts/1", r.AdrConflict,
          before="mentions", made_from=("adrs", "memories"), plots=("reason",)),
    Table("slog", "triage", ("triage", "review"), "slog/1", r.SlogEntry, before="patches",
          made_from=("memory_md",), plots=("action",), pool="memory_md",
          kinds=frozenset({"polars", "parquet", "git"})),
    Table("documents", "library", _INDEXING, "documents/1", r.Document, before="patches",
          plots=("kind",)),
    Table("document_chunks", "library", _INDEXING, "documents/1", r.DocumentChunk,
          grain="document", before="patches", made_from=("documents",)),
    Table("document_vectors", "library", _INDEXING, "document-vectors/1", r.DocumentVector,
          grain="document", before="patches", made_from=("document_chunks",),
          settings=("embedding_model",), kinds=frozenset({"polars", "parquet", "onnx"})),
    Table("document_index", "library", _INDEXING, "documents/1", before="patches",
          made_from=("document_chunks", "document_vectors"), kinds=frozenset({"numpy"}),
          pool="index",
          doc="Terms and vectors of the chunks of documents, apart from those of memories and "
              "messages."),
    Table("feed_items", "library", ("poll_feeds",), "feeds/1", r.FeedItem, grain="feed",
          before="patches", every_run=True),
)  # fmt: skip
JOBS = (
    Job("index_documents", "Indexing documents",
        "Cut the documents of the library into chunks, encode these, and index them."),
    Job("poll_feeds", "Polling feeds", "Look for new items in the feeds that you watch.",
        is_scheduled=True,
        schedule=JobTimes("feeds_hourly", "15 * * * *",
                          "Every hour, looks for new items in the feeds that you watch.")),
)  # fmt: skip
