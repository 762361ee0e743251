"""Finds observations that only repeat a memory that their session was shown before.

A memory that is injected into a session, or read there from MEMORY.md or `memory recall`, comes back in the assistant's words.
That is no second source: a predecessor fed 668 copies of one hallucination to itself this way. The owner's own words are never
an echo.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from memory_assets.stages.embed.claims import read_claim
from memory_assets.store.ledger import Planned

REPEATED = 0.8
"""Share of a memory's words from which a line shows that memory."""

SHOWING = ("injected", "tool", "file", "web")
_OURS = re.compile(r"~ .*\(\d?\.\d+, \d+d, [\w-]+\)|^\s*[-*]\s+\(\d{4}-\d{2}-\d{2}\)\s|\bmem_[0-9a-f]{12}\b")
"""A recalled memory, an entry of MEMORY.md, or a line that cites a memory, in the format of tools and files."""


def suspects(planned: Iterable[Planned], observations: pl.DataFrame) -> pl.DataFrame:
    """Returns (id, older_id, session_id, event_at) of the planned events' newer observations that are not the owner's."""
    pairs = [tuple(one.payload["observation_ids"]) for one in planned]
    ends = pl.DataFrame(pairs, schema={"older_id": pl.String, "id": pl.String}, orient="row")
    return ends.join(observations.filter(pl.col("author") != "owner").select("id", "session_id", "event_at"), on="id")


def find_echoes(found: pl.DataFrame, observations: pl.DataFrame, shown: pl.DataFrame) -> frozenset[str]:
    """Returns the ids of the suspects whose session was shown the older observation before.

    `shown` are messages (session_id, author, event_at, text) of those sessions that neither owner nor assistant wrote.
    """
    texts = dict(observations.filter(pl.col("id").is_in(found["older_id"].implode())).select("id", "text").iter_rows())
    by_session = {str(key[0]): rows.to_dicts() for key, rows in shown.group_by("session_id")}
    return frozenset(
        row["id"]
        for row in found.iter_rows(named=True)
        if _was_shown(texts[row["older_id"]], row, by_session.get(row["session_id"], []))
    )


def _was_shown(text: str, spoken: dict[str, Any], messages: Sequence[dict[str, Any]]) -> bool:
    words = read_claim(text).words
    return any(
        len(read_claim(line).words & words) >= REPEATED * max(len(words), 1)
        for message in messages
        if message["event_at"] <= spoken["event_at"]
        for line in message["text"].splitlines()
        if message["author"] == "injected" or _OURS.search(line)
    )
