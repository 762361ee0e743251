"""Rows of vectors, merges, memories and the graph of entities."""

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from memory_assets.schema import vocabulary
from memory_assets.schema.records.base import Count, Record, Score, column

Role = Literal["turn", "answer", "step"]
MemoryState = Literal["active", "held", "superseded", "stale", "archived", "cold", "forgotten"]
VALID_STATES = ("active", "stale", "archived", "cold")
"""States of memories that nothing replaced, held or forgot; age and use decide which of them
(`stages.maintain.states`).
"""

EntityKind = Literal[
    "file", "folder", "command", "flag", "package", "service", "tool", "host", "repository",
    "person", "project", "adr",
    "ticket", "standard", "branch", "commit", "variable", "identifier",
]  # fmt: skip


class Embedding(Record):
    """The vector of one distinct text, computed on this machine and keyed by the text's hash."""

    key: ClassVar = ("text_hash", "model", "day")
    text_hash: str = column("SHA-256 of the text, in hex.")
    day: date = column("Local day of the observation.")
    model: str = column("Model that made the vector.")
    model_version: str = column("Hash of the model's weights, shortened.")
    dimension: Count = column("Length of the vector.")
    vector: list[float] = column("Unit-length vector, float32.")


class EmbeddingFailure(Record):
    """A text that the embedding model could not encode; it is found by its words, and tried again
    after five minutes.
    """

    key: ClassVar = ("text_hash", "model", "day")
    text_hash: str = column("SHA-256 of the text, in hex.")
    day: date = column("Local day of the observation.")
    model: str = column("Model that failed.")
    model_version: str = column("Hash of the model's weights, shortened.")
    failed_at: datetime = column("When it was last tried.")
    attempts: Count = column("Times it was tried.")
    problem: str = column("Name of the error, or that the vector was not usable.")


class Passage(Record):
    """A few sentences of a person's or assistant's message; messages are searched by passage."""

    id: str = column("The message's id, `#` and the number of the passage.")
    message_id: str = column("The message it is part of.")
    session_id: str = column("The session that owns the message.")
    window_id: str = column("The window of the message.")
    day: date = column("Local day of the window.")
    line: Count = column("Record number of the message in its transcript.")
    number: Count = column("Position in the message, from 0.")
    author: vocabulary.Author = column("Who said it.")
    role: Role = column(
        "turn (of the owner), answer (ends the assistant's turn) or step (before the answer)."
    )
    event_at: datetime = column("When it was said.")
    char_from: Count = column("First character in the message's text.")
    char_to: Count = column("The character after the last.")
    text_hash: str = column("SHA-256 of the passage's text, in hex; the key of its vector.")


class PassageVector(Record):
    """The vector of one distinct passage and codes of its words; encoded last, because words find
    the passage until then.
    """

    key: ClassVar = ("text_hash", "model", "day")
    text_hash: str = column("SHA-256 of the passage's text, in hex.")
    day: date = column("Local day of the passage.")
    model: str = column("Model that made the vector.")
    model_version: str = column("Hash of the model's weights, shortened.")
    vector: list[float] = column("Unit-length vector, float32.")
    words: bytes = column(
        "Contextual word codes, 48 signed bytes per word; empty if the model has none."
    )


class MergeEdge(Record):
    """Two observations that say the same or contradict each other, or are in doubt; memories are
    built from these edges.
    """

    key: ClassVar = ("newer_id", "older_id")
    newer_id: str = column("The later observation, by event time.")
    older_id: str = column("The earlier observation.")
    similarity: float = column("Cosine of the two vectors.")
    relation: vocabulary.Relation = column(
        "`same`: they merge; `conflict`: they contradict each other; `doubtful`: near, a model may "
        "decide."
    )
    reason: str = column(
        "Why they merge, how they conflict (replaced, reversed, opposite, other value), or why not."
    )


