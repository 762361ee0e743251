"""Reads the names in the messages and tool calls of each session.

Few sessions leave many facts, but all name files, commands and services. A name counts for a
session if two of its messages have it; one alone is often a passing one in a listing. The sessions
stand beside the memories as sources of mentions, under their own ids.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.frames import hash_of
from memory_assets.stages.embed.entities import ENTITIES_VERSION, mentions_in
from memory_assets.stages.embed.names import Name

LEAST_MESSAGES = 2
"""Messages that have a name of the session."""

MOST_CHARS = {"text": 2_000, "tool_call": 400}
"""The beginning of a message in which names are read, by its kind: what a tool call writes into a
file follows behind the path.
"""

READ_KINDS = tuple(MOST_CHARS)
NOT_IN_CALLS = frozenset({"identifier", "variable", "person", "commit"})
"""Kinds of names that are read in texts alone: in a call they are its parameters and code."""

READ_AUTHORS = ("owner", "assistant", "subagent")


def sessions_of(sessions: pl.DataFrame) -> pl.DataFrame:
    """Returns the sessions of the table `sessions` as sources of mentions, each once."""
    return sessions.group_by(id="session_id").agg(
        pl.col("project").first(),
        pl.col("person").first(),
        first_event_at=pl.col("started_at").min(),
        event_at=pl.col("ended_at").max(),
    )


def read_session_mentions(
    sources: pl.DataFrame, messages: pl.DataFrame, earlier: pl.DataFrame
) -> pl.DataFrame:
    """Returns mentions of the sessions; rows of `earlier` stay for unchanged sessions.

    `messages` has the session, kind and text of each message, in order.
    """
    grouped = messages.group_by("session_id").agg("kind", "text").iter_rows()
    texts_of = {session: list(zip(*columns, strict=True)) for session, *columns in grouped}
    rows: list[dict[str, Any]] = []
    unchanged: list[str] = []
    read_before = dict(earlier.select("memory_id", "read_from").iter_rows())
    for session, project, person in sources.select("id", "project", "person").iter_rows():
        texts = texts_of.get(session, [])
        words = (text for _, text in texts)
        read_from = hash_of(ENTITIES_VERSION, *words, project, person)
        if read_before.get(session) == read_from:
            unchanged.append(session)
            continue
        origin = {"memory_id": session, "read_from": read_from, "entity_id": ""}
        lists = {"uses": [], "part_of": [], "replaced_by": []}
        for kind, name, said in _names(texts, project, person):
            rows.append(origin | lists | {"kind": kind, "name": name, "said": said})
    same = earlier.filter(pl.col("memory_id").is_in(unchanged))
    return pl.concat([same, schemas.frame_of("mentions", rows)])


def _names(
    texts: Sequence[tuple[str, str]], project: str, person: str
) -> Iterator[tuple[str, str, list[str]]]:
    """Yields kind, name and other spelling of what the session names; `texts` have kinds."""
    for kind, name in (("project", project), ("person", person)):
        if name:
            yield kind, name, []
    counts = Counter[str]()
    by_key: dict[str, Name] = {}
    for kind, text in texts:
        left_out = NOT_IN_CALLS if kind == "tool_call" else frozenset[str]()
        mentions = mentions_in(text[: MOST_CHARS[kind]])
        names = {mention.key: mention for mention in mentions if mention.kind not in left_out}
        counts.update(names.keys())
        by_key = names | by_key
    for key in sorted(counts):
        mention = by_key[key]
        is_origin = mention.kind in ("project", "person") and mention.name in (project, person)
        if counts[key] >= LEAST_MESSAGES and not is_origin:
            said = [mention.said] if mention.said != mention.name else []
            yield mention.kind, mention.name, said
