"""The row types of all tables, in pipeline order; the file to read first.

`tables.TABLES` maps each table to its record. The schemas in `frames.py`, the Dagster UI and `docs/tables.md` are generated
from the field descriptions. Times are UTC; a `day` is the local day, in the owner's zone, of the latest event of a window.
"""

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

MEMORY_MD = "MEMORY.md"
"""Name of the curated file in the workspace; its lines are cited as `MEMORY.md:LINE`."""

FrictionKind = Literal[
    "repeated_correction", "recurring_failure", "tool_misuse", "configuration_drift", "missing_skill", "stale_memory"
]  # fmt: skip
Harness = Literal["claude_code", "pi", "codex"]
Author = Literal["owner", "assistant", "subagent", "tool", "file", "web", "injected"]
MessageKind = Literal["text", "tool_call", "tool_result", "summary"]
Role = Literal["turn", "answer", "step"]
RecordStatus = Literal["message", "known", "unknown", "broken"]
Trigger = Literal["compaction", "ended", "tail", "open"]
Priority = Literal["high", "medium", "low"]
AnswerState = Literal["answered", "cut", "refused", "failed"]
Verdict = Literal["allow", "hold", "discard"]
Category = Literal[
    "preferences", "rules-conventions", "system-architecture", "operations", "memory-system", "projects",
    "people-relationships",
]  # fmt: skip
Strength = Literal["explicit", "implied", "inferred"]
Sentiment = Literal["frustrated", "excited", "uncertain", "neutral"]
Scope = Literal["project", "person", "everyone"]
MemoryState = Literal["active", "held", "superseded", "stale", "archived", "cold", "forgotten"]
EntityKind = Literal[
    "file", "folder", "command", "flag", "package", "service", "tool", "host", "repository", "person", "project", "adr",
    "ticket", "standard", "branch", "commit", "variable", "identifier",
]  # fmt: skip
SpanName = Literal["day", "week", "month"]
RecallOutcome = Literal["summaries", "memories", "word for word", "not in memory", "unrecorded"]
QualityMeasure = Literal[
    "verdict", "reason", "parse_path", "priority", "category", "junk", "repeated", "ungrounded", "invented_time",
    "dangling", "conversational", "long", "owner_unheard",
]  # fmt: skip
EvaluationMeasure = Literal[
    "recall", "recall_high", "recall_owner_rules", "precision", "noise", "f1", "allowed", "judged", "right", "noisy",
]  # fmt: skip
Score = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class Record(BaseModel):
    """A frozen row; `key` names the columns that identify it, by default the first one."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: ClassVar[tuple[str, ...]] = ()


class SentEvent(Record):
    """An event that a harness, a person or a program sent through the spool; each event once."""

    event_id: str = Field(description="The sender's id, prefixed with `spool-`; its ledger line has the same id.")
    name: str = Field(description="Name of the event, such as `memory/session.ended`; docs/hooks.md lists them.")
    subject: str = Field(description="What it is about: the id of a session or of a proposal, or a day.")
    harness: str | None = Field(description="Which coding agent sent it.")
    details: str = Field(description="Its other fields (counts, a reason), as JSON.")
    sent_at: datetime = Field(description="When it was sent.")
    received_at: datetime = Field(description="When it was read from the spool.")


class DeadLetter(Record):
    """A spool line that cannot be parsed or is not permitted, quarantined with the reason."""

    letter_id: str = Field(description="Hash of the line and its position in the spool.")
    reason: str = Field(description="Why it was quarantined.")
    name: str = Field(description="Name of the event, if known.")
    bytes: Count = Field(description="Length of the line.")
    file: str = Field(description="File below `spool/aside/` that holds the line, secrets masked.")
    spooled_in: str = Field(description="Spool file that contained it.")
    start: Count = Field(description="Its byte offset in that file.")
    received_at: datetime = Field(description="When it was quarantined.")


class Resource(Record):
    """A byte range of a transcript, archived once with secrets and forgotten words masked."""

    id: str = Field(description="Stable id of the range: source, generation and first byte, hashed.")
    source_id: str = Field(description="Stable id of the transcript file, from its path.")
    harness: Harness = Field(description="Which coding agent wrote the transcript.")
    path: str = Field(description="Path of the transcript when it was captured.")
    generation: Count = Field(description="Incremented when the file is rewritten instead of appended to.")
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
    line: Count = Field(description="Physical 0-based record number in the decompressed transcript.")
    byte_from: Count = Field(description="First byte of the record.")
    byte_to: Count = Field(description="Byte after the record's newline.")
    resource_id: str = Field(description="The archived range that contains the record.")
    session_id: str = Field(description="The session that the file belongs to.")
    record_type: str = Field(description="The harness's own name for the record, such as `response_item/message`.")
    status: RecordStatus = Field(
        description="`message`: part of the conversation; `known`: kept, but not conversation; `unknown`: a record type "
        "without a rule; `broken`: not JSON."
    )
    message_id: str | None = Field(description="Stable id of the message; the same in a fork that repeats it.")
    author: Author | None = Field(description="Who said it.")
    kind: MessageKind | None = Field(description="What sort of message it is.")
    is_user_turn: bool = Field(description="A turn typed by the human of the main thread.")
    event_at: datetime | None = Field(description="When it was said, from the transcript.")
    chars: Count = Field(description="Length of the message's text in characters.")
    boundary: str | None = Field(description="`compaction` if the harness compacted the context, else empty.")
    kept_from_line: int | None = Field(description="First record that a compaction kept in context, if recorded.")
    parent_session_id: str | None = Field(description="The session that this one was forked from or spawned by.")
    cwd: str | None = Field(description="Working folder named by the record.")
    branch: str | None = Field(description="Git branch named by the record.")
    repository: str | None = Field(description="Repository named by the record (`owner/name` or URL).")
    title: str | None = Field(description="Session title given by the record.")
    version: str | None = Field(description="Version of the harness.")
    files_read: list[str] = Field(description="Files read by the tool call in the record.")
    files_modified: list[str] = Field(description="Files written by the tool call in the record.")


class Window(Record):
    """Part of a session that is observed as a unit, closed by a compaction, the session's end or its size."""

    window_id: str = Field(description="SHA-256 over session, trigger and first message id; permanent (the dedupe key).")
    session_id: str = Field(description="The session.")
    source_id: str = Field(description="The transcript file.")
    harness: Harness = Field(description="Which coding agent wrote the transcript.")
    path: str = Field(description="Path of the transcript.")
    day: date | None = Field(description="Local day of the latest event in the window; empty while the window is open.")
    trigger: Trigger = Field(description="What closed it.")
    status: Literal["observed", "skipped_short", "open"] = Field(
        description="`observed`; `skipped_short` (ended with fewer user turns than `short_turns`: searchable, not distilled); "
        "`open` (still growing)."
    )
    first_message_id: str = Field(description="First message.")
    last_message_id: str = Field(description="Last message.")
    line_from: Count = Field(description="Record number of the first message.")
    line_to: Count = Field(description="Record number of the last message.")
    started_at: datetime = Field(description="Earliest event time.")
    ended_at: datetime = Field(description="Latest event time.")
    is_time_guessed: bool = Field(description="Event times were missing or impossible; the capture time is used.")
    message_count: Count = Field(description="Messages in the window.")
    user_turn_count: Count = Field(description="Turns typed by the human.")
    chars: Count = Field(description="Characters of all messages.")
    project: str = Field(description="Project of the session: repository name, else the folder's name.")
    folder: str = Field(description="Working folder.")
    person: str = Field(description="The human of the session, from the home folder or the person map.")
    branch: str | None = Field(description="Git branch at the end of the window.")
    title: str | None = Field(description="Session title given by the harness.")
    parent_session_id: str | None = Field(description="Session it was forked from or spawned by.")
    version: str | None = Field(description="Version of the harness.")
    message_ids: list[str] = Field(description="Ids of the messages, in order.")
    lines: list[int] = Field(description="Record numbers of the messages, in order.")
    fingerprint: str = Field(description="Hash of the message ids and positions; changes when the window does.")


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
    session_id: str = Field(description="The session that owns it (the earliest one that contains it).")
    window_id: str = Field(description="The window it belongs to.")
    day: date | None = Field(description="Local day of the window; empty while the window is open.")
    ordinal: Count = Field(description="Position in the window, from 0.")
    line: Count = Field(description="Physical 0-based record number in the decompressed transcript.")
    byte_from: Count = Field(description="First byte of the record.")
    byte_to: Count = Field(description="Byte after the record.")
    resource_id: str = Field(description="The archived range that contains the record.")
    author: Author = Field(description="Who said it.")
    kind: MessageKind = Field(description="What sort of message it is.")
    tool_name: str | None = Field(description="Tool that was called or answered.")
    is_error: bool = Field(description="The tool reported an error.")
    is_user_turn: bool = Field(description="A turn typed by the human of the main thread.")
    event_at: datetime = Field(description="When it was said.")
    is_time_guessed: bool = Field(description="The transcript had no usable time; a neighbour's or the capture time is used.")
    text: str = Field(description="The text, secrets masked; tool output over 4,000 characters is cut in the middle.")
    text_chars: Count = Field(description="Length of the whole text before cutting.")
    image_count: Count = Field(description="Attached images.")