class Memory(Record):
    """The current state of a fact: observations and harness memories, combined with merges and the
    ledger.
    """

    id: str = column("Id of the oldest observation of the cluster.")
    state: MemoryState = column("active, held, superseded, stale, archived, cold or forgotten.")
    kind: Literal["fact", "narrative"] = column("A fact, or a segment's narrative.")
    text: str = column("Newest wording.")
    text_hash: str = column("SHA-256 of the text; the key of its vector.")
    wordings: list[str] = column("All wordings, oldest first.")
    observation_ids: list[str] = column("All observations behind it, oldest first.")
    session_ids: list[str] = column("All sessions behind it, each once.")
    merged_count: Count = column("Observations behind it.")
    priority: vocabulary.Priority = column("The highest of its observations.")
    category: vocabulary.Category = column("Category of the newest wording.")
    confidence: Score = column(
        "Highest of its observations; +0.1 per confirming source, +0.05 each time a source repeats "
        "it, -0.2 per contradicting source."
    )
    confirmed_count: Count = column("Other sources that confirm it.")
    contradicted_count: Count = column("Sources that contradict it.")
    conflicts_with: list[str] = column("Memories in an unresolved conflict with it.")
    strength: vocabulary.Strength = column("The strongest of its observations.")
    sentiment: vocabulary.Sentiment = column("Tone of the newest wording.")
    author: vocabulary.Author = column(
        "Who said it; the owner, if the owner said any of its observations."
    )
    scope: vocabulary.Scope = column("Where it applies.")
    project: str = column("Project.")
    person: str = column("The human of the session.")
    tags: list[str] = column("Tags of its observations, each once.")
    entities: list[str] = column("What it names.")
    first_event_at: datetime = column("When it was first said.")
    event_at: datetime = column("When it was last said; decay starts here.")
    session_id: str = column("Session of the newest wording.")
    path: str = column("Transcript of the newest wording.")
    lines: list[int] = column("Evidence of the newest wording in that transcript.")
    trigger: vocabulary.Trigger = column(
        "What closed the window of the newest wording; `ended` without a session."
    )
    superseded_by: str | None = column("The memory that replaced it.")
    recall_count: Count = column("Times it was recalled by a person or agent.")
    used_count: Count = column("Model answers and sessions that used it.")
    last_used_at: datetime | None = column("When it was last recalled or used.")
    boost: Annotated[float, Field(ge=-1, le=1)] = column(
        "Rank adjustment from sessions, feedback and the nightly run, -0.3 to 0.3: +0.1 for each "
        "use and for each day on which it was said, -0.05 for each time not used."
    )


class Mention(Record):
    """One name in one memory or session, recognised by shape or from a list, with the relations
    that the memory states.
    """

    key: ClassVar = ("memory_id", "kind", "name")
    memory_id: str = column("The memory, or the session; held and forgotten memories are left out.")
    kind: EntityKind = column("Kind of the named thing.")
    name: str = column("Its normalised name.")
    said: list[str] = column("Its spellings in the memory.")
    entity_id: str = column(
        "The entity; a bare file name belongs to the one path of the project that ends with it."
    )
    uses: list[str] = column("Names, as kind/name, that the memory says it uses.")
    part_of: list[str] = column("Names, as kind/name, that the memory says it is part of.")
    replaced_by: list[str] = column("Names, as kind/name, that the memory says replaced it.")
    read_from: str = column("Hash of the text that the names were extracted from.")


class Entity(Record):
    """A file, command, package, service, person or id that memories or sessions name, with its
    other names.
    """

    entity_id: str = column(
        "`ent_` and a hash of kind, name and, if it is local to a project, the project."
    )
    kind: EntityKind = column("Kind of the entity.")
    name: str = column("Its usual name.")
    aliases: list[str] = column("Other names, as memories or developers write it.")
    project: str = column(
        "The project that a file, flag, ticket, branch or identifier belongs to; else empty."
    )
    projects: list[str] = column("Projects whose memories or sessions name it.")
    memory_count: Count = column("Memories and sessions that name it.")
    first_event_at: datetime = column("When it was first named.")
    event_at: datetime = column("When it was last named.")


class RelationRow(Record):
    """A relation between two entities, with the memories that state it."""

    key: ClassVar = ("source_id", "target_id", "kind")
    source_id: str = column(
        "The entity that uses, is part of or was replaced by the target; else the smaller id."
    )
    target_id: str = column("The other entity.")
    kind: Literal["mentioned_together", "uses", "part_of", "replaced_by"] = column(
        "`mentioned_together`: in two memories, or in one that names few things; others: stated in "
        "a memory, or derived from a path or a superseded memory."
    )
    memory_ids: list[str] = column("The memories that support it.")
    memory_count: Count = column("Number of these memories.")
    weight: Score = column(
        "Their number divided by the geometric mean of the memories naming each entity."
    )
    first_event_at: datetime = column("When it was first said.")
    event_at: datetime = column("When it was last said.")
