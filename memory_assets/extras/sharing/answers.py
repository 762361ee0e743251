"""Answers of a shared memory besides recall: briefing, dates, state, and the origin of a fact.

They are made from the memories that the reader may read, never from the files that the pipeline
prepared for the owner.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import polars as pl

from memory_assets.errors import NoteError, UnknownIdError, UnknownMemoryError
from memory_assets.extras.sharing.visibility import Reader, memory_md_of, present_of
from memory_assets.services.forget.forget import Forgetting
from memory_assets.services.search.brief_inputs import due_triggers
from memory_assets.services.search.memory_ids import find_memory
from memory_assets.stages.brief.due import Trigger
from memory_assets.stages.recall.results import Answer, Recalled
from memory_assets.stages.triage.explain import Explanation, ProvenanceStep
from memory_assets.stages.triage.memory_md import normal
from memory_assets.store.store import Store
from memory_assets.text.words import count_tokens, squeezed

BRIEF_TOKENS = 2_000
"""Tokens of a briefing, as many as the owner's has."""

SHARED = "shared memory"
"""Kind of the last step of an explanation where sessions of other people follow."""

PRIORITIES = {"high": 0, "medium": 1, "low": 2}
OUTLINE = "text state confidence category priority project person merged_count".split()
"""Fields of a memory that an explanation shows to other people than those who said it."""


@dataclass(frozen=True)
class SharedStatus:
    """The state of a shared memory, as its reader may know it."""

    person: str
    project: str
    scopes: tuple[str, ...]
    memories: Mapping[str, int]
    """Readable memories by state."""
    sessions: int
    """Number of the reader's own sessions."""
    pending: int
    """Number of proposals that the reader may see."""
    updated_at: datetime | None


def status_for(store: Store, reader: Reader, *, pending: int) -> SharedStatus:
    """Returns the state as the reader may know it."""
    states = present_of(store, reader).group_by("state").len().sort("state")
    own_windows = store.tables.scan("windows").filter(pl.col("person") == reader.person)
    build_times = [info.written_at for info in store.tables.parts("memories").values()]
    return SharedStatus(
        person=reader.person,
        project=reader.project,
        scopes=reader.scopes,
        memories=dict(states.iter_rows()),
        sessions=own_windows.select("session_id").unique().collect().height,
        pending=pending,
        updated_at=max(build_times, default=None),
    )


def briefing_for(store: Store, reader: Reader) -> str:
    """Returns the entries of the project's file, then the reader's own active personal facts.

    The text is cut to the tokens of a briefing.
    """
    is_own = (
        (pl.col("scope") == "person")
        & (pl.col("person") == reader.person)
        & (pl.col("state") == "active")
    )
    priority = pl.col("priority").replace_strict(PRIORITIES, default=3, return_dtype=pl.Int8)
    own_facts = present_of(store, reader).filter(is_own, kind="fact")
    own_facts = own_facts.sort(priority, -pl.col("event_at").dt.epoch("ms"), "id")
    lines = memory_md_of(store, reader).split("\n")
    # An entry is `- (2026-08-01) text`.
    entries = {normal(line.partition(") ")[2]) for line in lines}
    personal = [f"- {squeezed(text)}" for text in own_facts["text"] if normal(text) not in entries]
    if personal:
        lines += [f"\n## {reader.person}\n", *personal]
    return _first_lines(lines, BRIEF_TOKENS)


def _first_lines(lines: Sequence[str], tokens: int) -> str:
    """Returns as many of the first lines as fit into the tokens."""
    count = 0
    for index, line in enumerate(lines):
        count += count_tokens(f"{line}\n")
        if count > tokens:
            lines = lines[:index]
            break
    return "\n".join(lines).rstrip() + "\n"


def triggers_for(store: Store, reader: Reader, day: date | None) -> tuple[Trigger, ...]:
    """Returns the dates that the reader mentioned: those due on the day, without a day all."""
    triggers = due_triggers(store, present_of(store, reader), on=day, is_all=day is None)
    return tuple(trigger for trigger in triggers if trigger.person == reader.person)


def readable_memory(store: Store, reader: Reader, name: str) -> dict[str, Any]:
    """Returns the readable memory with that id; another one is as unknown as none."""
    return find_memory(present_of(store, reader), name)


def explained_memory(store: Store, reader: Reader, target: str) -> tuple[dict[str, Any], bool]:
    """Returns the memory with that id, and whether only sessions of the reader say it."""
    present = present_of(store, reader)
    try:
        memory_id = find_memory(present, target)["id"]
    except (UnknownMemoryError, NoteError) as error:
        raise UnknownIdError(str(error)) from None
    memory = present.row(by_predicate=pl.col("id") == memory_id, named=True)
    windows = store.tables.scan("windows").filter(pl.col("session_id").is_in(memory["session_ids"]))
    persons = {memory["person"], *windows.select("person").collect()["person"]}
    return memory, persons == {reader.person}


def is_only_of(store: Store, reader: Reader, forgetting: Forgetting) -> bool:
    """Returns whether only memories and messages of the reader would be erased."""
    readable_ids = frozenset(present_of(store, reader)["id"])
    tables = [store.tables.scan(name) for name in ("messages", "messages_open")]
    messages = pl.concat(table.select("message_id", "window_id") for table in tables)
    windows = store.tables.scan("windows").select("window_id", "person")
    erased = messages.filter(pl.col("message_id").is_in(list(forgetting.message_ids)))
    persons = erased.join(windows, on="window_id", how="left").select("person").collect()
    memory_ids = {memory.memory_id for memory in forgetting.memories}
    return set(persons["person"]) <= {reader.person} and memory_ids <= readable_ids


def outline_of(target: str, memory: Mapping[str, Any]) -> Explanation:
    """Returns the explanation of a memory that others said, without their words."""
    facts = {name: memory[name] for name in OUTLINE}
    facts["said_at"] = memory["event_at"].isoformat()
    return Explanation(target, ProvenanceStep(SHARED, memory["id"], facts))


def find_result(answer: Answer, words: str) -> Recalled | None:
    """Returns the first result that contains the words."""
    phrase = normal(words)
    matches = (result for result in answer.results if phrase in normal(result.text))
    return next(matches, None) if phrase else None