class ObserverAnswer(Record):
    """One model call about a window: the raw answer, its tokens, price and time; none without a model."""

    key: ClassVar = ("window_id", "ordinal")
    window_id: str = Field(description="The window.")
    ordinal: Count = Field(description="Number of the call, from 0; a long window takes several.")
    call_count: Count = Field(description="Calls for the whole window.")
    session_id: str = Field(description="The session.")
    day: date = Field(description="Local day of the window.")
    row_from: Count = Field(description="Position in the window of the call's first message.")
    row_to: Count = Field(description="Position of its last message.")
    state: AnswerState = Field(description="answered; cut (truncated); refused or failed (the rules observe these messages).")
    problem: str | None = Field(description="Why there is no answer.")
    answer: str | None = Field(description="Name of the raw answer's file below `answers/`, without its extension.")
    model: str = Field(description="Model that was asked.")
    answered_by: str | None = Field(description="Model name given in the answer.")
    prompt_hash: str = Field(description="Hash of the prompt.")
    parameters: str = Field(description="Parameters of the call.")
    serialiser: str = Field(description="Version of the message serialisation.")
    stop_reason: str | None = Field(description="Stop reason, as the Messages API names it.")
    attempts: Count = Field(description="Answers that were paid for, including truncated ones.")
    input_tokens: Count = Field(description="Uncached tokens sent, in all attempts.")
    cache_read_tokens: Count = Field(description="Tokens read from the provider's prompt cache.")
    cache_write_tokens: Count = Field(description="Tokens written to the provider's prompt cache.")
    output_tokens: Count = Field(description="Tokens of the answers.")
    cost_usd: float | None = Field(description="Price of all attempts in US dollars; empty if the model's price is unknown.")
    seconds: float = Field(description="Duration of the call; 0 in a batch.")
    is_batch: bool = Field(description="Answered in a batch, at half the price.")
    asked_at: datetime | None = Field(description="When the answer arrived.")
    shown_ids: list[str] = Field(description="Earlier memories shown with the question.")
    cited_ids: list[str] = Field(description="Those that the answer cites.")
    parse_path: str | None = Field(description="How the answer was parsed: segments, structured, flat, list, raw or empty.")
    fact_count: Count = Field(description="Facts in the answer.")
    current_task: str | None = Field(description="The task in progress at the end, according to the model.")
    suggested_response: str | None = Field(description="How the next session could continue, according to the model.")


