"""Every noun of the project, in the order of the journey; the file to read first.

Each record is one row of the table of the same name (`TABLES` maps them). The field descriptions are the table
dictionary: the Dagster UI, `docs/tables.md` and the schemas in `tables.py` are all made from them. Times are UTC; a `day`
is the local day, in the owner's zone, of the latest event of a window.
"""

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

MEMORY_MD = "MEMORY.md"
"""The curated file's name in the workspace; what stands in it is cited as `MEMORY.md:LINE`."""

FrictionKind = Literal[
    "repeated_correction", "recurring_failure", "tool_misuse", "configuration_drift", "missing_skill", "stale_memory"
]  # fmt: skip
Harness = Literal["claude_code", "pi", "codex"]
Author = Literal["owner", "assistant", "subagent", "tool", "file", "web", "injected"]
MessageKind = Literal["text", "tool_call", "tool_result", "summary"]
Role = Literal["turn", "answer", "step"]
RecordStatus = Literal["message", "known", "unknown", "broken"]
Trigger = Literal["compaction", "ended", "tail", "open"]
WindowStatus = Literal["observed", "skipped_short", "open"]
Priority = Literal["high", "medium", "low"]
AnswerState = Literal["answered", "cut", "refused", "failed"]
Verdict = Literal["allow", "hold", "discard"]
Category = Literal[
    "preferences",
    "rules-conventions",
    "system-architecture",
    "operations",
    "memory-system",
    "projects",
    "people-relationships",
]
Strength = Literal["explicit", "implied", "inferred"]
Sentiment = Literal["frustrated", "excited", "uncertain", "neutral"]
Scope = Literal["project", "person", "everyone"]
MemoryState = Literal["active", "held", "superseded", "stale", "archived", "cold", "forgotten"]
Relation = Literal["same", "conflict"]
EntityKind = Literal[
    "file", "folder", "command", "flag", "package", "service", "tool", "host", "repository", "person", "project", "adr",
    "ticket", "standard", "branch", "commit", "variable", "identifier",
]  # fmt: skip
TriggerState = Literal["due", "past"]
RelationKind = Literal["mentioned_together", "uses", "part_of", "replaced_by"]
SpanName = Literal["day", "week", "month"]
DropReason = Literal["held", "low", "resolved", "replaced", "forgotten", "no room", "left out"]
DecisionState = Literal["promoted", "merged", "rejected", "expired", "pending"]
ReviewVerdict = Literal["promote", "reject", "review"]
EntryState = Literal["candidate", "established", "proven", "deprecated"]
RecallOutcome = Literal["summaries", "memories", "word for word", "not in memory", "unrecorded"]
QualityMeasure = Literal[
    "verdict",
    "reason",
    "parse_path",
    "priority",
    "category",
    "junk",
    "repeated",
    "ungrounded",
    "invented_time",
    "dangling",
    "conversational",
    "long",
    "owner_unheard",
]
EvaluationMeasure = Literal[
    "recall",
    "recall_high",
    "recall_owner_rules",
    "precision",
    "noise",
    "f1",
    "allowed",
    "judged",
    "right",
    "noisy",
]
Judge = Literal["gate", "rules", "model", "confidence"]
Score = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class Record(BaseModel):
    """A frozen row; `key` names the columns that identify it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: ClassVar[tuple[str, ...]] = ()


class SentEvent(Record):
    """What a harness, a person or a program sent through the spool: each event once, as it was taken in."""

    key: ClassVar = ("event_id",)
    event_id: str = Field(
        description="Id that the sender gave it, with `spool-` before it; its line in the ledger has the same."
    )
    name: str = Field(description="Name of the event, such as `memory/session.ended`; docs/hooks.md lists them.")
    subject: str = Field(description="What it is about: the id of a session or of a proposal, or a day.")
    harness: str | None = Field(description="Which coding agent sent it.")
    details: str = Field(description="Its other fields (counts, a reason), as JSON.")
    sent_at: datetime = Field(description="When it was sent.")
    received_at: datetime = Field(description="When it was taken in.")


class DeadLetter(Record):
    """A line of the spool that could not be understood, or may not be carried out, put aside with the reason."""

    key: ClassVar = ("letter_id",)
    letter_id: str = Field(description="Hash of the line and its place in the spool.")
    reason: str = Field(description="Why it was put aside.")
    name: str = Field(description="Name of the event, where it is a known one.")
    bytes: Count = Field(description="Length of the line.")
    file: str = Field(description="File below `spool/aside/` that holds the line, secrets masked.")
    spooled_in: str = Field(description="File of the spool that it stood in.")
    start: Count = Field(description="Byte at which it began there.")
    received_at: datetime = Field(description="When it was put aside.")


class Resource(Record):
    """A byte range of a transcript, archived once with its secrets masked; only forgetting masks more of it."""

    key: ClassVar = ("id",)
    id: str = Field(description="Stable id of the range: source, generation and first byte, hashed.")
    source_id: str = Field(description="Stable id of the transcript file, from its path.")
    harness: Harness = Field(description="Which coding agent wrote the transcript.")
    path: str = Field(description="Where the transcript lay when it was captured.")
    generation: Count = Field(description="Counts up when the file was rewritten instead of appended to.")
    byte_from: Count = Field(description="First byte of the range in the decompressed transcript.")
    byte_to: Count = Field(description="The byte after the last one of the range.")
    line_from: Count = Field(description="Number of the first record of the range, from 0.")
    line_to: Count = Field(description="The record number after the last one of the range.")
    sha256: str = Field(description="SHA-256 of the archived (masked) bytes, in hex.")
    content_type: str = Field(description="Media type of the content.")
    content_at: datetime | None = Field(description="Earliest event time inside the range.")
    content_until: datetime | None = Field(description="Latest event time inside the range.")
    conversation_id: str = Field(description="The session that the transcript belongs to.")
    created_at: datetime = Field(description="When the range was captured.")
    masked_count: Count = Field(description="Secrets masked in the range.")
    masking_version: str = Field(description="Version of the masking rules that were applied.")


class TranscriptRecord(Record):
    """One physical line of a transcript: what it is and where its bytes lie, without its text."""

    key: ClassVar = ("source_id", "generation", "line")
    source_id: str = Field(description="The transcript file.")
    generation: Count = Field(description="Generation of the file.")
    line: Count = Field(description="Physical 0-based record number in the decompressed transcript.")
    byte_from: Count = Field(description="First byte of the record.")
    byte_to: Count = Field(description="The byte after the record's newline.")
    resource_id: str = Field(description="The archived range that holds the record.")
    session_id: str = Field(description="The session that the file belongs to.")
    record_type: str = Field(description="The harness's own name for the record, such as `response_item/message`.")
    status: RecordStatus = Field(
        description="`message`: part of the conversation; `known`: kept but not conversation; `unknown`: a type not met "
        "before; `broken`: not readable as JSON."
    )
    message_id: str | None = Field(description="Stable id of the message; the same in a fork that repeats it.")
    author: Author | None = Field(description="Who said it.")
    kind: MessageKind | None = Field(description="What sort of message it is.")
    is_user_turn: bool = Field(description="A turn typed by the human of the main thread.")
    event_at: datetime | None = Field(description="When it was said, from the transcript.")
    chars: Count = Field(description="Length of the message's text in characters.")
    boundary: str | None = Field(description="`compaction` where the harness compacted the context, else empty.")
    kept_from_line: int | None = Field(description="First record that a compaction kept in context, where it says so.")
    parent_session_id: str | None = Field(description="The session that this one was forked from or spawned by.")
    cwd: str | None = Field(description="Working folder named by the record.")
    branch: str | None = Field(description="Git branch named by the record.")
    repository: str | None = Field(description="Repository named by the record (`owner/name` or URL).")
    title: str | None = Field(description="Session title given by the record.")
    version: str | None = Field(description="Version of the harness.")
    files_read: list[str] = Field(description="Files read by the tool call in the record.")
    files_modified: list[str] = Field(description="Files written by the tool call in the record.")


class Window(Record):
    """A stretch of one session that is observed as a whole, closed by a compaction, by the end or by its size."""

    key: ClassVar = ("window_id",)
    window_id: str = Field(description="SHA-256 over session, trigger and first message id; permanent (the dedupe key).")
    session_id: str = Field(description="The session.")
    source_id: str = Field(description="The transcript file.")
    harness: Harness = Field(description="Which coding agent wrote the transcript.")
    path: str = Field(description="Path of the transcript.")
    day: date | None = Field(description="Local day of the latest event in the window; empty while the window is open.")
    trigger: Trigger = Field(description="What closed it.")
    status: WindowStatus = Field(
        description="`observed`; `skipped_short` (under five user turns at its end: captured and searchable, not "
        "distilled); `open` (still growing)."
    )
    first_message_id: str = Field(description="First message.")
    last_message_id: str = Field(description="Last message.")
    line_from: Count = Field(description="Record number of the first message.")
    line_to: Count = Field(description="Record number of the last message.")
    started_at: datetime = Field(description="Earliest event time.")
    ended_at: datetime = Field(description="Latest event time.")
    is_time_guessed: bool = Field(description="Event times were missing or impossible, so capture time stands in.")
    message_count: Count = Field(description="Messages in the window.")
    user_turn_count: Count = Field(description="Turns typed by the human.")
    chars: Count = Field(description="Characters of all messages.")
    project: str = Field(description="Project the session worked on: repository name, else the folder's name.")
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
    """What is known of a session from the windows that closed on one day."""

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

    key: ClassVar = ("message_id",)
    message_id: str = Field(description="Stable id; the same in a fork that repeats it.")
    session_id: str = Field(description="The session that owns it (the earliest that holds it).")
    window_id: str = Field(description="The window it belongs to.")
    day: date | None = Field(description="Local day of the window; empty while the window is open.")
    ordinal: Count = Field(description="Position in the window, from 0.")
    line: Count = Field(description="Physical 0-based record number in the decompressed transcript.")
    byte_from: Count = Field(description="First byte of the record.")
    byte_to: Count = Field(description="The byte after the record.")
    resource_id: str = Field(description="The archived range that holds the record.")
    author: Author = Field(description="Who said it.")
    kind: MessageKind = Field(description="What sort of message it is.")
    tool_name: str | None = Field(description="Tool that was called or answered.")
    is_error: bool = Field(description="The tool reported an error.")
    is_user_turn: bool = Field(description="A turn typed by the human of the main thread.")
    event_at: datetime = Field(description="When it was said.")
    is_time_guessed: bool = Field(description="The transcript had no usable time; a neighbour's or capture's stands in.")
    text: str = Field(description="The text, secrets masked; tool output is cut in the middle past 4,000 characters.")
    text_chars: Count = Field(description="Length of the whole text before cutting.")
    image_count: Count = Field(description="Images that came with it.")


class ObserverAnswer(Record):
    """How one call about a window stands: the model's raw answer that is used, and what was paid for it."""

    key: ClassVar = ("window_id", "ordinal")
    window_id: str = Field(description="The window.")
    ordinal: Count = Field(description="Number of the call, from 0; a long window takes several.")
    call_count: Count = Field(description="Calls that the window takes.")
    session_id: str = Field(description="The session.")
    day: date = Field(description="Local day of the window.")
    row_from: Count = Field(description="Position in the window of the call's first message.")
    row_to: Count = Field(description="Position of its last message.")
    state: AnswerState = Field(
        description="answered; cut (its end is missing); refused or failed (the rules observe these messages)."
    )
    problem: str | None = Field(description="Why there is no answer.")
    answer: str | None = Field(description="Name of the raw answer's file below `answers/`, without its ending.")
    model: str = Field(description="Model that was asked.")
    answered_by: str | None = Field(description="Model that answered, as it calls itself.")
    prompt_hash: str = Field(description="Hash of the prompt.")
    parameters: str = Field(description="Parameters of the call.")
    serialiser: str = Field(description="Version of the way the messages were written out.")
    stop_reason: str | None = Field(description="Why the model stopped, as the Messages API names it.")
    attempts: Count = Field(description="Answers that were paid for, cut ones included.")
    input_tokens: Count = Field(description="Tokens sent that no cache held, of all attempts.")
    cache_read_tokens: Count = Field(description="Tokens read from the provider's prompt cache.")
    cache_write_tokens: Count = Field(description="Tokens written to the provider's prompt cache.")
    output_tokens: Count = Field(description="Tokens of the answers.")
    cost_usd: float | None = Field(description="Price of all attempts in US dollars; empty where the model's price is unknown.")
    seconds: float = Field(description="Time of the call; 0 in a batch.")
    is_batch: bool = Field(description="It came in a batch, at half the price.")
    asked_at: datetime | None = Field(description="When the answer came.")
    shown_ids: list[str] = Field(description="Earlier memories that were shown with the question.")
    cited_ids: list[str] = Field(description="Those of them that the answer cites.")
    parse_path: str | None = Field(description="How the answer was read: segments, structured, flat, list, raw or empty.")
    fact_count: Count = Field(description="Facts in the answer.")
    current_task: str | None = Field(description="What was being worked on at the end, as the model says.")
    suggested_response: str | None = Field(description="How the next session could go on, as the model says.")


