"""Rows of transcripts: archived bytes, records, windows, sessions and messages."""

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from memory_assets.schema.records.base import Count, Record, column
from memory_assets.schema.vocabulary import Author, Harness, Trigger

MessageKind = Literal["text", "tool_call", "tool_result", "summary"]
WindowStatus = Literal["observed", "short", "older", "open"]
READ_STATUSES: tuple[WindowStatus, ...] = ("observed", "short")
"""Windows that facts are extracted from."""

RecordStatus = Literal["message", "known", "unknown", "broken", "rewound"]


class Resource(Record):
    """A byte range of a transcript, archived once with secrets and forgotten words masked."""

    id: str = column("Stable id of the range: source, generation and first byte, hashed.")
    source_id: str = column("Stable id of the transcript file, from its path.")
    harness: Harness = column("Which coding agent wrote the transcript.")
    path: str = column("Path of the transcript when it was captured.")
    generation: Count = column("Incremented when the file is rewritten instead of appended to.")
    byte_from: Count = column("First byte of the range in the decompressed transcript.")
    byte_to: Count = column("Byte after the range.")
    line_from: Count = column("Number of the first record of the range, from 0.")
    line_to: Count = column("Record number after the range.")
    sha256: str = column("SHA-256 of the archived (masked) bytes, in hex.")
    content_type: str = column("Media type of the content.")
    content_at: datetime | None = column(
        "Earliest event time inside the range; without one, when its file changed."
    )
    content_until: datetime | None = column(
        "Latest event time inside the range; without one, when its file changed."
    )
    conversation_id: str = column("The session that the transcript belongs to.")
    created_at: datetime = column("When the range was captured.")
    masked_count: Count = column("Secrets masked in the range.")
    masking_version: str = column("Version of the masking rules that were applied.")


class TranscriptRecord(Record):
    """One physical line of a transcript: its type and byte range, without its text."""

    key: ClassVar = ("source_id", "generation", "line")
    source_id: str = column("The transcript file.")
    generation: Count = column("Generation of the file.")
    line: Count = column("Physical 0-based record number in the decompressed transcript.")
    byte_from: Count = column("First byte of the record.")
    byte_to: Count = column("Byte after the record's newline.")
    resource_id: str = column("The archived range that contains the record.")
    session_id: str = column("The session that the file belongs to.")
    record_type: str = column(
        "The harness's own name for the record, such as `response_item/message`."
    )
    status: RecordStatus = column(
        "`message`: part of the conversation; `known`: kept, but not conversation; `unknown`: a "
        "record type without a rule; `broken`: not JSON; `rewound`: of a turn that was taken back."
    )
    message_id: str | None = column("Stable id of the message; the same in a fork that repeats it.")
    author: Author | None = column("Who said it.")
    kind: MessageKind | None = column("What sort of message it is.")
    is_user_turn: bool = column("A turn typed by the human of the main thread.")
    event_at: datetime | None = column("When it was said, from the transcript.")
    chars: Count = column("Length of the message's text in characters.")
    boundary: str | None = column("`compaction` if the harness compacted the context, else empty.")
    kept_from_line: int | None = column(
        "First record that a compaction kept in context, if recorded."
    )
    parent_session_id: str | None = column(
        "The session that this one was forked from or spawned by."
    )
    cwd: str | None = column("Working folder named by the record.")
    branch: str | None = column("Git branch named by the record.")
    repository: str | None = column(
        "Repository named by the record (`owner/name` or URL), else the one its folder was in when "
        "captured."
    )
    title: str | None = column("Session title given by the record.")
    summary: str | None = column(
        "What the harness's model wrote about the session for a person who was away."
    )
    version: str | None = column("Version of the harness.")
    model: str | None = column("The model that wrote the message.")
    files_read: list[str] = column("Files read by the tool call in the record.")
    files_modified: list[str] = column("Files written by the tool call in the record.")


class Window(Record):
    """Part of a session that is observed as a unit, closed by a compaction, the session's end or
    its size.
    """

    window_id: str = column(
        "SHA-256 over session, trigger and first message id; permanent (the dedupe key)."
    )
    session_id: str = column("The session.")
    source_id: str = column("The transcript file.")
    harness: Harness = column("Which coding agent wrote the transcript.")
    path: str = column("Path of the transcript.")
    day: date | None = column(
        "Local day of the latest event in the window; empty while the window is open."
    )
    trigger: Trigger = column("What closed it.")
    status: WindowStatus = column(
        "`observed`; `short` (its session ended with fewer user turns than `short_turns`, without "
        "a compaction: searchable, and read for the owner's corrections and rules alone); `older` "
        "(from before `--since`: only searchable); `open` (still growing)."
    )
    first_message_id: str = column("First message.")
    last_message_id: str = column("Last message.")
    line_from: Count = column("Record number of the first message.")
    line_to: Count = column("Record number of the last message.")
    started_at: datetime = column("Earliest event time.")
    ended_at: datetime = column("Latest event time.")
    is_time_guessed: bool = column(
        "Event times were missing or impossible; the capture time is used."
    )
    message_count: Count = column("Messages in the window.")
    user_turn_count: Count = column("Turns typed by the human.")
    chars: Count = column("Characters of all messages.")
    project: str = column(
        "Project of the session: name of the repository, else what the folder's path says."
    )
    folder: str = column("Working folder.")
    person: str = column(
        "The human of the session: the owner, or a person whose sessions came from elsewhere."
    )
    branch: str | None = column("Git branch at the end of the window.")
    title: str | None = column("Session title given by the harness.")
    summary: str | None = column(
        "The last summary that the harness's model wrote for a person who was away."
    )
    parent_session_id: str | None = column("Session it was forked from or spawned by.")
    version: str | None = column("Version of the harness.")
    message_ids: list[str] = column("Ids of the messages, in order.")
    lines: list[int] = column("Record numbers of the messages, in order.")
    shared_with: list[str] = column(
        "Other transcript files that repeat messages of the window: forks and replays."
    )
    fingerprint: str = column(
        "Hash of the message ids and positions; changes when the window does."
    )


