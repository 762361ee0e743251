"""Detects whether sessions used, ignored or only repeated the memories that they were shown.

A memory was used if the session's own words have its id, a run of its words, or most of its words
in one line. It was ignored if the session went on without that. Both are events, written once per
session and memory. A use outweighs an earlier ignored event, and explicit feedback (`memory data
feedback`) outweighs both. The nightly run adds an event for the facts of each day. The boost of a
memory's rank is computed from these events. Sessions without a turn of a person do not count.

An observation that only repeats a memory that its session was shown (injected, or read from
MEMORY.md or `memory recall`) is an echo: it does not confirm the memory. A predecessor of this
program fed 668 copies of one hallucination to itself this way. The owner's own words are never an
echo.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import polars as pl

from memory_assets.english.claims import read_claim
from memory_assets.schema.frames import hash_of
from memory_assets.store.ledger import BOOSTED, FEEDBACK, IGNORED, RECALLED, USED, Event, Planned
from memory_assets.text.short_ids import short_id

USED_ADDS, IGNORED_TAKES, MOST = 0.1, 0.05, 0.3
"""Change of a memory's boost by a session that used or ignored it, and the boost's limit, up or
down."""

SAID_ADDS = 0.1
"""Change of a memory's boost by a day on which it was said (A77, nightly)."""

RUN = 6
"""Fewest consecutive words of a memory in a line that quotes it."""

_WORD = re.compile(r"\w+")

REPEATED = 0.8
"""Least share of a memory's words in a line that has the memory."""

SHOWING = ("injected", "tool", "file", "web")
_OURS = re.compile(
    r"~ .*\(\d?\.\d+, \d+d, [\w-]+\)|^\s*[-*]\s+\(\d{4}-\d{2}-\d{2}\)\s|\bmem_[0-9a-f]{12}\b"
)
"""A recalled memory, an entry of MEMORY.md, or a line that cites a memory, in the format of tools
and files.
"""


def sessions_shown(events: Iterable[Event]) -> frozenset[str]:
    """Returns the sessions that were shown memories."""
    return frozenset(session for session, _ in first_shown(events))


def plan_uses(
    events: Sequence[Event], wordings: Mapping[str, Sequence[str]], messages: pl.DataFrame
) -> list[Planned]:
    """Returns the events for each memory and each session that was shown it: used or ignored.

    `wordings` has the wordings of each memory. `messages` are the sessions' messages (session_id,
    author, event_at, text).
    """
    by_session = _by_session(messages.sort("event_at", maintain_order=True))
    planned: list[Planned] = []
    for (session, memory_id), shown_at in sorted(first_shown(events).items()):
        spoken = by_session.get(session, [])
        has_owner = any(message["author"] == "owner" for message in spoken)
        if memory_id not in wordings or not has_owner:
            continue
        later = [message for message in spoken if message["event_at"] > shown_at]
        about = (memory_id, wordings[memory_id])
        used_at = next((m["event_at"] for m in later if uses_memory(m["text"], *about)), None)
        if used_at is not None:
            planned.append(_plan(USED, session, memory_id, used_at))
        elif any(message["author"] != "owner" for message in later):
            planned.append(_plan(IGNORED, session, memory_id, shown_at))
    return planned