class Segment(Record):
    """Neighbouring messages about one topic."""

    key: ClassVar = ("segment_id",)
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
    """What the write gate said of one candidate fact, and why; the text of a discarded one is not kept."""

    key: ClassVar = ("candidate_id",)
    candidate_id: str = Field(description="UUIDv5 of window, segment and text; the observation's id when it was kept.")
    window_id: str = Field(description="The window.")
    session_id: str = Field(description="The session.")
    segment_id: str = Field(description="The segment.")
    day: date = Field(description="Local day of the window.")
    verdict: Verdict = Field(description="allow, hold or discard.")
    reason: str = Field(description="The rule that decided.")
    gate_confidence: Score = Field(description="How sure the gate is of its verdict.")
    text_hash: str = Field(description="SHA-256 of the text, in hex.")
    parse_path: str = Field(description="How the observer's answer was read: rules, segments, flat, list or raw.")
    observer: str = Field(description="Who proposed it.")


class Observation(Record):
    """One fact worth keeping (or holding), as it was said; never changed after extraction."""

    key: ClassVar = ("id",)
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
    gate: Literal["allow", "hold"] = Field(description="Held facts are stored but not recalled unless asked for.")
    gate_reason: str = Field(description="The rule that decided.")
    gate_confidence: Score = Field(description="How sure the gate is.")
    category: Category = Field(description="One of the seven categories of taxonomy v1.")
    category_confidence: Score = Field(description="How clearly the category's words are there.")
    taxonomy_version: str = Field(description="Version of the taxonomy.")
    confidence: Score = Field(description="How sure we are that the fact is true.")
    strength: Strength = Field(description="explicit 0.9, implied 0.7, inferred 0.5 at the start.")
    sentiment: Sentiment = Field(description="Tone in which it was said.")
    author: Author = Field(description="Whose words it rests on; only the owner's make rules and preferences.")
    scope: Scope = Field(description="Whom it concerns: the project, the person or everyone.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")
    folder: str = Field(description="Working folder.")
    entities: list[str] = Field(description="Files, commands, packages, services, people and ids that it names.")
    event_at: datetime = Field(description="When it was said.")
    clock_times: list[str] = Field(description="Clock times (HH:MM) named in the text, each found in its source.")
    lines: list[int] = Field(description="Physical 0-based record numbers of its evidence.")
    message_ids: list[str] = Field(description="Ids of the messages of its evidence.")
    quote: str = Field(description="Words of the evidence that the fact rests on, verbatim.")
    tokens: Count = Field(description="Estimated tokens of the text (characters / 4).")
    observer: str = Field(description="Who extracted it: `rules/<version>` or a model's name.")
    prompt_hash: str | None = Field(description="Hash of the prompt, where a model was asked.")
    schema_version: Count = Field(description="Version of this row's schema.")


