"""The library: documents, discoveries, feeds, decision records, and the log of what was done."""

from memory_assets.schema.extras import Extra, Inflow, Place

EXTRA = Extra(
    name="library",
    commands={"library": "cli:app"},
    answers="cli:answer_types",
    tables="tables",
    builders="steps",
    inputs="inputs",
    checks="checks",
    verbs="verbs:VERBS",
    views={"slog": "views:render_slog"},
    methods={
        name: f"methods:{name}"
        for name in (
            "slog", "adrs", "documents", "add_documents", "search_documents", "remove_document",
            "discover", "feeds", "add_feed", "remove_feed", "poll_feeds",
        )
    },
    settings="settings:LibrarySettings",
    path_lists=("adr_folders",),
    sources={
        "harness_memories": ("adrs", "discoveries"),
        "review_md": ("adr_conflicts",),
    },
    grains={
        "document": ("doc_id", "kept_documents:document_ids"),
        "feed": ("feed_id", "feeds:feed_ids"),
    },
    inflows={
        "feed_items": Inflow(
            "feeds",
            "feeds:waiting",
            "feeds wait to be polled",
            "Run `memory library feeds poll`. Keep `memory up` running, which polls every hour, or "
            "remove the feeds.",
        )
    },
    watched="adrs:searched_folders",
    documented={"adr": "adrs:remembered", "discovery": "discoveries:remembered"},
    contradictions="adrs:read_contradictions",
    listeners={"forgotten": "slog:log_events", "acted": "slog:log_own"},
    places=(
        Place("library", "documents"),
        Place("workspace/slog.jsonl", "slog", is_log=True),
    ),
    files=("slog.lock",),
    indexes="index:indexes",
    derived={"document_vectors": ("document_chunks", "text_hash")},
    erase="index:erase",
    deep_checks="index:deep_checks",
)  # fmt: skip
