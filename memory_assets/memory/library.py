"""The library: one method for each verb about the slog, decision records, documents, discoveries
and feeds.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory_assets.memory.opening import OpenStore, despite_damage
from memory_assets.schema import requests
from memory_assets.stages.library.adr_contradiction import AdrContradiction

if TYPE_CHECKING:
    from memory_assets.services.adrs import AdrRow
    from memory_assets.services.discoveries import Discovered
    from memory_assets.services.documents import Added, DocumentRow, FoundInDocuments
    from memory_assets.services.feeds import FeedRow, Polled
    from memory_assets.services.slog import SlogAnswer
    from memory_assets.store.documents import KeptDocument


class LibraryVerbs(OpenStore):
    """Verbs about what was done to systems, what projects decided, and what was read."""

    def slog(
        self, action: str | requests.SlogRequest | None = None, **options: Any
    ) -> "SlogAnswer":
        """Appends an entry to the log of what was done to systems; without an action, returns the
        latest entries.
        """
        from memory_assets.services import slog

        request = requests.SlogRequest.of(action, **options)
        return (
            slog.append(self._store_or_unopened(), request)
            if request.action
            else slog.find(self._store_or_unopened(), request)
        )

    def adr_conflicts(self) -> tuple[AdrContradiction, ...]:
        """Returns the memories that contradict a decision record in force."""
        from memory_assets.services.adrs import read_contradictions

        return read_contradictions(self.store)

    def adrs(self) -> "list[AdrRow]":
        """Returns the decision records of the owner's projects as they are now, with what is wrong
        with them.
        """
        from memory_assets.services.adrs import list_adrs

        return list_adrs(self.store)

    def add_documents(
        self, files: str | Sequence[str] | requests.AddDocumentsRequest, **options: Any
    ) -> "Added":
        """Adds files to the library and indexes them; one that cannot be read is named and keeps no
        other out.
        """
        from memory_assets.runs import launch
        from memory_assets.services import documents

        added = documents.add(
            self._store_or_unopened(), requests.AddDocumentsRequest.of(files, **options)
        )
        launch.index_documents(self.store)
        return added

    def documents(self) -> "list[DocumentRow]":
        """Returns the documents of the library, the latest first."""
        from memory_assets.services import documents

        return documents.list_documents(self._store_or_unopened())

    @despite_damage
    def search_documents(
        self, question: str | requests.SearchDocumentsRequest, **options: Any
    ) -> "FoundInDocuments":
        """Returns the parts of documents that fit the question; nothing else reads them."""
        from memory_assets.services import documents

        return documents.search(self.store, requests.SearchDocumentsRequest.of(question, **options))

    def remove_document(self, name: str) -> "KeptDocument":
        """Removes the document with that id, file name or title from the library, and returns
        it.
        """
        from memory_assets.runs import launch
        from memory_assets.services import documents

        removed = documents.remove(self.store, name)
        launch.index_documents(self.store)
        return removed

    def discover(self, source: str | requests.DiscoverRequest, **options: Any) -> "Discovered":
        """Reads a page or a repository and keeps a note of it, which the next run makes known to
        recall.
        """
        from memory_assets.runs import launch
        from memory_assets.services import discoveries

        found = discoveries.discover(
            self._store_or_unopened(), requests.DiscoverRequest.of(source, **options)
        )
        launch.index_documents(self.store)
        return found

    def feeds(self) -> "list[FeedRow]":
        """Returns the feeds that are watched."""
        from memory_assets.services import feeds

        return feeds.list_feeds(self._store_or_unopened())

    def add_feed(self, url: str | requests.AddFeedRequest, **options: Any) -> "FeedRow":
        """Watches a feed: from now on, a poll keeps its new items."""
        from memory_assets.services import feeds

        return feeds.add(self._store_or_unopened(), requests.AddFeedRequest.of(url, **options))

    def remove_feed(self, name: str) -> "FeedRow":
        """Watches the feed with that id, address or title no more."""
        from memory_assets.services import feeds

        return feeds.remove(self.store, name)

    def poll_feeds(self) -> "Polled":
        """Looks for new items in all feeds at once, and returns their titles."""
        from memory_assets.runs import launch
        from memory_assets.services import feeds

        known = {one.id for one in self.documents()}
        launch.poll_feeds(self.store)
        new = tuple(one.title for one in self.documents() if one.id not in known)
        return feeds.Polled(tuple(feeds.list_feeds(self.store)), new)
