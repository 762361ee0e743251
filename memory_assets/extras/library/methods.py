"""The methods that the library adds to `MemoryAgent`."""

from collections.abc import Callable, Sequence
from typing import Any

from memory_assets.extras.library import adrs as decisions
from memory_assets.extras.library import discoveries, requests
from memory_assets.extras.library import documents as library
from memory_assets.extras.library import feeds as watched
from memory_assets.extras.library import slog as log
from memory_assets.extras.library.kept_documents import KeptDocument, document_ids
from memory_assets.memory import MemoryAgent
from memory_assets.memory.opening import despite_damage
from memory_assets.store.store import Store


def slog(
    agent: MemoryAgent, action: str | requests.SlogRequest | None = None, **options: Any
) -> log.SlogAnswer:
    """Appends an entry to the log of what was done to systems, or finds entries.

    Without an action it returns the latest entries.
    """
    request = requests.SlogRequest.of(action, **options)
    answer = log.append if request.action else log.find
    return answer(agent.store_or_unopened(), request)


def adrs(agent: MemoryAgent) -> list[decisions.AdrRow]:
    """Returns the decision records of the owner's projects, with their problems."""
    return decisions.list_adrs(agent.store)


def add_documents(
    agent: MemoryAgent, files: str | Sequence[str] | requests.AddDocumentsRequest, **options: Any
) -> library.Added:
    """Adds files to the library and indexes them; reports those that cannot be read."""
    request = requests.AddDocumentsRequest.of(files, **options)
    return _and_index(agent, library.add, agent.store_or_unopened(), request)


def documents(agent: MemoryAgent) -> list[library.DocumentRow]:
    """Returns the documents of the library, the latest first."""
    return library.list_documents(agent.store_or_unopened())


@despite_damage
def search_documents(
    agent: MemoryAgent, question: str | requests.SearchDocumentsRequest, **options: Any
) -> library.FoundInDocuments:
    """Returns the parts of documents that fit the question."""
    request = requests.SearchDocumentsRequest.of(question, **options)
    return library.search(agent.store, request)


def remove_document(agent: MemoryAgent, name: str) -> KeptDocument:
    """Removes the document with that id, file name or title from the library, and returns it."""
    return _and_index(agent, library.remove, agent.store, name)


def discover(
    agent: MemoryAgent, source: str | requests.DiscoverRequest, **options: Any
) -> discoveries.Discovered:
    """Reads a page or a repository and keeps a note; it is recalled after the next run."""
    request = requests.DiscoverRequest.of(source, **options)
    return _and_index(agent, discoveries.discover, agent.store_or_unopened(), request)


def feeds(agent: MemoryAgent) -> list[watched.FeedRow]:
    """Returns the feeds that are watched."""
    return watched.list_feeds(agent.store_or_unopened())


def add_feed(
    agent: MemoryAgent, url: str | requests.AddFeedRequest, **options: Any
) -> watched.FeedRow:
    """Watches a feed: each poll keeps its new items."""
    request = requests.AddFeedRequest.of(url, **options)
    return watched.add(agent.store_or_unopened(), request)


def remove_feed(agent: MemoryAgent, name: str) -> watched.FeedRow:
    """Stops watching the feed with that id, address or title."""
    return watched.remove(agent.store, name)


def poll_feeds(agent: MemoryAgent) -> watched.Polled:
    """Polls all feeds now, and returns them with the titles of new items."""
    from memory_assets.runs.launch import Runner

    store = agent.store
    earlier_ids = {*document_ids(store)}
    with Runner(store) as runner:
        if watched.feed_ids(store):
            runner.run("poll_feeds")
        runner.run_due("index_documents")
    documents = library.list_documents(store)
    new = tuple(document.title for document in documents if document.id not in earlier_ids)
    return watched.Polled(tuple(watched.list_feeds(store)), new)


def _and_index(
    agent: MemoryAgent, change: Callable[[Store, Any], Any], store: Store, request: Any
) -> Any:
    """Makes the change, indexes the documents, and returns what the change returned."""
    from memory_assets.runs.launch import Runner

    answer = change(store, request)
    with Runner(agent.store) as runner:
        runner.run_due("index_documents")
    return answer