class HarnessMemory(Observation):
    """One fact that Claude Code or Codex remembers by itself, as its file says it now."""

    id: str = Field(description="UUIDv5 of harness, file and text.")
    session_id: str = Field(description="`memory of` and the harness: no session said it.")
    path: str = Field(description="The file, which is read and never written.")
    event_at: datetime = Field(description="When the file was last changed.")
    lines: list[int] = Field(description="Lines of the file that it stands on, from 0.")
    observer: str = Field(description="The harness.")


class QualityRow(Record):
    """How good what was kept of one day is: how many rows have one value of one measure."""

    key: ClassVar = ("day", "measure", "value")
    day: date = Field(description="Local day.")
    measure: QualityMeasure = Field(
        description="`verdict`, `reason`, `parse_path`: of all candidates; `priority`, `category`: of allowed facts; `junk`: "
        "candidates stopped for what they are; `repeated`, `ungrounded`, `invented_time`, `dangling`, "
        "`conversational`, `long`, `owner_unheard`: faults of facts, told in docs/evaluation.md."
    )
    value: str = Field(description="The value counted; of faults, the verdict (allow or hold) of the facts that have it.")
    count: Count = Field(description="How many there are.")
    total: Count = Field(description="Among how many.")
    share: Score | None = Field(description="count / total; empty where there is nothing to count among.")


