"""Makes everything that was said findable by its words, before anything is distilled.

The tables that messages are found by are built without Dagster, which takes seconds to start. The
jobs that these tables belong to find them up to date and report them to Dagster.
"""

from collections.abc import Sequence

from memory_assets.runs.days import RECENT_DAYS
from memory_assets.runs.due import capture_is_due
from memory_assets.runs.materialise import materialise
from memory_assets.runs.staleness import stale_partitions
from memory_assets.schema.progress import works
from memory_assets.schema.tables import TABLES, WHOLE, tables_in, with_sources
from memory_assets.store.store import Store

SEARCHED = ("messages_open", "passages", "sessions")
"""The tables with the messages that are searched, and the sessions that results name."""


def index_words(store: Store) -> None:
    """Captures new transcripts, and publishes the terms of their messages, the latest days first.

    The rest of the capture stays due, so that the next job is a capture.
    """
    is_due = capture_is_due(store)
    if is_due:
        _build(store, "capture", [WHOLE])
    days = _days_to_cut(store)
    for stretch in filter(None, (days[:RECENT_DAYS], days[RECENT_DAYS:])):
        _build(store, "process_days", stretch)
        materialise(store, [TABLES["text_index"]], [WHOLE])
    if days:
        works("recall finds the words of every session")
    elif is_due:  # messages of sessions that go on
        materialise(store, [TABLES["text_index"]], [WHOLE])


def _days_to_cut(store: Store) -> list[str]:
    """Returns the days whose messages or passages are not up to date, the latest first."""
    messages = stale_partitions(store, TABLES["messages"])
    return sorted({*messages, *stale_partitions(store, TABLES["passages"])}, reverse=True)


def _build(store: Store, job: str, partitions: Sequence[str]) -> None:
    """Builds the tables of the job that the searched messages are made from."""
    sources = with_sources(SEARCHED)
    for table in tables_in(job):
        if table.name in sources:
            materialise(store, [table], partitions)
