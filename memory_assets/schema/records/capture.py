"""Rows of transcripts: archived bytes, records, windows, sessions and messages."""

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from memory_assets.schema.records.base import Count, Record
from memory_assets.schema.vocabulary import Author, Harness, Trigger

MessageKind = Literal["text", "tool_call", "tool_result", "summary"]
WindowStatus = Literal["observed", "short", "open"]
READ_STATUSES: tuple[WindowStatus, ...] = ("observed", "short")
"""Windows that facts are extracted from."""

RecordStatus = Literal["message", "known", "unknown", "broken"]


class Resource(Record):
    """A byte range of a transcript, archived once with secrets and forgotten words masked."""

    id: str = Field(
        description="Stable id of the range: source, generation and first byte, hashed."
    )
    source_id: str = Field(description="Stable id of the transcript file, from its path.")
    harness: Harness = Field(description="Which coding agent wrote the transcript.")
    path: str = Field(description="Path of the transcript when it was captured.")
    generation: Count = Field(
        description="Incremented when the file is rewritten instead of appended to."
    )
    byte_from: Count = Field(description="First byte of the range in the decompressed transcript.")
    byte_to: Count = Field(description="Byte after the range.")
    line_from: Count = Field(description="Number of the first record of the range, from 0.")
    line_to: Count = Field(description="Record number after the range.")
    sha256: str = Field(description="SHA-256 of the archived (masked) bytes, in hex.")
    content_type: str = Field(description="Media type of the content.")
    content_at: datetime | None = Field(description="Earliest event time inside the range.")
    content_until: datetime | None = Field(description="Latest event time inside the range.")
    conversation_id: str = Field(description="The session that the transcript belongs to.")
    created_at: datetime = Field(description="When the range was captured.")
    masked_count: Count = Field(description="Secrets masked in the range.")
    masking_version: str = Field(description="Version of the masking rules that were applied.")


class TranscriptRecord(Record):
    """One physical line of a transcript: its type and byte range, without its text."""

    key: ClassVar = ("source_id", "generation", "line")
    source_id: str = Field(description="The transcript file.")
    generation: Count = Field(description="Generation of the file.")
    line: Count = Field(
        description="Physical 0-based record number in the decompressed transcript."
    )
    byte_from: Count = Field(description="First byte of the record.")
    byte_to: Count = Field(description="Byte after the record's newline.")
    resource_id: str = Field(description="The archived range that contains the record.")
    session_id: str = Field(description="The session that the file belongs to.")
    record_type: str = Field(
        description="The harness's own name for the record, such as `response_item/message`."
    )
    status: RecordStatus = Field(
        description="`message`: part of the conversation; `known`: kept, but not conversation; "
        "`unknown`: a record type "
        "without a rule; `broken`: not JSON."
    )
    message_id: str | None = Field(
        description="Stable id of the message; the same in a fork that repeats it."
    )
    author: Author | None = Field(description="Who said it.")
    kind: MessageKind | None = Field(description="What sort of message it is.")
    is_user_turn: bool = Field(description="A turn typed by the human of the main thread.")
    event_at: datetime | None = Field(description="When it was said, from the transcript.")
    chars: Count = Field(description="Length of the message's text in characters.")
    boundary: str | None = Field(
        description="`compaction` if the harness compacted the context, else empty."
    )
    kept_from_line: int | None = Field(
        description="First record that a compaction kept in context, if recorded."
    )
    parent_session_id: str | None = Field(
        description="The session that this one was forked from or spawned by."
    )
    cwd: str | None = Field(description="Working folder named by the record.")
    branch: str | None = Field(description="Git branch named by the record.")
    repository: str | None = Field(
        description="Repository named by the record (`owner/name` or URL), else the one its "
        "folder was in when captured."
    )
    title: str | None = Field(description="Session title given by the record.")
    version: str | None = Field(description="Version of the harness.")
    model: str | None = Field(description="The model that wrote the message.")
    files_read: list[str] = Field(description="Files read by the tool call in the record.")
    files_modified: list[str] = Field(description="Files written by the tool call in the record.")


class Window(Record):
    """Part of a session that is observed as a unit, closed by a compaction, the session's end or
    its size.
    """

    window_id: str = Field(
        description="SHA-256 over session, trigger and first message id; permanent (the dedupe "
        "key)."
    )
    session_id: str = Field(description="The session.")
    source_id: str = Field(description="The transcript file.")
    harness: Harness = Field(description="Which coding agent wrote the transcript.")
    path: str = Field(description="Path of the transcript.")
    day: date | None = Field(
        description="Local day of the latest event in the window; empty while the window is open."
    )
    trigger: Trigger = Field(description="What closed it.")
    status: WindowStatus = Field(
        description="`observed`; `short` (its session ended with fewer user turns than "
        "`short_turns`, without a compaction: "
        "searchable, and read for the owner's corrections and rules alone); `open` (still growing)."
    )
    first_message_id: str = Field(description="First message.")
    last_message_id: str = Field(description="Last message.")
    line_from: Count = Field(description="Record number of the first message.")
    line_to: Count = Field(description="Record number of the last message.")
    started_at: datetime = Field(description="Earliest event time.")
    ended_at: datetime = Field(description="Latest event time.")
    is_time_guessed: bool = Field(
        description="Event times were missing or impossible; the capture time is used."
    )
    message_count: Count = Field(description="Messages in the window.")
    user_turn_count: Count = Field(description="Turns typed by the human.")
    chars: Count = Field(description="Characters of all messages.")
    project: str = Field(
        description="Project of the session: name of the repository, else what the folder's path "
        "says."
    )
    folder: str = Field(description="Working folder.")
    person: str = Field(
        description="The human of the session: the owner, or a person whose sessions came from "
        "elsewhere."
    )
    branch: str | None = Field(description="Git branch at the end of the window.")
    title: str | None = Field(description="Session title given by the harness.")
    parent_session_id: str | None = Field(description="Session it was forked from or spawned by.")
    version: str | None = Field(description="Version of the harness.")
    message_ids: list[str] = Field(description="Ids of the messages, in order.")
    lines: list[int] = Field(description="Record numbers of the messages, in order.")
    shared_with: list[str] = Field(
        description="Other transcript files that repeat messages of the window: forks and replays."
    )
    fingerprint: str = Field(
        description="Hash of the message ids and positions; changes when the window does."
    )


