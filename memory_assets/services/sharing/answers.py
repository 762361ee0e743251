"""What a shared memory answers besides recall: the briefing, dates, the state, and where a fact
comes from.

Each is made from what the reader may read. The files that the pipeline prepared for the owner are
not used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import polars as pl

from memory_assets.errors import NoteError, UnknownIdError, UnknownMemoryError
from memory_assets.services.forget.forget import Forgetting
from memory_assets.services.search.brief_inputs import due_triggers
from memory_assets.services.search.memory_ids import find_memory
from memory_assets.services.sharing.reader import Reader
from memory_assets.services.sharing.visibility import memory_md_of, present_of
from memory_assets.stages.brief.due import Trigger
from memory_assets.stages.recall.results import Answer, Recalled
from memory_assets.stages.triage.explain import Explanation, ProvenanceStep
from memory_assets.stages.triage.memory_md import normal
from memory_assets.store.store import Store
from memory_assets.text.words import count_tokens, squeezed

BRIEF_TOKENS = 2_000
"""As for the owner's briefing."""

SHARED = "shared memory"
"""The kind of a step that ends a chain: what is behind it was said in sessions of others."""


@dataclass(frozen=True)
class SharedStatus:
    """The state of a shared memory, as its reader may know it."""

    person: str
    project: str
    scopes: tuple[str, ...]
    memories: Mapping[str, int]
    """Readable memories by state."""
    sessions: int
    """The reader's own sessions."""
    pending: int
    """Proposals that the reader may see."""
    updated_at: datetime | None


def status_for(store: Store, reader: Reader, *, pending: int) -> SharedStatus:
    """Returns the state as the reader may know it."""
    states = present_of(store, reader).group_by("state").len().sort("state")
    sessions = (
        store.tables.scan("windows")
        .filter(pl.col("person") == reader.person)
        .select("session_id")
        .unique()
    )
    written = [info.written_at for info in store.tables.parts("memories").values()]
    return SharedStatus(
        person=reader.person,
        project=reader.project,
        scopes=reader.scopes,
        memories=dict(states.iter_rows()),
        sessions=sessions.collect().height,
        pending=pending,
        updated_at=max(written, default=None),
    )


def briefing_for(store: Store, reader: Reader) -> str:
    """Returns the entries of the project's file and the reader's own active personal facts, within
    the tokens of a briefing.
    """
    present = present_of(store, reader)
    order = pl.col("priority").replace_strict(
        {"high": 0, "medium": 1, "low": 2}, default=3, return_dtype=pl.Int8
    )
    is_own = (
        (pl.col("scope") == "person")
        & (pl.col("person") == reader.person)
        & (pl.col("state") == "active")
    )
    own = present.filter(is_own, kind="fact").sort(order, -pl.col("event_at").dt.epoch("ms"), "id")
    lines = memory_md_of(store, reader).split("\n")
    said = {normal(line.partition(") ")[2]) for line in lines}
    personal = [f"- {squeezed(text)}" for text in own["text"] if normal(text) not in said]
    lines += [f"\n## {reader.person}\n", *personal] if personal else []
    return _within(lines, BRIEF_TOKENS)


def _within(lines: Sequence[str], tokens: int) -> str:
    kept, left = list[str](), tokens
    for line in lines:
        left -= count_tokens(f"{line}\n")
        if left < 0:
            break
        kept.append(line)
    return "\n".join(kept).rstrip() + "\n"


def triggers_for(store: Store, reader: Reader, day: date | None) -> tuple[Trigger, ...]:
    """Returns the dates that the reader mentioned."""
    found = due_triggers(store, present_of(store, reader), on=day, is_all=day is None)
    return tuple(one for one in found if one.person == reader.person)


def readable_memory(store: Store, reader: Reader, name: str) -> dict[str, Any]:
    """Returns the readable memory of that id; the error for an unreadable one is that for an
    unknown one.
    """
    return find_memory(present_of(store, reader), name)


def explained_memory(store: Store, reader: Reader, target: str) -> tuple[dict[str, Any], bool]:
    """Returns the memory of that id and whether everything behind it was said in the reader's own
    sessions.
    """
    try:
        memory = readable_memory(store, reader, target)
    except (UnknownMemoryError, NoteError) as error:
        raise UnknownIdError(str(error)) from None
    row = present_of(store, reader).filter(pl.col("id") == memory["id"]).row(0, named=True)
    windows = (
        store.tables.scan("windows")
        .filter(pl.col("session_id").is_in(row["session_ids"]))
        .select("person")
        .collect()
    )
    persons = {row["person"], *windows["person"]}
    return row, persons == {reader.person}


def is_only_of(store: Store, reader: Reader, found: Forgetting) -> bool:
    """Returns whether only memories and messages of the reader would be erased."""
    readable = frozenset(present_of(store, reader)["id"])
    messages = pl.concat(
        [
            store.tables.scan(name).select("message_id", "window_id")
            for name in ("messages", "messages_open")
        ]
    )
    windows = store.tables.scan("windows").select("window_id", "person")
    said = messages.filter(pl.col("message_id").is_in(list(found.message_ids))).join(
        windows, on="window_id", how="left"
    )
    persons = set(said.select("person").collect()["person"])
    return persons <= {reader.person} and all(one.memory_id in readable for one in found.memories)


def outline_of(target: str, row: Mapping[str, Any]) -> Explanation:
    """Returns where a memory of others comes from, without what was said."""
    names = (
        "text",
        "state",
        "confidence",
        "category",
        "priority",
        "project",
        "person",
        "merged_count",
    )
    facts = {name: row[name] for name in names} | {"said_at": row["event_at"].isoformat()}
    return Explanation(target, ProvenanceStep(SHARED, row["id"], facts))


def find_says(found: Answer, words: str) -> Recalled | None:
    """Returns the first result that contains the words."""
    wanted = normal(words)
    return next((one for one in found.results if wanted and wanted in normal(one.text)), None)