class Segment(Record):
    """Consecutive messages about one topic, with a narrative of one to three sentences."""

    segment_id: str = Field(description="UUIDv5 of the window and the segment's first message.")
    window_id: str = Field(description="The window.")
    session_id: str = Field(description="The session.")
    day: date = Field(description="Local day of the window.")
    ordinal: Count = Field(description="Position in the window, from 0.")
    narrative: str = Field(description="One to three sentences on what happened.")
    message_ids: list[str] = Field(description="Its messages, in order; each message of a window is in exactly one segment.")
    line_from: Count = Field(description="Record number of the first message.")
    line_to: Count = Field(description="Record number of the last message.")
    started_at: datetime = Field(description="Earliest event time.")
    ended_at: datetime = Field(description="Latest event time.")
    user_turn_count: Count = Field(description="Turns typed by the human.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")
    observer: str = Field(description="Who wrote the narrative: `rules/<version>` or a model's name.")


class VerdictRow(Record):
    """The write gate's verdict on one candidate fact, with the reason; the text of a discarded one is not kept."""

    candidate_id: str = Field(description="UUIDv5 of window, segment and text; the observation's id if it was kept.")
    window_id: str = Field(description="The window.")
    session_id: str = Field(description="The session.")
    segment_id: str = Field(description="The segment.")
    day: date = Field(description="Local day of the window.")
    verdict: Verdict = Field(description="The verdict.")
    reason: str = Field(description="The rule that decided.")
    gate_confidence: Score = Field(description="How sure the gate is of its verdict.")
    text_hash: str = Field(description="SHA-256 of the text, in hex.")
    parse_path: str = Field(description="How the observer's answer was parsed: rules, segments, flat, list or raw.")
    observer: str = Field(description="Who proposed it.")


class Observation(Record):
    """One fact worth keeping (or holding), with priority, category and verdict; never changed after extraction."""

    id: str = Field(description="UUIDv5 of window, segment and text; shown as `mem_` and its first twelve hex digits.")
    session_id: str = Field(description="The session.")
    window_id: str = Field(description="The window (its dedupe key).")
    segment_id: str = Field(description="The segment.")
    day: date = Field(description="Local day of the window.")
    path: str = Field(description="Path of the transcript.")
    trigger: Trigger = Field(description="What closed the window.")
    kind: Literal["fact", "narrative"] = Field(description="A fact, or a segment's narrative.")
    text: str = Field(description="The fact, one or two sentences that stand alone.")
    text_hash: str = Field(description="SHA-256 of the text, in hex; the key of its embedding.")
    priority: Priority = Field(description="🔴 high, 🟡 medium, 🟢 low.")
    gate: Literal["allow", "hold"] = Field(description="Held facts are stored, but recalled only on request.")
    gate_reason: str = Field(description="The rule that decided.")
    gate_confidence: Score = Field(description="How sure the gate is.")
    category: Category = Field(description="One of the seven categories of taxonomy v1.")
    category_confidence: Score = Field(description="How clearly the text matches the category.")
    taxonomy_version: str = Field(description="Version of the taxonomy.")
    confidence: Score = Field(description="Probability that the fact is true.")
    strength: Strength = Field(description="Sets the initial confidence: explicit 0.9, implied 0.7, inferred 0.5.")
    sentiment: Sentiment = Field(description="Tone in which it was said.")
    author: Author = Field(description="Who said it; only the owner's words become rules and preferences.")
    scope: Scope = Field(description="Where it applies: the project, the person or everyone.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")
    folder: str = Field(description="Working folder.")
    entities: list[str] = Field(description="Files, commands, packages, services, people and ids that it names.")
    event_at: datetime = Field(description="When it was said.")
    clock_times: list[str] = Field(description="Clock times (HH:MM) named in the text, each found in its source.")
    lines: list[int] = Field(description="Physical 0-based record numbers of its evidence.")
    message_ids: list[str] = Field(description="Ids of the messages of its evidence.")
    quote: str = Field(description="Verbatim quote that supports the fact.")
    tokens: Count = Field(description="Estimated tokens of the text (characters / 4).")
    observer: str = Field(description="Who extracted it: `rules/<version>` or a model's name.")
    prompt_hash: str | None = Field(description="Hash of the prompt, if a model was asked.")
    schema_version: Count = Field(description="Version of this row's schema.")


