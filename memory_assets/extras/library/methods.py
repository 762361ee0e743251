"""The methods of `MemoryAgent` that the library adds: one for each verb about the slog, decision
records, documents, discoveries and feeds.
"""

from collections.abc import Callable, Sequence
from typing import Any

from memory_assets.extras.library import adrs as decisions
from memory_assets.extras.library import discoveries, requests
from memory_assets.extras.library import documents as library
from memory_assets.extras.library import feeds as watched
from memory_assets.extras.library import slog as log
from memory_assets.extras.library.kept_documents import KeptDocument
from memory_assets.memory import MemoryAgent
from memory_assets.memory.opening import despite_damage
from memory_assets.store.store import Store


def slog(
    agent: MemoryAgent, action: str | requests.SlogRequest | None = None, **options: Any
) -> log.SlogAnswer:
    """Appends an entry to the log of what was done to systems; without an action, returns the
    latest entries.
    """
    request = requests.SlogRequest.of(action, **options)
    answer = log.append if request.action else log.find
    return answer(agent.store_or_unopened(), request)


def adrs(agent: MemoryAgent) -> list[decisions.AdrRow]:
    """Returns the decision records of the owner's projects as they are now, with what is wrong with
    them.
    """
    return decisions.list_adrs(agent.store)


def add_documents(
    agent: MemoryAgent, files: str | Sequence[str] | requests.AddDocumentsRequest, **options: Any
) -> library.Added:
    """Adds files to the library and indexes them; one that cannot be read is named and keeps no
    other out.
    """
    request = requests.AddDocumentsRequest.of(files, **options)
    return _indexed(agent, library.add, agent.store_or_unopened(), request)


def documents(agent: MemoryAgent) -> list[library.DocumentRow]:
    """Returns the documents of the library, the latest first."""
    return library.list_documents(agent.store_or_unopened())


@despite_damage
def search_documents(
    agent: MemoryAgent, question: str | requests.SearchDocumentsRequest, **options: Any
) -> library.FoundInDocuments:
    """Returns the parts of documents that fit the question; nothing else reads them."""
    request = requests.SearchDocumentsRequest.of(question, **options)
    return library.search(agent.store, request)


def remove_document(agent: MemoryAgent, name: str) -> KeptDocument:
    """Removes the document with that id, file name or title from the library, and returns it."""
    return _indexed(agent, library.remove, agent.store, name)


def discover(
    agent: MemoryAgent, source: str | requests.DiscoverRequest, **options: Any
) -> discoveries.Discovered:
    """Reads a page or a repository and keeps a note of it, which the next run makes known to
    recall.
    """
    request = requests.DiscoverRequest.of(source, **options)
    return _indexed(agent, discoveries.discover, agent.store_or_unopened(), request)


def feeds(agent: MemoryAgent) -> list[watched.FeedRow]:
    """Returns the feeds that are watched."""
    return watched.list_feeds(agent.store_or_unopened())


def add_feed(
    agent: MemoryAgent, url: str | requests.AddFeedRequest, **options: Any
) -> watched.FeedRow:
    """Watches a feed: from now on, a poll keeps its new items."""
    request = requests.AddFeedRequest.of(url, **options)
    return watched.add(agent.store_or_unopened(), request)


def remove_feed(agent: MemoryAgent, name: str) -> watched.FeedRow:
    """Watches the feed with that id, address or title no more."""
    return watched.remove(agent.store, name)


def poll_feeds(agent: MemoryAgent) -> watched.Polled:
    """Looks for new items in all feeds at once, and returns their titles."""
    from memory_assets.runs.launch import Runner

    store = agent.store
    earlier = {document.id for document in library.list_documents(store)}
    with Runner(store) as runner:
        if watched.feed_ids(store):
            runner.run("poll_feeds")
        runner.run_due("index_documents")
    rows = library.list_documents(store)
    new = tuple(document.title for document in rows if document.id not in earlier)
    return watched.Polled(tuple(watched.list_feeds(store)), new)


def _indexed(
    agent: MemoryAgent, change: Callable[[Store, Any], Any], store: Store, about: Any
) -> Any:
    """Returns the answer to the change, once the documents are indexed."""
    from memory_assets.runs.launch import Runner

    answer = change(store, about)
    with Runner(agent.store) as runner:
        runner.run_due("index_documents")
    return answer