class EvaluationRow(Record):
    """One figure of the latest evaluation against labelled sessions, of one session or of all together."""

    key: ClassVar = ("session_id", "measure")
    session_id: str = Field(description="The labelled session, or `all`.")
    measure: EvaluationMeasure = Field(
        description="`recall` (weighted by priority), `recall_high`, `recall_owner_rules`, `precision`, `noise` and `f1` lie "
        "between 0 and 1; `allowed`, `judged`, `right` and `noisy` are numbers of facts. docs/evaluation.md tells what counts."
    )
    value: Annotated[float, Field(ge=0)] = Field(description="The figure.")
    low: Score | None = Field(description="Lower end of the 90 % interval over sessions, where there is one.")
    high: Score | None = Field(description="Upper end of it.")
    observer: str = Field(description="Who extracted the facts.")
    distill_version: str = Field(description="Version of the rules by which they were made.")
    labels_hash: str = Field(description="Hash of the labels, shortened.")


class CalibrationRow(Record):
    """One verdict on rows of one category, and how many of them people then approved, rejected or never saw."""

    key: ClassVar = ("judge", "verdict", "reason", "category", "version")
    judge: Judge = Field(
        description="Who ruled: `gate` (the write gate, on facts), `rules` (of triage) or `model` (its reviews), on proposals; "
        "`confidence`: what proposals were believed to."
    )
    verdict: str = Field(
        description="allow, hold or discard; promoted, merged, rejected or left to a person; promote, reject or review; a "
        "tenth of confidence, such as `0.8 to 0.9`."
    )
    reason: str = Field(description="The rule that decided, without what differs from one row to the next.")
    category: str = Field(description="Category; empty for what was discarded, of which none is kept.")
    version: str = Field(
        description="Of the gate and of confidence the observer and its prompt (of what was discarded the observer alone), of "
        "rules the version of triage (`unrecorded` before it was written down), of a model its name and prompt."
    )
    count: Count = Field(description="Rows with the verdict.")
    approved: Count = Field(description="Those that a person approved as they were.")
    edited: Count = Field(description="Those that a person approved, or let stand, in other words.")
    kept: Count = Field(description="Lines written without asking that people left standing for as long as a review may take.")
    rejected: Count = Field(description="Those that a person rejected, or struck from MEMORY.md.")
    ignored: Count = Field(description="Those that people were asked about and that expired.")
    waiting: Count = Field(description="Those that people can still decide.")
    unseen: Count = Field(description="Those that nobody was asked about.")
    precision: Score | None = Field(
        description="Share of the decided rows in which people agreed with the verdict; of what was left to them, the share "
        "that they wanted. Empty where nobody decided."
    )
    low: Score | None = Field(description="Lower end of its 90 % interval.")
    high: Score | None = Field(description="Upper end of it.")
    brier: Score | None = Field(
        description="Of confidence: mean square of the difference between it and 1 (approved) or 0 (rejected)."
    )


class TriggerRow(Record):
    """A day ahead that the owner named, or that a fact names outright, and what to recall when it comes."""

    key: ClassVar = ("trigger_id",)
    trigger_id: str = Field(description="`trg_` and a hash of message and day.")
    day: date = Field(description="Local day of the window in which it was said.")
    trigger_on: date = Field(description="The day it is about, in the owner's zone; it comes up the day before and on the day.")
    expression: str = Field(description="The words that say the day.")
    quote: str = Field(description="The sentence they stand in.")
    said_at: datetime = Field(description="When the message was said; the words are resolved against this moment.")
    zone: str = Field(description="The zone in which they are resolved.")
    captured_at: datetime = Field(description="When the message was captured.")
    state: TriggerState = Field(description="`due`: comes up; `past`: the day was over when the message was captured.")
    author: Author = Field(description="Who said it.")
    message_id: str = Field(description="The message.")
    line: Count = Field(description="Its record number in the transcript.")
    session_id: str = Field(description="The session.")
    path: str = Field(description="Path of the transcript.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")
    memory_ids: list[str] = Field(
        description="Observations to recall with it, the nearest first; each is a memory's id or one of those behind a memory."
    )