class HarnessMemory(Observation):
    """One fact from the memory files of Claude Code or Codex, in its current wording; the files are only read."""

    id: str = Field(description="UUIDv5 of harness, file and text.")
    session_id: str = Field(description="`memory of` and the harness: it belongs to no session.")
    path: str = Field(description="The file; it is never written.")
    event_at: datetime = Field(description="When the file was last changed.")
    lines: list[int] = Field(description="Its lines in the file, from 0.")
    observer: str = Field(description="The harness.")


class QualityRow(Record):
    """Quality of one day's facts: how many rows have one value of one measure."""

    key: ClassVar = ("day", "measure", "value")
    day: date = Field(description="Local day.")
    measure: QualityMeasure = Field(
        description="`verdict`, `reason`, `parse_path`: of all candidates; `priority`, `category`: of allowed facts; `junk`: "
        "candidates rejected as noise; all others: faults of facts, defined in docs/evaluation.md."
    )
    value: str = Field(description="The value counted; for faults, the verdict (allow or hold) of the facts that have it.")
    count: Count = Field(description="Rows with the value.")
    total: Count = Field(description="All rows of the measure.")
    share: Score | None = Field(description="count / total; empty if total is 0.")


class EvaluationRow(Record):
    """One figure of the latest evaluation against labelled sessions, for one session or all together."""

    key: ClassVar = ("session_id", "measure")
    session_id: str = Field(description="The labelled session, or `all`.")
    measure: EvaluationMeasure = Field(
        description="`allowed`, `judged`, `right` and `noisy` are numbers of facts, the others shares from 0 to 1; `recall` is "
        "weighted by priority. Defined in docs/evaluation.md."
    )
    value: Annotated[float, Field(ge=0)] = Field(description="The figure.")
    low: Score | None = Field(description="Lower end of the 90 % interval over sessions, if there is one.")
    high: Score | None = Field(description="Upper end of the interval.")
    observer: str = Field(description="Who extracted the facts.")
    distill_version: str = Field(description="Version of the extraction rules.")
    labels_hash: str = Field(description="Hash of the labels, shortened.")


class CalibrationRow(Record):
    """One verdict on the rows of one category, with how many of them people approved, rejected or never saw."""

    key: ClassVar = ("judge", "verdict", "reason", "category", "version")
    judge: Literal["gate", "rules", "model", "confidence"] = Field(
        description="`gate`: the write gate, on facts; `rules` of triage or `model` reviews, on proposals; `confidence`: the "
        "stored confidence of proposals."
    )
    verdict: str = Field(
        description="allow, hold or discard; promoted, merged, rejected or left to a person; promote, reject or review; a "
        "confidence bin such as `0.8 to 0.9`."
    )
    reason: str = Field(description="The rule that decided, without values that differ between rows.")
    category: str = Field(description="Category; empty for discarded facts, whose category is not kept.")
    version: str = Field(
        description="gate, confidence: observer and prompt (discarded facts: the observer); rules: version of triage, "
        "`unrecorded` for old rows; model: name and prompt."
    )
    count: Count = Field(description="Rows with the verdict.")
    approved: Count = Field(description="Approved by a person without changes.")
    edited: Count = Field(description="Approved or kept by a person in other words.")
    kept: Count = Field(description="Written without asking and not removed within the review period.")
    rejected: Count = Field(description="Rejected by a person, or removed from MEMORY.md.")
    ignored: Count = Field(description="Shown to people and expired undecided.")
    waiting: Count = Field(description="Still waiting for a decision.")
    unseen: Count = Field(description="Never shown to anybody.")
    precision: Score | None = Field(
        description="Share of the decided rows where people agreed with the verdict; of rows left to a person, the share "
        "approved. Empty if nobody decided."
    )
    low: Score | None = Field(description="Lower end of its 90 % interval.")
    high: Score | None = Field(description="Upper end of the interval.")
    brier: Score | None = Field(description="For confidence: Brier score against 1 (approved) and 0 (rejected).")


class TriggerRow(Record):
    """A future date named by the owner or by a fact, with what to recall when it comes."""

    trigger_id: str = Field(description="`trg_` and a hash of message and day.")
    day: date = Field(description="Local day of the window in which it was said.")
    trigger_on: date = Field(description="The date, in the owner's zone; reminders are shown on it and on the day before.")
    expression: str = Field(description="The words that name the date.")
    quote: str = Field(description="The sentence that contains them.")
    said_at: datetime = Field(description="Time of the message; relative dates are resolved against it.")
    zone: str = Field(description="Time zone of the resolution.")
    captured_at: datetime = Field(description="When the message was captured.")
    state: Literal["due", "past"] = Field(description="`past`: over when the message was captured.")
    author: Author = Field(description="Who said it.")
    message_id: str = Field(description="The message.")
    line: Count = Field(description="Its record number in the transcript.")
    session_id: str = Field(description="The session.")
    path: str = Field(description="Path of the transcript.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")
    memory_ids: list[str] = Field(description="Observations to recall with it, the nearest first.")