class Session(Record):
    """One session, from the windows that closed on one day: name, duration, counts and files."""

    key: ClassVar = ("session_id", "day")
    session_id: str = Field(description="The session.")
    day: date = Field(description="Local day of the windows.")
    harness: Harness = Field(description="Which coding agent.")
    path: str = Field(description="Path of the transcript.")
    name: str = Field(description="The session's own title, else its first user turn, shortened.")
    project: str = Field(description="Project.")
    folder: str = Field(description="Working folder.")
    person: str = Field(description="The human of the session.")
    branch: str | None = Field(description="Git branch.")
    parent_session_id: str | None = Field(description="Session it was forked from or spawned by.")
    version: str | None = Field(description="Version of the harness.")
    started_at: datetime = Field(description="Earliest event time of the day's windows.")
    ended_at: datetime = Field(description="Latest event time of the day's windows.")
    duration_seconds: Annotated[float, Field(ge=0)] = Field(description="Seconds between the two.")
    window_count: Count = Field(description="Windows closed on the day.")
    message_count: Count = Field(description="Messages in them.")
    user_turn_count: Count = Field(description="Turns typed by the human.")
    files_read: list[str] = Field(description="Files read.")
    files_modified: list[str] = Field(description="Files written.")


class Message(Record):
    """One message of a closed window, with its text."""

    message_id: str = Field(description="Stable id; the same in a fork that repeats it.")
    session_id: str = Field(
        description="The session that owns it: of those that contain it, the one whose own "
        "messages begin first."
    )
    window_id: str = Field(description="The window it belongs to.")
    day: date | None = Field(description="Local day of the window; empty while the window is open.")
    ordinal: Count = Field(description="Position in the window, from 0.")
    line: Count = Field(
        description="Physical 0-based record number in the decompressed transcript."
    )
    byte_from: Count = Field(description="First byte of the record.")
    byte_to: Count = Field(description="Byte after the record.")
    resource_id: str = Field(description="The archived range that contains the record.")
    author: Author = Field(description="Who said it.")
    kind: MessageKind = Field(description="What sort of message it is.")
    tool_name: str | None = Field(description="Tool that was called or answered.")
    is_error: bool = Field(description="The tool reported an error.")
    is_user_turn: bool = Field(description="A turn typed by the human of the main thread.")
    event_at: datetime = Field(description="When it was said.")
    is_time_guessed: bool = Field(
        description="The transcript had no usable time; a neighbour's or the capture time is used."
    )
    text: str = Field(
        description="The text, secrets masked; tool output over 4,000 characters is cut in the "
        "middle."
    )
    text_chars: Count = Field(description="Length of the whole text before cutting.")
    image_count: Count = Field(description="Attached images.")
    model: str | None = Field(
        description="The model that wrote it; empty for what no model wrote, or if the "
        "transcript has no model."
    )
    harness_version: str | None = Field(
        description="Version of the harness that wrote it; of pi, the version of the format."
    )


class Checkpoint(Record):
    """One turn of a session: which messages it has, and the state at its end; their text is in
    `messages`.
    """

    key: ClassVar = ("session_id", "turn")
    session_id: str = Field(description="The session.")
    turn: Count = Field(
        description="Number of the turn in the session, from 1; 0 is what comes before the first "
        "turn, and all of what a "
        "sub-agent did."
    )
    day: date | None = Field(
        description="Local day of the window in which the turn begins; empty while that window "
        "is open."
    )
    source_id: str = Field(description="The transcript file.")
    generation: Count = Field(description="Generation of the file at the end of the turn.")
    line_from: Count = Field(description="Record number of the first message.")
    line_to: Count = Field(description="Record number of the last message.")
    started_at: datetime = Field(description="Earliest event time.")
    ended_at: datetime = Field(description="Latest event time.")
    message_ids: list[str] = Field(description="Ids of the messages, in order.")
    result_count: Count = Field(description="Results of tools.")
    is_compacted: bool = Field(description="The harness compacted the context during the turn.")
    folder: str = Field(description="Working folder at the end of the turn.")
    branch: str | None = Field(description="Git branch at the end of the turn.")
    model: str | None = Field(description="The model that last answered by the end of the turn.")
    version: str | None = Field(description="Version of the harness at the end of the turn.")
    files_read: list[str] = Field(description="Files that the turn's tool calls read, in order.")
    files_modified: list[str] = Field(
        description="Files that the turn's tool calls wrote, in order."
    )