class Lesson(Record):
    """What a correction or rule of the owner asks of every later session; known at once, without a reflection."""

    key: ClassVar = ("lesson_id",)
    lesson_id: str = Field(description="`les_` and a hash of window and text.")
    day: date = Field(description="Local day of the window.")
    text: str = Field(description="The lesson, in the owner's words.")
    wanted: str = Field(description="What to use, where the lesson sets one thing against another.")
    unwanted: str = Field(description="What to use it instead of.")
    quote: str = Field(description="The words of the turn that it is taken from.")
    said_at: datetime = Field(description="When it was said.")
    message_id: str = Field(description="The message.")
    line: Count = Field(description="Its record number in the transcript.")
    session_id: str = Field(description="The session.")
    window_id: str = Field(description="The window; short ones are read, too.")
    path: str = Field(description="Path of the transcript.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")


class Embedding(Record):
    """The vector of one text, keyed by the text's hash."""

    key: ClassVar = ("text_hash", "model", "day")
    text_hash: str = Field(description="SHA-256 of the text, in hex.")
    day: date = Field(description="Local day of the observation.")
    model: str = Field(description="Model that made the vector.")
    model_version: str = Field(description="Hash of the model's weights, shortened.")
    dimension: Count = Field(description="Length of the vector.")
    vector: list[float] = Field(description="Unit-length vector, float32.")


class Passage(Record):
    """A few sentences of what a person or an assistant said: what a message is found by."""

    key: ClassVar = ("id",)
    id: str = Field(description="The message's id, `#` and the number of the passage.")
    message_id: str = Field(description="The message that it is part of.")
    session_id: str = Field(description="The session that owns the message.")
    window_id: str = Field(description="The window of the message.")
    day: date = Field(description="Local day of the window.")
    line: Count = Field(description="Record number of the message in its transcript.")
    number: Count = Field(description="Place within the message, from 0.")
    author: Author = Field(description="Who said it.")
    role: Role = Field(description="turn (of the owner), answer (ends the assistant's turn) or step (on the way to it).")
    event_at: datetime = Field(description="When it was said.")
    char_from: Count = Field(description="First character in the message's text.")
    char_to: Count = Field(description="The character after the last.")
    text_hash: str = Field(description="SHA-256 of the passage's text, in hex.")
    model: str = Field(description="Model that made the vector.")
    model_version: str = Field(description="Hash of the model's weights, shortened.")
    vector: list[float] | None = Field(description="Unit-length vector, float32; none past the 24th passage of a message.")
    words: bytes | None = Field(description="What its words mean in it, 48 signed bytes for each; with the vector.")


class MergeEdge(Record):
    """Two observations that say the same, or that cannot both hold; memories are made from these."""

    key: ClassVar = ("newer_id", "older_id")
    newer_id: str = Field(description="The later observation, by event time.")
    older_id: str = Field(description="The earlier observation.")
    similarity: float = Field(description="Cosine of the two vectors.")
    relation: Relation = Field(description="`same`: they merge; `conflict`: they cannot both hold.")
    reason: str = Field(description="Why they merge, or how they conflict: replaced, opposite or other value.")


class Memory(Record):
    """The present state of what is known: observations folded with merges and the ledger."""

    key: ClassVar = ("id",)
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
    confidence: Score = Field(
        description="Highest confidence of its observations, +0.1 for each other source that confirms it, -0.2 for each "
        "that contradicts it, in the order in which they spoke."
    )
    confirmed_count: Count = Field(description="Other sources that said the same.")
    contradicted_count: Count = Field(description="Sources that said what cannot hold beside it.")
    conflicts_with: list[str] = Field(description="Memories that cannot hold beside it and of which none is settled yet.")
    strength: Strength = Field(description="The strongest of its observations.")
    sentiment: Sentiment = Field(description="Tone of the newest wording.")
    author: Author = Field(description="Whose words it rests on; the owner's where any are.")
    scope: Scope = Field(description="Whom it concerns.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")
    entities: list[str] = Field(description="What it names.")
    first_event_at: datetime = Field(description="When it was first said.")
    event_at: datetime = Field(description="When it was last said; decay runs from here.")
    session_id: str = Field(description="Session of the newest wording.")
    path: str = Field(description="Transcript of the newest wording.")
    lines: list[int] = Field(description="Evidence of the newest wording in that transcript.")
    superseded_by: str | None = Field(description="The memory that replaced it.")
    recall_count: Count = Field(description="Times it was recalled by a person or agent.")
    used_count: Count = Field(description="Answers of models that it informed, and sessions that took it up.")
    last_used_at: datetime | None = Field(description="When it was last recalled, or last informed an answer or a session.")
    boost: Annotated[float, Field(ge=-1, le=1)] = Field(
        description="What sessions made of it when they were shown it: +0.1 for each that used it, -0.05 for each that did "
        "not, and the same for feedback, between -0.3 and 0.3; it moves the rank, never a date."
    )


