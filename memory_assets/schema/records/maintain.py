"""Rows of maintenance: what the nightly run found unread and counted, and insights about archived
memories.
"""

from datetime import date, datetime
from typing import ClassVar, Literal

from memory_assets.schema.records.base import Count, Record, column
from memory_assets.schema.vocabulary import Category, Scope

MissedKind = Literal["session", "message", "note"]


class Missed(Record):
    """Something captured or saved on a day that no run had read when the nightly run looked; the
    same run reads it.
    """

    key: ClassVar = ("day", "kind", "id")
    day: date = column(
        "Local day of the window or note; of a message in no window, the day of its capture."
    )
    kind: MissedKind = column(
        "`session`: a closed window without messages or segments; `message`: an archived message "
        "in no window; `note`: a note without a vector."
    )
    id: str = column("Id of the window, of the message, or of the note's observation.")
    session_id: str = column("The session; empty for a message in no window.")
    found_at: datetime = column("When the nightly run first found it.")


class NightlyStats(Record):
    """The memories at the end of one day, and what the nightly run after it did."""

    day: date = column("The local day that had ended.")
    total: Count = column("Memories at the end of the day, forgotten ones excluded.")
    active: Count = column("Memories that were recalled by default.")
    held: Count = column("Memories held by the write gate or by an unresolved conflict.")
    superseded: Count = column("Memories replaced by another.")
    stale: Count = column("Memories past the TTL of their category.")
    archived: Count = column("Unused memories out of recall, unless asked for.")
    cold: Count = column("Memories archived for long.")
    conflicts: Count = column("Pairs of memories in an unresolved conflict.")
    merged: Count = column(
        "Observations of the day that became part of a memory with another wording or source."
    )
    promoted: Count = column("Facts of the day whose memories got 0.1 more boost.")
    missed: Count = column("Sessions, messages and notes of the day that no run had read.")
    extracted: Count = column("Those of them that have been read since.")
    categories: list[Category] = column("Categories of the active memories, sorted.")
    category_counts: list[int] = column("Active memories of each of these categories.")


class Insight(Record):
    """One cited sentence about a group of archived memories of one project or person."""

    insight_id: str = column("UUIDv5 of the memory with which the group began.")
    text: str = column("The sentence, with the ids of the memories that it rests on.")
    memory_ids: list[str] = column(
        "The memories of the group, in the order in which they were archived."
    )
    memory_count: Count = column("Number of these memories.")
    category: Category = column("The most frequent category of the group.")
    scope: Scope = column("Where its facts apply.")
    project: str = column("Project; empty if the facts apply to a person or everyone.")
    person: str = column("Person; empty if the facts apply to a project or everyone.")
    first_event_at: datetime = column("When the oldest of the facts was first said.")
    event_at: datetime = column("When one of the facts was last said.")
    insighter: str = column("Version of the rules that wrote it.")