class Lesson(Record):
    """A correction or rule of the owner for every later session, from short sessions too."""

    lesson_id: str = Field(description="`les_` and a hash of window and text.")
    day: date = Field(description="Local day of the window.")
    text: str = Field(description="The lesson, in the owner's words.")
    wanted: str = Field(description="What to use, if the lesson prefers one thing over another.")
    unwanted: str = Field(description="What not to use.")
    quote: str = Field(description="Verbatim quote of the turn.")
    said_at: datetime = Field(description="When it was said.")
    message_id: str = Field(description="The message.")
    line: Count = Field(description="Its record number in the transcript.")
    session_id: str = Field(description="The session.")
    window_id: str = Field(description="The window, which may be a short one.")
    path: str = Field(description="Path of the transcript.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")


class Embedding(Record):
    """The vector of one distinct text, computed on this machine and keyed by the text's hash."""

    key: ClassVar = ("text_hash", "model", "day")
    text_hash: str = Field(description="SHA-256 of the text, in hex.")
    day: date = Field(description="Local day of the observation.")
    model: str = Field(description="Model that made the vector.")
    model_version: str = Field(description="Hash of the model's weights, shortened.")
    dimension: Count = Field(description="Length of the vector.")
    vector: list[float] = Field(description="Unit-length vector, float32.")


class Passage(Record):
    """A few sentences of a person's or assistant's message, with a vector; messages are searched by passage."""

    id: str = Field(description="The message's id, `#` and the number of the passage.")
    message_id: str = Field(description="The message it is part of.")
    session_id: str = Field(description="The session that owns the message.")
    window_id: str = Field(description="The window of the message.")
    day: date = Field(description="Local day of the window.")
    line: Count = Field(description="Record number of the message in its transcript.")
    number: Count = Field(description="Position in the message, from 0.")
    author: Author = Field(description="Who said it.")
    role: Role = Field(description="turn (of the owner), answer (ends the assistant's turn) or step (before the answer).")
    event_at: datetime = Field(description="When it was said.")
    char_from: Count = Field(description="First character in the message's text.")
    char_to: Count = Field(description="The character after the last.")
    text_hash: str = Field(description="SHA-256 of the passage's text, in hex.")
    model: str = Field(description="Model that made the vector.")
    model_version: str = Field(description="Hash of the model's weights, shortened.")
    vector: list[float] | None = Field(description="Unit-length vector, float32; none after the 24th passage of a message.")
    words: bytes | None = Field(description="Contextual word codes, 48 signed bytes per word; present with the vector.")


class MergeEdge(Record):
    """Two observations that say the same or contradict each other; memories are built from these edges."""

    key: ClassVar = ("newer_id", "older_id")
    newer_id: str = Field(description="The later observation, by event time.")
    older_id: str = Field(description="The earlier observation.")
    similarity: float = Field(description="Cosine of the two vectors.")
    relation: Literal["same", "conflict"] = Field(description="`same`: they merge; `conflict`: they contradict each other.")
    reason: str = Field(description="Why they merge, or how they conflict: replaced, opposite or other value.")


class Memory(Record):
    """The current state of a fact: observations and harness memories, combined with merges and the ledger."""

    id: str = Field(description="Id of the oldest observation of the cluster.")
    state: MemoryState = Field(description="active, held, superseded, stale, archived, cold or forgotten.")
    kind: Literal["fact", "narrative"] = Field(description="A fact, or a segment's narrative.")
    text: str = Field(description="Newest wording.")
    text_hash: str = Field(description="SHA-256 of the text; the key of its vector.")
    wordings: list[str] = Field(description="All wordings, oldest first.")
    observation_ids: list[str] = Field(description="All observations behind it, oldest first.")
    session_ids: list[str] = Field(description="All sessions behind it, each once.")
    merged_count: Count = Field(description="Observations behind it.")
    priority: Priority = Field(description="The highest of its observations.")
    category: Category = Field(description="Category of the newest wording.")
    confidence: Score = Field(description="Highest of its observations; +0.1 per confirming, -0.2 per contradicting source.")
    confirmed_count: Count = Field(description="Other sources that confirm it.")
    contradicted_count: Count = Field(description="Sources that contradict it.")
    conflicts_with: list[str] = Field(description="Memories in an unresolved conflict with it.")
    strength: Strength = Field(description="The strongest of its observations.")
    sentiment: Sentiment = Field(description="Tone of the newest wording.")
    author: Author = Field(description="Who said it; the owner, if the owner said any of its observations.")
    scope: Scope = Field(description="Where it applies.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")
    entities: list[str] = Field(description="What it names.")
    first_event_at: datetime = Field(description="When it was first said.")
    event_at: datetime = Field(description="When it was last said; decay starts here.")
    session_id: str = Field(description="Session of the newest wording.")
    path: str = Field(description="Transcript of the newest wording.")
    lines: list[int] = Field(description="Evidence of the newest wording in that transcript.")
    superseded_by: str | None = Field(description="The memory that replaced it.")
    recall_count: Count = Field(description="Times it was recalled by a person or agent.")
    used_count: Count = Field(description="Model answers and sessions that used it.")
    last_used_at: datetime | None = Field(description="When it was last recalled or used.")
    boost: Annotated[float, Field(ge=-1, le=1)] = Field(
        description="Rank adjustment from sessions and feedback, -0.3 to 0.3: +0.1 for each use, -0.05 for each time not used."
    )