def _by_session(messages: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    groups = messages.group_by("session_id", maintain_order=True)
    return {str(session): rows.to_dicts() for (session,), rows in groups}


def first_shown(events: Iterable[Event]) -> dict[tuple[str, str], datetime]:
    """Returns when each memory was first shown to a session, by session and memory."""
    moments: dict[tuple[str, str], datetime] = {}
    for event in events:
        session = event.payload.get("session")
        if event.kind == RECALLED and session:
            for id in event.payload["memory_ids"]:
                moments[session, id] = min(moments.get((session, id), event.at), event.at)
    return moments


def uses_memory(text: str, memory_id: str, wordings: Sequence[str]) -> bool:
    """Returns whether the text cites the memory, quotes it, or has most of its words in a line."""
    if short_id(memory_id) in text:
        return True
    runs = {run for wording in wordings for run in _runs(wording)}
    claims = [read_claim(wording).words for wording in wordings]
    for line in text.splitlines():
        if not runs.isdisjoint(_runs(line)):
            return True
        words = read_claim(line).words
        if any(len(claim) > 1 and len(words & claim) >= REPEATED * len(claim) for claim in claims):
            return True
    return False


def _runs(text: str) -> set[tuple[str, ...]]:
    words = [word.lower() for word in _WORD.findall(text)]
    return {tuple(words[start : start + RUN]) for start in range(len(words) - RUN + 1)}


def _plan(kind: str, session: str, memory_id: str, at: datetime) -> Planned:
    payload = {"memory_ids": [memory_id], "session": session, "at": at.isoformat()}
    return Planned(f"rule-{hash_of(kind, session, memory_id)}", kind, session, payload)


def boosts(events: Sequence[Event], roots: Mapping[str, str]) -> dict[str, float]:
    """Returns the boost of each memory, between -0.3 and 0.3.

    Of each session, or day, the clearest signal counts; of equally clear ones the last.
    """
    signals: dict[str, dict[str, tuple[int, float]]] = defaultdict(dict)
    for event in events:
        signal = _signal_of(event)
        if signal is None:
            continue
        source = event.payload.get("session") or event.payload.get("day") or event.id
        for root in {roots[id] for id in event.payload["memory_ids"] if id in roots}:
            if signal[0] >= signals[root].get(source, signal)[0]:
                signals[root][source] = signal
    boost_of = {}
    for root, by_source in signals.items():
        total = sum(change for _, change in by_source.values())
        boost_of[root] = round(min(max(total, -MOST), MOST), 4)
    return boost_of


def _signal_of(event: Event) -> tuple[int, float] | None:
    """Returns how clear the signal of the event is, and its change of the boost; None for none."""
    payload: Mapping[str, Any] = event.payload
    if event.kind == FEEDBACK:
        return 2, USED_ADDS if payload["used"] else -IGNORED_TAKES
    if event.kind == USED and payload.get("session"):
        return 1, USED_ADDS
    if event.kind == BOOSTED:
        return 0, SAID_ADDS
    return (0, -IGNORED_TAKES) if event.kind == IGNORED else None


def suspects(planned: Iterable[Planned], observations: pl.DataFrame) -> pl.DataFrame:
    """Returns the newer observations of the planned events that are not the owner's.

    The columns are id, older_id, session_id and event_at.
    """
    pairs = [tuple(event.payload["observation_ids"]) for event in planned]
    schema = {"older_id": pl.String, "id": pl.String}
    ends = pl.DataFrame(pairs, schema=schema, orient="row")
    others = observations.filter(pl.col("author") != "owner")
    return ends.join(others.select("id", "session_id", "event_at"), on="id")


def find_echoes(
    suspected: pl.DataFrame, observations: pl.DataFrame, shown: pl.DataFrame
) -> frozenset[str]:
    """Returns the ids of the suspects whose session was shown the older observation before.

    `shown` are messages of these sessions (session_id, author, event_at, text) that neither the
    owner nor an assistant wrote.
    """
    older = observations.filter(pl.col("id").is_in(suspected["older_id"].implode()))
    texts = dict(older.select("id", "text").iter_rows())
    by_session = _by_session(shown)
    return frozenset(
        row["id"]
        for row in suspected.iter_rows(named=True)
        if _was_shown(texts[row["older_id"]], row, by_session.get(row["session_id"], []))
    )


def _was_shown(text: str, observation: dict[str, Any], messages: Sequence[dict[str, Any]]) -> bool:
    words = read_claim(text).words
    least = REPEATED * max(len(words), 1)
    for message in messages:
        if message["event_at"] > observation["event_at"]:
            continue
        for line in message["text"].splitlines():
            shows = message["author"] == "injected" or _OURS.search(line)
            if shows and len(read_claim(line).words & words) >= least:
                return True
    return False
