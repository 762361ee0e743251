"""Rows of maintenance: what the nightly run found unread and counted, and insights about archived
memories.
"""

from datetime import date, datetime
from typing import ClassVar, Literal

from pydantic import Field

from memory_assets.schema.records.base import Count, Record
from memory_assets.schema.vocabulary import Category, Scope

MissedKind = Literal["session", "message", "note"]


class Missed(Record):
    """Something captured or saved on a day that no run had read when the nightly run looked; the
    same run reads it.
    """

    key: ClassVar = ("day", "kind", "id")
    day: date = Field(
        description="Local day of the window or note; of a message in no window, the day of its "
        "capture."
    )
    kind: MissedKind = Field(
        description="`session`: a closed window without messages or segments; `message`: an "
        "archived message in no window; "
        "`note`: a note without a vector."
    )
    id: str = Field(description="Id of the window, of the message, or of the note's observation.")
    session_id: str = Field(description="The session; empty for a message in no window.")
    found_at: datetime = Field(description="When the nightly run first found it.")


class NightlyStats(Record):
    """The memories at the end of one day, and what the nightly run after it did."""

    day: date = Field(description="The local day that had ended.")
    total: Count = Field(description="Memories at the end of the day, forgotten ones excluded.")
    active: Count = Field(description="Memories that were recalled by default.")
    held: Count = Field(description="Memories held by the write gate or by an unresolved conflict.")
    superseded: Count = Field(description="Memories replaced by another.")
    stale: Count = Field(description="Memories past the TTL of their category.")
    archived: Count = Field(description="Unused memories out of recall, unless asked for.")
    cold: Count = Field(description="Memories archived for long.")
    conflicts: Count = Field(description="Pairs of memories in an unresolved conflict.")
    merged: Count = Field(
        description="Observations of the day that became part of a memory with another wording "
        "or source."
    )
    promoted: Count = Field(description="Facts of the day whose memories got 0.1 more boost.")
    missed: Count = Field(
        description="Sessions, messages and notes of the day that no run had read."
    )
    extracted: Count = Field(description="Those of them that have been read since.")
    categories: list[Category] = Field(description="Categories of the active memories, sorted.")
    category_counts: list[int] = Field(description="Active memories of each of these categories.")


class Insight(Record):
    """One cited sentence about a group of archived memories of one project or person."""

    insight_id: str = Field(description="UUIDv5 of the memory with which the group began.")
    text: str = Field(description="The sentence, with the ids of the memories that it rests on.")
    memory_ids: list[str] = Field(
        description="The memories of the group, in the order in which they were archived."
    )
    memory_count: Count = Field(description="Number of these memories.")
    category: Category = Field(description="The most frequent category of the group.")
    scope: Scope = Field(description="Where its facts apply.")
    project: str = Field(description="Project; empty if the facts apply to a person or everyone.")
    person: str = Field(description="Person; empty if the facts apply to a project or everyone.")
    first_event_at: datetime = Field(description="When the oldest of the facts was first said.")
    event_at: datetime = Field(description="When one of the facts was last said.")
    insighter: str = Field(description="Version of the rules that wrote it.")