class CategorySummary(Record):
    """Cited summary of one category for one project or person, made from active facts only."""

    summary_id: str = Field(description="UUIDv5 of category, scope, project and person.")
    category: Category = Field(description="Category.")
    scope: Scope = Field(description="Where its facts apply.")
    project: str = Field(description="Project; empty if the facts apply to a person or everyone.")
    person: str = Field(description="Person; empty if the facts apply to a project or everyone.")
    text: str = Field(description="Markdown bullets, each ending with the id of its source.")
    memory_ids: list[str] = Field(description="The memories of the bullets, the strongest first.")
    fact_count: Count = Field(description="Active facts it was selected from.")
    tokens: Count = Field(description="Estimated tokens of the text.")
    confidence: Score = Field(description="Mean confidence of its facts.")
    first_event_at: datetime = Field(description="When the oldest of the facts was first said.")
    event_at: datetime = Field(description="When one of the facts was last said.")
    summariser: str = Field(description="Who wrote it: `rules/<version>`.")


class RecallEvent(Record):
    """One answered question: the tier that answered and its cost; without the question's text."""

    recall_id: str = Field(description="Id of the line in the ledger.")
    at: datetime = Field(description="When it was asked.")
    day: date = Field(description="Local day of the question.")
    actor: str = Field(description="Who asked.")
    query: str = Field(description="Keyed hash of the question.")
    profile: str | None = Field(description="Profile it was asked with.")
    outcome: RecallOutcome = Field(description="The tier that answered, `not in memory` if none did; `unrecorded` in old rows.")
    result_count: Count = Field(description="Memories returned.")
    is_budget: bool = Field(description="Asked in budget mode.")
    has_graph: bool = Field(description="Graph neighbours were searched.")
    is_rewritten: bool = Field(description="A model rewrote the question.")
    degraded: str | None = Field(description="The retriever that was unavailable.")
    embeddings: Count = Field(description="Texts embedded.")
    index_queries: Count = Field(description="Queries of indexes.")
    model_calls: Count = Field(description="Calls of a model.")
    model_tokens: Count = Field(description="Tokens sent to it and received.")
    cost_usd: float = Field(description="Known price of these calls in US dollars.")
    seconds: float = Field(description="Time to the answer.")


class Mention(Record):
    """One name in one memory, recognised by shape or from a list, with the relations that the memory states."""

    key: ClassVar = ("memory_id", "kind", "name")
    memory_id: str = Field(description="The memory; held and forgotten ones are left out.")
    kind: EntityKind = Field(description="Kind of the named thing.")
    name: str = Field(description="Its normalised name.")
    said: list[str] = Field(description="Its spellings in the memory.")
    entity_id: str = Field(description="The entity; a bare file name belongs to the one path of the project that ends with it.")
    uses: list[str] = Field(description="Names, as kind/name, that the memory says it uses.")
    part_of: list[str] = Field(description="Names, as kind/name, that the memory says it is part of.")
    replaced_by: list[str] = Field(description="Names, as kind/name, that the memory says replaced it.")
    read_from: str = Field(description="Hash of the text that the names were extracted from.")


class Entity(Record):
    """A file, command, package, service, person or id that memories name, with its other names."""

    entity_id: str = Field(description="`ent_` and a hash of kind, name and, if it is local to a project, the project.")
    kind: EntityKind = Field(description="Kind of the entity.")
    name: str = Field(description="Its usual name.")
    aliases: list[str] = Field(description="Other names, as memories or developers write it.")
    project: str = Field(description="The project that a file, flag, ticket, branch or identifier belongs to; else empty.")
    projects: list[str] = Field(description="Projects whose memories name it.")
    memory_count: Count = Field(description="Memories that name it.")
    first_event_at: datetime = Field(description="When it was first named.")
    event_at: datetime = Field(description="When it was last named.")


class RelationRow(Record):
    """A relation between two entities, with the memories that state it."""

    key: ClassVar = ("source_id", "target_id", "kind")
    source_id: str = Field(description="The entity that uses, is part of or was replaced by the target; else the smaller id.")
    target_id: str = Field(description="The other entity.")
    kind: Literal["mentioned_together", "uses", "part_of", "replaced_by"] = Field(
        description="`mentioned_together`: in two memories, or in one that names few things; others: stated in a memory, or "
        "derived from a path or a superseded memory."
    )
    memory_ids: list[str] = Field(description="The memories that support it.")
    memory_count: Count = Field(description="Number of these memories.")
    weight: Score = Field(description="Their number divided by the geometric mean of the memories naming each entity.")
    first_event_at: datetime = Field(description="When it was first said.")
    event_at: datetime = Field(description="When it was last said.")