class CategorySummary(Record):
    """What is known in one category about one project, or of one person, in a few lines; made from active facts alone."""

    key: ClassVar = ("summary_id",)
    summary_id: str = Field(description="UUIDv5 of category, scope, project and person.")
    category: Category = Field(description="Category.")
    scope: Scope = Field(description="Whom its facts concern.")
    project: str = Field(description="Project; empty where the facts follow a person or hold for everyone.")
    person: str = Field(description="Person; empty where the facts follow a project or hold for everyone.")
    text: str = Field(description="Markdown bullets, each ending with the id it rests on.")
    memory_ids: list[str] = Field(description="The memories of the bullets, the strongest first.")
    fact_count: Count = Field(description="Active facts that there are to choose from.")
    tokens: Count = Field(description="Estimated tokens of the text.")
    confidence: Score = Field(description="Mean confidence of its facts.")
    first_event_at: datetime = Field(description="When the first of the facts was first said.")
    event_at: datetime = Field(description="When one of the facts was last said.")
    summariser: str = Field(description="Who wrote it: `rules/<version>`.")


class RecallEvent(Record):
    """One question that was answered: from which tier, and what that took; without its words."""

    key: ClassVar = ("recall_id",)
    recall_id: str = Field(description="Id of the line in the ledger.")
    at: datetime = Field(description="When it was asked.")
    day: date = Field(description="Local day of that moment.")
    actor: str = Field(description="Who asked.")
    query: str = Field(description="Keyed hash of the question.")
    profile: str | None = Field(description="Profile it was asked with.")
    outcome: RecallOutcome = Field(
        description="`summaries`, `memories` or `word for word`: the tier that answered; `not in memory`: none did; "
        "`unrecorded`: asked before outcomes were kept."
    )
    result_count: Count = Field(description="Memories handed out.")
    is_budget: bool = Field(description="Asked in budget mode.")
    has_graph: bool = Field(description="Neighbours in the graph were looked at.")
    is_rewritten: bool = Field(description="A model wrote the question anew.")
    degraded: str | None = Field(description="Which arm could not be asked.")
    embeddings: Count = Field(description="Texts embedded.")
    index_queries: Count = Field(description="Queries of indexes.")
    model_calls: Count = Field(description="Calls of a model.")
    model_tokens: Count = Field(description="Tokens sent to it and received.")
    cost_usd: float = Field(description="Price of these calls in US dollars, as far as it is known.")
    seconds: float = Field(description="Time to the answer.")


class Mention(Record):
    """What one memory names, and what its words say of how that stands to other names."""

    key: ClassVar = ("memory_id", "kind", "name")
    memory_id: str = Field(description="The memory; held and forgotten ones are not read.")
    kind: EntityKind = Field(description="What sort of thing is named.")
    name: str = Field(description="Its usual name, as the text allows to tell.")
    said: list[str] = Field(description="How it is written in the memory.")
    entity_id: str = Field(description="The entity; a bare file name belongs to the one path of the project that ends with it.")
    uses: list[str] = Field(description="Names, as kind/name, that the memory says it uses.")
    part_of: list[str] = Field(description="Names, as kind/name, that the memory says it is part of.")
    replaced_by: list[str] = Field(description="Names, as kind/name, that the memory says came in its place.")
    read_from: str = Field(description="Hash of what the memory's names were read from.")


class Entity(Record):
    """A thing that memories name: a file, a command, a service, a person, a decision."""

    key: ClassVar = ("entity_id",)
    entity_id: str = Field(description="`ent_` and a hash of kind, name and, for what is local to one, project.")
    kind: EntityKind = Field(description="What sort of thing it is.")
    name: str = Field(description="Its usual name.")
    aliases: list[str] = Field(description="Other names, as memories or developers write it.")
    project: str = Field(description="The project that a file, flag, ticket, branch or identifier belongs to; else empty.")
    projects: list[str] = Field(description="Projects whose memories name it.")
    memory_count: Count = Field(description="Memories that name it.")
    first_event_at: datetime = Field(description="When it was first named.")
    event_at: datetime = Field(description="When it was last named.")


class RelationRow(Record):
    """How two entities stand to each other, and the memories that say so."""

    key: ClassVar = ("source_id", "target_id", "kind")
    source_id: str = Field(description="The entity that uses, is part, was replaced; of two mentioned together, the lesser id.")
    target_id: str = Field(description="The other entity.")
    kind: RelationKind = Field(
        description="`mentioned_together`: in two memories, or in one that names few things; `uses`, `part_of`, `replaced_by`: "
        "said in a memory, or plain from a path or from the memory that superseded another."
    )
    memory_ids: list[str] = Field(description="The memories that it rests on.")
    memory_count: Count = Field(description="How many they are.")
    weight: Score = Field(description="Those memories, beside the geometric mean of the memories that name each of the two.")
    first_event_at: datetime = Field(description="When it was first said.")
    event_at: datetime = Field(description="When it was last said.")


