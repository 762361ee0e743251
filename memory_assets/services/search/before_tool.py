"""Says in one line what is surely known of the file or command that a tool is about to use.

An agent did not ask, and waits: so only what holds and the session was not told, without a model,
from what is in memory. Failures are read beside and are used as they were last read.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl

from memory_assets.harnesses.tool_calls import describe_call, shell_command
from memory_assets.schema.requests import RecallRequest
from memory_assets.services.search import known_of
from memory_assets.services.search.named import with_marks
from memory_assets.stages.deliver.shown_context import read_shown_ids
from memory_assets.stages.friction.commands import ROUTINE, parse_steps
from memory_assets.stages.friction.past_failures import PastFailure
from memory_assets.stages.recall.replaced import holds
from memory_assets.store.ready import read_briefing
from memory_assets.store.store import Store
from memory_assets.text.words import count_tokens

MOST_TOKENS = 40
RECENT_DAYS = 90
"""Age of the failures that are told."""

_recent: dict[Path, tuple[object, list[PastFailure]]] = {}
"""Store → what was published when its failures were last read, and these."""

_reading: dict[Path, Thread] = {}


def request_of(tool: str, arguments: Any) -> RecallRequest | None:
    """Returns the request about what the call writes or runs; None where it only looks."""
    files = describe_call(tool, arguments).files_modified
    command = "" if files else shell_command(arguments)
    if any(step.words[0] not in ROUTINE for step in parse_steps(command)):
        return RecallRequest(command=command)
    return RecallRequest(file=files[0]) if files else None


def line_before(
    store: Store,
    memories: pl.DataFrame,
    request: RecallRequest,
    now: datetime,
    *,
    session: str,
    folder: str,
) -> tuple[str, str] | None:
    """Returns the first line that fits and that the session was not told, behind the id of the
    memory or message that it is from.
    """
    lookup = known_of.lookup_of(store, request, now, folder=folder)
    shown_ids = read_shown_ids(str(store.root), session)
    briefing = read_briefing(str(store.root), folder, session)
    cured = _cured_failures(lookup, _recent_failures(store, now))
    for id, text, on in chain(_sure_memories(lookup, memories), cured):
        line = f"Memory: {text} ({on:%Y-%m-%d})"
        is_new = id not in shown_ids and text not in briefing
        if is_new and count_tokens(line) <= MOST_TOKENS:
            return id, line
    return None


Candidate = tuple[str, str, datetime]
"""The id of a memory or message, what is told of it, and when it was said."""


def _sure_memories(lookup: known_of.Lookup, memories: pl.DataFrame) -> Iterator[Candidate]:
    """Yields the memories without a mark, rules first."""
    for result in chain.from_iterable(known_of.memory_groups(lookup, memories)):
        marked = list(with_marks(lookup.store, [result]))
        (*_, present) = known_of.present_results(lookup, marked)
        if not present.tags and holds(present):
            yield result.memory_id, result.text, result.event_at


def _cured_failures(lookup: known_of.Lookup, recent: Sequence[PastFailure]) -> Iterator[Candidate]:
    """Yields the failures after which commands were run, and the same command worked."""
    failures = known_of.failures_of(lookup, recent)
    for failure in sorted(failures, key=lambda failure: failure.call.at, reverse=True):
        text = f"this failed ({failure.line}) and worked after {', '.join(failure.remedy)}"
        yield failure.call.message_id, text, failure.call.at


def _recent_failures(store: Store, now: datetime) -> list[PastFailure]:
    """Returns the failures of the last weeks as they were last read; where tables changed since,
    they are read again beside.
    """
    published = [store.tables.fingerprints(table) for table in known_of.TABLES]
    last = _recent.get(store.root, (None, []))
    reading = _reading.get(store.root)
    if last[0] != published and not (reading and reading.is_alive()):
        reading = Thread(target=_read, args=(store, now, published), daemon=True)
        _reading[store.root] = reading
        reading.start()
    return last[1]


def _read(store: Store, now: datetime, published: object) -> None:
    is_recent = pl.col("event_at") > now - timedelta(days=RECENT_DAYS)
    failures = known_of.read_failures(store.tables, is_recent)
    cured = [failure for failure in failures if failure.remedy]
    _recent[store.root] = (published, cured)