class Reflection(Record):
    """A cited summary of the observations of one project and person on a day, in a week or in a month."""

    reflection_id: str = Field(description="UUIDv5 of day, week or month, project and person.")
    day: date = Field(description="Local day; for a week or month, its first.")
    until_on: date = Field(description="Last local day it covers.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the sessions.")
    text: str = Field(description="Markdown bullets, each ending with the ids of its sources.")
    observation_ids: list[str] = Field(description="Observations cited.")
    reflection_ids: list[str] = Field(description="The days' reflections that a week or month was made from.")
    dropped_ids: list[str] = Field(description="Facts that were read and left out.")
    dropped_why: list[str] = Field(description="The reason for each of them, as in `dropped_facts`.")
    dropped_to: list[str] = Field(description="The memory that contains each of them now.")
    input_tokens: Count = Field(description="Estimated tokens of all observations, including narratives and held ones.")
    fact_tokens: Count = Field(description="Estimated tokens of the facts that may be included.")
    output_tokens: Count = Field(description="Estimated tokens of the text.")
    level: Count = Field(description="Compression level used: 0, 1 or 2.")
    reflector: str = Field(description="Who wrote it: `rules/<version>` or a model's name.")
    answers: list[str] = Field(description="Names of a model's raw answers below `answers/`; the last one is used.")
    prompt_hash: str | None = Field(description="Hash of the prompt, if a model was asked.")
    cost_usd: float | None = Field(description="Price of its answers in US dollars; empty if the model's price is unknown.")
    problem: str | None = Field(description="Why the model's text is not used.")


class SessionReflection(Record):
    """What a long session established; appended to its own briefing when the session continues."""

    session_id: str = Field(description="The session.")
    day: date = Field(description="Local day of its last observed window.")
    project: str = Field(description="Project of that window.")
    person: str = Field(description="The human of the session.")
    window_count: Count = Field(description="Windows that were observed.")
    observed_tokens: Count = Field(description="Estimated tokens of the messages in them.")
    fact_count: Count = Field(description="Distinct facts of the session that may be included.")
    told_count: Count = Field(description="Facts included; the others exceeded the budget.")
    text: str = Field(description="Markdown bullets in order of time, each ending with the ids of its sources.")
    observation_ids: list[str] = Field(description="Observations cited; all are the session's own.")
    tokens: Count = Field(description="Estimated tokens of the text.")
    reflector: str = Field(description="Version of the rules that condensed it.")


class DroppedFact(Record):
    """A fact that a reflection or distillate left out, with the reason and the memory that contains it now."""

    key: ClassVar = ("span", "observation_id")
    span: SpanName = Field(description="Whether the day's reflection or the week's or month's distillate left it out.")
    observation_id: str = Field(description="The fact.")
    day: date = Field(description="First local day of the span.")
    reflection_id: str = Field(description="The reflection or distillate that leaves it out.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")
    reason: Literal["held", "low", "resolved", "replaced", "forgotten", "no room", "left out"] = Field(
        description="`held` by the gate, `low` priority, `resolved` or `replaced` by a later fact, `forgotten`, `no room` in "
        "the limit, or `left out` by the model."
    )
    kept_as: str = Field(description="The memory that contains it now: the solution, the replacement, else its own.")


class TimelineSentence(Record):
    """One sentence of a week's chapter, with its sources: observations, or commits that a session made."""

    sentence_id: str = Field(description="`tl_` and a hash of day, person, project and text.")
    day: date = Field(description="First local day of the week.")
    ordinal: Count = Field(description="Position in the chapter, from 0.")
    on: date = Field(description="The local day it is about.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the sessions.")
    text: str = Field(description="The sentence.")
    observation_ids: list[str] = Field(description="Observations it is based on.")
    commits: list[str] = Field(description="Hashes of the commits it is based on, as git printed them.")


class Proposal(Record):
    """A line proposed for MEMORY.md, numbered once."""

    proposal_id: str = Field(description="`p-YYYYMMDD-NNN`, never reused.")
    day: date = Field(description="Local day it was proposed for.")
    section: str = Field(description="Section of MEMORY.md.")
    text: str = Field(description="The line, without date or bullet.")
    event_on: date = Field(description="Local day on which it was said; the entry's date.")
    category: Category = Field(description="Category.")
    priority: Priority = Field(description="Priority.")
    confidence: Score = Field(description="Confidence of the memory behind it.")
    project: str = Field(description="Project.")
    person: str = Field(description="Whose memory it is for.")
    author: Author = Field(description="Who said it.")
    memory_id: str = Field(description="The memory behind it.")
    observation_ids: list[str] = Field(description="The observations behind it.")
    session_ids: list[str] = Field(description="The sessions behind it.")
    reflection_id: str = Field(description="The reflection that proposed it.")