class Reflection(Record):
    """What the observations of one project and person say together on a day, in a week or in a month, with citations."""

    key: ClassVar = ("reflection_id",)
    reflection_id: str = Field(description="UUIDv5 of day, week or month, project and person.")
    day: date = Field(description="Local day; of a week or month the first.")
    until_on: date = Field(description="Last local day that it tells of.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the sessions.")
    text: str = Field(description="Markdown bullets, each ending with the ids it rests on.")
    observation_ids: list[str] = Field(description="Observations cited.")
    reflection_ids: list[str] = Field(description="The days' reflections that a week or month was made from.")
    dropped_ids: list[str] = Field(description="Facts that were read and are not told.")
    dropped_why: list[str] = Field(description="The reason for each of them; `dropped_facts` tells what they mean.")
    dropped_to: list[str] = Field(description="The memory that holds each of them now.")
    input_tokens: Count = Field(description="Estimated tokens of all observations of the time, narratives and held ones too.")
    fact_tokens: Count = Field(description="Estimated tokens of the facts among them that may be told.")
    output_tokens: Count = Field(description="Estimated tokens of the text.")
    level: Count = Field(description="Compression pressure that was needed: 0, 1 or 2.")
    reflector: str = Field(description="Who wrote it: `rules/<version>` or a model's name.")
    answers: list[str] = Field(description="Names of a model's raw answers below `answers/`; the last of them is used.")
    prompt_hash: str | None = Field(description="Hash of the prompt, where a model was asked.")
    cost_usd: float | None = Field(description="Price of its answers in US dollars; empty where the model's price is unknown.")
    problem: str | None = Field(description="Why what the model wrote is not told.")


class SessionReflection(Record):
    """What a long session established, condensed for itself alone: the block that its briefing ends with when it goes on."""

    key: ClassVar = ("session_id",)
    session_id: str = Field(description="The session.")
    day: date = Field(description="Local day of its last observed window.")
    project: str = Field(description="Project of that window.")
    person: str = Field(description="The human of the session.")
    window_count: Count = Field(description="Windows that were observed.")
    observed_tokens: Count = Field(description="Estimated tokens of the messages in them.")
    fact_count: Count = Field(description="Facts of its own that may be told, those that say the same counted once.")
    told_count: Count = Field(description="Those that are told; the others had no room.")
    text: str = Field(description="Markdown bullets in order of time, each ending with the ids it rests on.")
    observation_ids: list[str] = Field(description="Observations cited; all are the session's own.")
    tokens: Count = Field(description="Estimated tokens of the text.")
    reflector: str = Field(description="Version of the rules that condensed it.")


class DroppedFact(Record):
    """A fact that a reflection or distillate read and does not tell, why, and where it is found now."""

    key: ClassVar = ("span", "observation_id")
    span: SpanName = Field(description="What left it out: the reflection of its day, or the distillate of its week or month.")
    observation_id: str = Field(description="The fact.")
    day: date = Field(description="First local day of the span.")
    reflection_id: str = Field(description="The reflection or distillate that leaves it out.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")
    reason: DropReason = Field(
        description="`held` by the gate, `low` priority, `resolved` by a later fact, `replaced` by one that took its place, "
        "`forgotten`, `no room` beside what matters more, or `left out` by the model."
    )
    kept_as: str = Field(description="The memory that holds it now: the solution, the replacement, else its own.")


class TimelineSentence(Record):
    """One sentence of a week's chapter, with what it rests on: observations, or commits that a session made."""

    key: ClassVar = ("sentence_id",)
    sentence_id: str = Field(description="`tl_` and a hash of day, person, project and text.")
    day: date = Field(description="First local day of the week.")
    ordinal: Count = Field(description="Its place in the chapter, from 0.")
    on: date = Field(description="The local day that it tells of.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the sessions.")
    text: str = Field(description="The sentence.")
    observation_ids: list[str] = Field(description="Observations that it rests on.")
    commits: list[str] = Field(description="Hashes of the commits that it rests on, as git printed them.")


class Proposal(Record):
    """A line proposed for MEMORY.md."""

    key: ClassVar = ("proposal_id",)
    proposal_id: str = Field(description="`p-YYYYMMDD-NNN`, given once.")
    day: date = Field(description="Local day it was proposed for.")
    section: str = Field(description="Section of MEMORY.md.")
    text: str = Field(description="The line, without date or bullet.")
    event_on: date = Field(description="Local day on which it was said; the entry's date.")
    category: Category = Field(description="Category.")
    priority: Priority = Field(description="Priority.")
    confidence: Score = Field(description="Confidence of the memory behind it.")
    project: str = Field(description="Project.")
    person: str = Field(description="Whose memory it is for.")
    author: Author = Field(description="Whose words it rests on.")
    memory_id: str = Field(description="The memory behind it.")
    observation_ids: list[str] = Field(description="The observations behind it.")
    session_ids: list[str] = Field(description="The sessions behind it.")
    reflection_id: str = Field(description="The reflection that proposed it.")