class Session(Record):
    """One session, from the windows that closed on one day: name, duration, counts and files."""

    key: ClassVar = ("session_id", "day")
    session_id: str = column("The session.")
    day: date = column("Local day of the windows.")
    harness: Harness = column("Which coding agent.")
    path: str = column("Path of the transcript.")
    name: str = column("The session's own title, else its first user turn, shortened.")
    project: str = column("Project.")
    folder: str = column("Working folder.")
    person: str = column("The human of the session.")
    branch: str | None = column("Git branch.")
    parent_session_id: str | None = column("Session it was forked from or spawned by.")
    version: str | None = column("Version of the harness.")
    started_at: datetime = column("Earliest event time of the day's windows.")
    ended_at: datetime = column("Latest event time of the day's windows.")
    duration_seconds: Annotated[float, Field(ge=0)] = column("Seconds between the two.")
    window_count: Count = column("Windows closed on the day.")
    message_count: Count = column("Messages in them.")
    user_turn_count: Count = column("Turns typed by the human.")
    files_read: list[str] = column("Files read.")
    files_modified: list[str] = column("Files written.")


class Message(Record):
    """One message of a closed window, with its text."""

    message_id: str = column("Stable id; the same in a fork that repeats it.")
    session_id: str = column(
        "The session that owns it: of those that contain it, the one whose own messages begin "
        "first."
    )
    window_id: str = column("The window it belongs to.")
    day: date | None = column("Local day of the window; empty while the window is open.")
    ordinal: Count = column("Position in the window, from 0.")
    line: Count = column("Physical 0-based record number in the decompressed transcript.")
    byte_from: Count = column("First byte of the record.")
    byte_to: Count = column("Byte after the record.")
    resource_id: str = column("The archived range that contains the record.")
    author: Author = column("Who said it.")
    kind: MessageKind = column("What sort of message it is.")
    tool_name: str | None = column("Tool that was called or answered; `#` of a note.")
    is_error: bool = column("The tool reported an error.")
    is_user_turn: bool = column("A turn typed by the human of the main thread.")
    event_at: datetime = column("When it was said.")
    is_time_guessed: bool = column(
        "The transcript had no usable time; a neighbour's or the capture time is used."
    )
    text: str = column(
        "The text, secrets masked; tool output over 4,000 characters is cut in the middle."
    )
    text_chars: Count = column("Length of the whole text before cutting.")
    image_count: Count = column("Attached images.")
    model: str | None = column(
        "The model that wrote it; empty for what no model wrote, or if the transcript has no model."
    )
    harness_version: str | None = column(
        "Version of the harness that wrote it; of pi, the version of the format."
    )


class Checkpoint(Record):
    """One turn of a session: which messages it has, and the state at its end; their text is in
    `messages`.
    """

    key: ClassVar = ("session_id", "turn")
    session_id: str = column("The session.")
    turn: Count = column(
        "Number of the turn in the session, from 1; 0 is what comes before the first turn, and all "
        "of what a sub-agent did."
    )
    day: date | None = column(
        "Local day of the window in which the turn begins; empty while that window is open."
    )
    source_id: str = column("The transcript file.")
    generation: Count = column("Generation of the file at the end of the turn.")
    line_from: Count = column("Record number of the first message.")
    line_to: Count = column("Record number of the last message.")
    started_at: datetime = column("Earliest event time.")
    ended_at: datetime = column("Latest event time.")
    message_ids: list[str] = column("Ids of the messages, in order.")
    result_count: Count = column("Results of tools.")
    is_compacted: bool = column("The harness compacted the context during the turn.")
    folder: str = column("Working folder at the end of the turn.")
    branch: str | None = column("Git branch at the end of the turn.")
    model: str | None = column("The model that last answered by the end of the turn.")
    version: str | None = column("Version of the harness at the end of the turn.")
    files_read: list[str] = column("Files that the turn's tool calls read, in order.")
    files_modified: list[str] = column("Files that the turn's tool calls wrote, in order.")