class Friction(Proposal):
    """A problem that recurs across sessions within seven days, with the exact change that would fix it."""

    proposal_id: str = Field(description="`f-YYYYMMDD-NNN`, never reused.")
    day: date = Field(description="Last local day of the seven in which it was first found.")
    kind: FrictionKind = Field(
        description="`repeated_correction`: a person repeats a correction; `recurring_failure`: a call fails in the same way; "
        "`tool_misuse`: a tool is used against a rule or wrongly; `configuration_drift`: a change is reverted repeatedly; "
        "`missing_skill`: a procedure is worked out again; `stale_memory`: a line of MEMORY.md is contradicted."
    )
    title: str = Field(description="What goes wrong.")
    target: str = Field(description="The file to change: `MEMORY.md`, or the path of another file.")
    folder: str = Field(description="Folder of the project that the target belongs to; empty for MEMORY.md.")
    section: str = Field(description="Section of the target, if it has sections.")
    text: str = Field(description="The proposed line; for other files, a summary of the change.")
    entry: str | None = Field(description="The line of MEMORY.md to replace.")
    old: str = Field(description="Text of the target to remove; empty if text is only added.")
    new: str = Field(description="Text to add.")
    message_ids: list[str] = Field(description="The messages that show it.")
    occurrence_count: Count = Field(description="How often it happened.")
    session_count: Count = Field(description="In how many sessions: its frequency.")
    week_session_count: Count = Field(description="Sessions of the seven days.")
    minutes: Annotated[float, Field(ge=0)] = Field(description="Average minutes lost per occurrence: its impact.")
    severity: Annotated[float, Field(ge=0)] = Field(description="Frequency times impact.")
    first_event_at: datetime = Field(description="When it first happened.")
    event_at: datetime = Field(description="When it last happened.")


class Amendment(Proposal):
    """A proposed change of a line of MEMORY.md: corrected, replaced, contradicted, or over the limit."""

    text: str = Field(description="The new line, without date or bullet; empty to remove it.")
    entry: str = Field(description="The line to replace or remove.")
    reason: str = Field(description="Why.")


class ModelReview(Record):
    """A model's review of a proposal that rules left to a person; none without a model."""

    proposal_id: str = Field(description="The proposal.")
    verdict: Literal["promote", "reject", "review"] = Field(description="promote, reject, or review: a person must decide.")
    text: str = Field(description="The final line, if promoted.")
    reason: str = Field(description="Why not, or the question for the owner.")
    text_hash: str = Field(description="SHA-256 of the proposed text that was shown.")
    model: str = Field(description="Model that reviewed it.")
    prompt_hash: str = Field(description="Hash of the prompt.")
    answer: str = Field(description="Name of the stored answer, below `answers/triage/`.")
    asked_at: datetime = Field(description="When the answer arrived.")


class TrustRow(Record):
    """How people decided the proposals of one category, and whether they still need approval."""

    category: Category = Field(description="Category.")
    approved: Count = Field(description="Proposals approved, edited ones included.")
    rejected: Count = Field(description="Proposals rejected.")
    acceptance: Score = Field(description="Share of approved proposals.")
    points: Count = Field(description="+1 for each approval, -3 for each rejection, at least 0.")
    needed: Count = Field(description="Points from which high-priority proposals need no approval; 0: never.")
    is_trusted: bool = Field(description="Whether they need no approval now.")
    decided_at: datetime = Field(description="When the last one was decided.")


class EntryRow(Record):
    """A dated line of MEMORY.md with its state: candidate, established, proven or deprecated."""

    key: ClassVar = ("path", "line")
    path: str = Field(description="The file, below the workspace.")
    line: Count = Field(description="Line number, from 1.")
    section: str = Field(description="Section.")
    entry_on: date = Field(description="Its date.")
    text: str = Field(description="Its text.")
    state: Literal["candidate", "established", "proven", "deprecated"] = Field(
        description="candidate; established: confirmed or used; proven: confirmed and used, three times in total; deprecated: "
        "its memory was replaced or is contradicted more than confirmed."
    )
    is_by_hand: bool = Field(description="A person wrote or reworded it.")
    proposal_id: str | None = Field(description="The proposal it came from.")
    memory_id: str | None = Field(description="The current memory behind it.")
    category: Category | None = Field(description="Category of that memory.")
    project: str | None = Field(description="Project of that memory.")
    session_count: Count = Field(description="Sessions behind that memory.")
    confirmed_count: Count = Field(description="Other sources that confirm it.")
    contradicted_count: Count = Field(description="Sources that contradict it.")
    used_count: Count = Field(description="Model answers and sessions that used it.")
    merged_count: Count = Field(description="Later proposals with the same content.")
    last_used_at: datetime | None = Field(description="When it was last recalled or used.")


class Decision(Record):
    """The state of a proposal: promoted, merged, rejected, expired or pending."""

    proposal_id: str = Field(description="The proposal.")
    state: Literal["promoted", "merged", "rejected", "expired", "pending"] = Field(description="Current state.")
    tier: Count = Field(description="1 rules, 2 model, 3 person.")
    reason: str = Field(description="Why.")
    actor: str = Field(description="Who decided: `rules`, a model's name or a person.")
    section: str = Field(description="Section of MEMORY.md.")
    text: str = Field(description="The text as decided (a person may have edited it).")
    entry: str | None = Field(description="The line of MEMORY.md that it replaces, removes or repeats.")
    decided_at: datetime | None = Field(description="When it was decided; empty while pending.")
    expires_at: datetime | None = Field(description="When a pending one expires.")