class Friction(Proposal):
    """What went wrong in one session after another within seven days, and the exact change that would end it."""

    proposal_id: str = Field(description="`f-YYYYMMDD-NNN`, given once.")
    day: date = Field(description="Local day on which the seven days ended in which it was first found.")
    kind: FrictionKind = Field(
        description="`repeated_correction`: a person says the same again; `recurring_failure`: a call fails in the same way; "
        "`tool_misuse`: a tool is used against a rule, or as it cannot be; `configuration_drift`: something is put back again "
        "and again; `missing_skill`: a procedure is found out anew; `stale_memory`: a line of MEMORY.md is contradicted."
    )
    title: str = Field(description="What goes wrong.")
    target: str = Field(description="The file to change: `MEMORY.md`, or the path of another one.")
    folder: str = Field(description="Folder of the project that the target belongs to; empty for MEMORY.md.")
    section: str = Field(description="Section of the target, where it has sections.")
    text: str = Field(description="What the line would say, in one line; of other files and edits, what is changed.")
    entry: str | None = Field(description="The line of MEMORY.md that would be replaced.")
    old: str = Field(description="Text of the target that would go; empty where something is only added.")
    new: str = Field(description="Text that would come.")
    message_ids: list[str] = Field(description="The messages that show it.")
    occurrence_count: Count = Field(description="How often it happened.")
    session_count: Count = Field(description="In how many sessions: its frequency.")
    week_session_count: Count = Field(description="Sessions of the seven days.")
    minutes: Annotated[float, Field(ge=0)] = Field(description="Minutes that one occurrence cost on average: its impact.")
    severity: Annotated[float, Field(ge=0)] = Field(description="Frequency times impact.")
    first_event_at: datetime = Field(description="When it first happened.")
    event_at: datetime = Field(description="When it last happened.")


class Amendment(Proposal):
    """A change of a line that MEMORY.md holds already, proposed by what became of the memory behind it."""

    text: str = Field(description="What the line would say, without date or bullet; empty where it would go.")
    entry: str = Field(description="The line that would be replaced or go.")
    reason: str = Field(description="Why.")


class ModelReview(Record):
    """What a model said of a proposal that rules left to a person."""

    key: ClassVar = ("proposal_id",)
    proposal_id: str = Field(description="The proposal.")
    verdict: ReviewVerdict = Field(description="promote, reject, or review: a person has to say.")
    text: str = Field(description="The line as it should stand, where it is to be promoted.")
    reason: str = Field(description="Why not, or what the owner has to answer.")
    text_hash: str = Field(description="SHA-256 of the proposed text that was shown.")
    model: str = Field(description="Who said it.")
    prompt_hash: str = Field(description="Hash of the prompt.")
    answer: str = Field(description="Name of the stored answer, below `answers/triage/`.")
    asked_at: datetime = Field(description="When.")


class TrustRow(Record):
    """What a person made of the proposals of one category."""

    key: ClassVar = ("category",)
    category: Category = Field(description="Category.")
    approved: Count = Field(description="Proposals approved, in their own or other words.")
    rejected: Count = Field(description="Proposals rejected.")
    acceptance: Score = Field(description="Share of the approved.")
    points: Count = Field(description="One for each approval, three back for each rejection, never below none.")
    needed: Count = Field(description="Points from which high-priority proposals need no tick; 0: never.")
    is_trusted: bool = Field(description="Whether they need none now.")
    decided_at: datetime = Field(description="When the last one was decided.")


class EntryRow(Record):
    """A dated line of MEMORY.md as it lies on disk, and how far it has proven itself."""

    key: ClassVar = ("path", "line")
    path: str = Field(description="The file, below the workspace.")
    line: Count = Field(description="Line number, from 1.")
    section: str = Field(description="Section.")
    entry_on: date = Field(description="Its date.")
    text: str = Field(description="What it says.")
    state: EntryState = Field(
        description="candidate; established: confirmed or used; proven: confirmed and used, three times together; deprecated: "
        "its memory was replaced, or more speaks against it than for it."
    )
    is_by_hand: bool = Field(description="A person wrote or reworded it.")
    proposal_id: str | None = Field(description="The proposal that it came from.")
    memory_id: str | None = Field(description="The memory behind it, as it is now.")
    category: Category | None = Field(description="Category of that memory.")
    project: str | None = Field(description="Project of that memory.")
    session_count: Count = Field(description="Sessions behind that memory.")
    confirmed_count: Count = Field(description="Other sources that said the same.")
    contradicted_count: Count = Field(description="Sources that said what cannot hold beside it.")
    used_count: Count = Field(description="Answers of models that it informed, and sessions that took it up.")
    merged_count: Count = Field(description="Later proposals that said the same.")
    last_used_at: datetime | None = Field(description="When it was last recalled or used.")


class Decision(Record):
    """What became of a proposal."""

    key: ClassVar = ("proposal_id",)
    proposal_id: str = Field(description="The proposal.")
    state: DecisionState = Field(description="promoted, merged, rejected, expired or pending: exactly one.")
    tier: Count = Field(description="1 rules, 2 model, 3 person.")
    reason: str = Field(description="Why.")
    actor: str = Field(description="Who decided: `rules`, a model's name or a person.")
    section: str = Field(description="Section of MEMORY.md.")
    text: str = Field(description="The text as decided (a person may have edited it).")
    entry: str | None = Field(description="The line of MEMORY.md that it replaces or removes, or says the same as.")
    decided_at: datetime | None = Field(description="When; empty while pending.")
    expires_at: datetime | None = Field(description="When a pending one expires.")
