"""Cases of the library for tests of the core: what gives its tables new input, and its requests."""

from pathlib import Path
from typing import Any

import pytest

from memory_assets.extras.library import documents, requests, slog
from memory_assets.extras.library.discoveries import Source, keep
from memory_assets.extras.library.feeds import Feed, feeds_of
from memory_assets.schema.requests import Request
from memory_assets.schema.tables import WHOLE
from memory_assets.store.store import Store
from memory_assets_tests.extras.library.conftest import Site
from memory_assets_tests.extras.library.test_adr_files import NYGARD
from memory_assets_tests.extras.library.test_discoveries import feed_of
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import write


def settings(folder: Path) -> dict[str, Any]:
    """Returns the settings that the inputs need."""
    return {"adr_folders": str(folder / "decisions")}


def add_document(store: Store) -> None:
    path = store.root.parent / "plan.md"
    path.write_text("# Harbour plan\n\nThe third pier is closed in winter.\n")
    documents.add(store, requests.AddDocumentsRequest(files=(str(path),)))


def add_discovery(store: Store) -> None:
    texts = ["A log of changes."]
    keep(store, Source("page", "https://example.org/logs", "Write-ahead logs", "", texts, []))


def add_adr(store: Store) -> None:
    folder = store.root.parent / "decisions"
    folder.mkdir()
    (folder / "0001-sqlite.md").write_text(NYGARD)


def add_feed(store: Store) -> None:
    now = store.settings.clock().isoformat()
    url = "http://127.0.0.1:9/feed.xml"
    feeds_of(store).write(Feed("feed_0f3a5c1e9b2d", url, "Tides", (), now, polled_at=now))


def add_slog(store: Store) -> None:
    slog.append(
        store, requests.SlogRequest(action="deploy", tool="worker", detail="Published worker:1")
    )


INPUTS = {
    "adrs": add_adr, "discoveries": add_discovery, "documents": add_document, "document_chunks": add_document,
    "document_vectors": add_document, "document_index": add_document, "feed_items": add_feed, "slog": add_slog,
}  # fmt: skip


def write_sources(store: Store) -> None:
    """Writes what its tables with settings are made from."""
    write(store, "adrs", WHOLE)
    write(store, "document_chunks", "doc_1", row("document_chunks", doc_id="doc_1"))


REQUESTS: dict[type[Request], tuple[str, list[dict[str, Any]]]] = {
    requests.SlogRequest: (
        "slog",
        [
            {"action": "fix", "tool": "caddy", "detail": "Renewed.", "reason": "It expired."},
            {"search": "caddy"},
        ],
    ),
    requests.AddDocumentsRequest: ("add_documents", [{"files": ["FILE"]}]),
    requests.SearchDocumentsRequest: ("search_documents", [{"question": "tides"}]),
    requests.DiscoverRequest: ("discover", [{"source": "PAGE", "private": True}]),
    requests.AddFeedRequest: ("add_feed", [{"url": "FEED", "private": True}]),
}
"""Each request with its method of the facade, and what it is asked with."""

QUESTIONS = (requests.SearchDocumentsRequest,)
"""Their answers repeat the question to who asks it."""


def places(folder: Path, request: pytest.FixtureRequest) -> dict[str, str]:
    """Returns what the requests name: a file, a page and a feed."""
    page = folder / "tides.md"
    page.write_text("# Tides\n\nHigh water is at noon.\n")
    site = Site()
    request.addfinalizer(site.stop)
    return {
        "FILE": str(page),
        "PAGE": site.put("/tides", "<p>High water is at noon.</p>"),
        "FEED": site.put("/feed", feed_of("spring"), kind="application/rss+xml"),
    }
