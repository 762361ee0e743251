"""Rows of extraction: answers of models, segments, verdicts, observations, dates and lessons."""

from datetime import date, datetime
from typing import ClassVar, Literal
from uuid import UUID

from memory_assets.schema import vocabulary
from memory_assets.schema.records.base import Count, Record, Score, column

SCHEMA_VERSION = 1
"""Version of the rows of observations, which each of them holds."""

NAMESPACE = UUID("6f0c5b0e-51f4-5a0e-9a6e-2b1f6a1c7d11")
"""The namespace of the ids of segments, observations and notes; it never changes."""

AnswerState = Literal["answered", "cut", "refused", "unusable", "failed"]
Verdict = Literal["allow", "hold", "discard"]


class ObserverAnswer(Record):
    """One model call about a window, or its share of a call about several short sessions; none
    without a model.
    """

    key: ClassVar = ("window_id", "ordinal")
    window_id: str = column("The window.")
    ordinal: Count = column("Number of the call, from 0; a long window takes several.")
    call_count: Count = column("Calls for the whole window.")
    session_id: str = column("The session.")
    day: date = column("Local day of the window.")
    row_from: Count = column("Position in the window of the call's first message.")
    row_to: Count = column("Position of its last message.")
    state: AnswerState = column(
        "answered; cut (truncated); refused, unusable (twice) or failed: the rules observe these "
        "messages."
    )
    problem: str | None = column("Why there is no answer.")
    answer: str | None = column(
        "Name of the raw answer's file below `answers/`, without its extension."
    )
    model: str = column("Model that was asked.")
    answered_by: str | None = column("Model name given in the answer.")
    prompt_hash: str = column("Hash of the prompt.")
    parameters: str = column("Parameters of the call.")
    serialiser: str = column("Version of the message serialisation.")
    stop_reason: str | None = column("Stop reason, as the Messages API names it.")
    attempts: Count = column(
        "Answers that were paid for, including truncated ones and shares of one."
    )
    input_tokens: Count = column("Uncached tokens sent, in all attempts.")
    cache_read_tokens: Count = column("Tokens read from the provider's prompt cache.")
    cache_write_tokens: Count = column("Tokens written to the provider's prompt cache.")
    output_tokens: Count = column("Tokens of the answers.")
    cost_usd: float | None = column(
        "Price of all attempts in US dollars; empty if the model's price is unknown."
    )
    seconds: float = column("Duration of the call; 0 in a batch.")
    is_batch: bool = column("Answered in a batch, at half the price.")
    asked_at: datetime | None = column("When the answer arrived.")
    shown_ids: list[str] = column("Earlier memories shown with the question.")
    cited_ids: list[str] = column("Those that the answer cites.")
    replaced_ids: list[str] = column(
        "Facts established earlier in the session that the answer replaces."
    )
    parse_path: str | None = column(
        "How the answer was parsed: segments, structured, flat, list, raw or empty."
    )
    fact_count: Count = column("Facts in the answer.")
    current_task: str | None = column("The task in progress at the end, according to the model.")
    suggested_response: str | None = column(
        "How the next session could continue, according to the model."
    )


class Segment(Record):
    """Consecutive messages about one topic: quotes of what was asked and written, and what a model
    says of them.
    """

    segment_id: str = column("UUIDv5 of the window and the segment's first message.")
    window_id: str = column("The window.")
    session_id: str = column("The session.")
    day: date = column("Local day of the window.")
    ordinal: Count = column("Position in the window, from 0.")
    narrative: str = column(
        "One to three sentences of a model on what happened; empty without a model."
    )
    quotes: list[str] = column(
        "What the owner asked for first, what the session's own model wrote of the work, and the "
        "assistant's last words: each a part of one message, verbatim."
    )
    quote_sources: list[vocabulary.QuoteSource] = column(
        "What each quote is from. A `request` is the owner's, all others are the assistant's."
    )
    quote_ids: list[str] = column(
        "The message of each quote; a summary for a person who was away follows its message."
    )
    message_ids: list[str] = column(
        "Its messages, in order; each message of a window is in exactly one segment."
    )
    line_from: Count = column("Record number of the first message.")
    line_to: Count = column("Record number of the last message.")
    started_at: datetime = column("Earliest event time.")
    ended_at: datetime = column("Latest event time.")
    user_turn_count: Count = column("Turns typed by the human.")
    project: str = column("Project.")
    person: str = column("The human of the session.")
    observer: str = column("Who split the window: `rules/<version>` or a model's name.")


class VerdictRow(Record):
    """The write gate's verdict on one candidate fact, with the reason; the text of a discarded one
    is not kept.
    """

    candidate_id: str = column(
        "UUIDv5 of window, segment and text; the observation's id if it was kept."
    )
    window_id: str = column("The window.")
    session_id: str = column("The session.")
    segment_id: str = column("The segment.")
    day: date = column("Local day of the window.")
    verdict: Verdict = column("The verdict.")
    reason: str = column("The rule that decided.")
    gate_confidence: Score = column("How sure the gate is of its verdict.")
    text_hash: str = column("SHA-256 of the text, in hex.")
    parse_path: str = column(
        "How the observer's answer was parsed: rules, segments, flat, list or raw."
    )
    observer: str = column("Who proposed it.")


class Observation(Record):
    """One fact worth keeping (or holding), with priority, category and verdict; never changed after
    extraction.
    """

    id: str = column(
        "UUIDv5 of window, segment and text; shown as `mem_` and its first twelve hex digits."
    )
    session_id: str = column("The session.")
    window_id: str = column("The window (its dedupe key).")
    segment_id: str = column("The segment.")
    day: date = column("Local day of the window.")
    path: str = column("Path of the transcript.")
    trigger: vocabulary.Trigger = column("What closed the window.")
    kind: Literal["fact", "narrative"] = column("A fact, or a segment's narrative.")
    text: str = column("The fact, one or two sentences that stand alone.")
    text_hash: str = column("SHA-256 of the text, in hex; the key of its embedding.")
    priority: vocabulary.Priority = column("🔴 high, 🟡 medium, 🟢 low.")
    gate: Literal["allow", "hold"] = column("Held facts are stored, but recalled only on request.")
    gate_reason: str = column("The rule that decided.")
    gate_confidence: Score = column("How sure the gate is.")
    category: vocabulary.Category = column(
        "One of the seven categories of taxonomy v1, or an optional one."
    )
    category_confidence: Score = column("How clearly the text matches the category.")
    taxonomy_version: str = column(
        "Version of the taxonomy, with its optional categories (v1+health)."
    )
    confidence: Score = column("Probability that the fact is true.")
    strength: vocabulary.Strength = column(
        "Sets the initial confidence: explicit 0.9, implied 0.7, inferred 0.5."
    )
    sentiment: vocabulary.Sentiment = column("Tone in which it was said.")
    author: vocabulary.Author = column(
        "Who said it; only the owner's words become rules and preferences."
    )
    scope: vocabulary.Scope = column("Where it applies: the project, the person or everyone.")
    project: str = column("Project.")
    person: str = column("The human of the session.")
    folder: str = column("Working folder.")
    tags: list[str] = column(
        "What it does (rule, preference, correction, decision, root_cause, state_change, result, "
        "gotcha), of a note the tags that it was saved with, and `correction` if it corrects a "
        "memory."
    )
    entities: list[str] = column(
        "Files, commands, packages, services, people and ids that it names."
    )
    event_at: datetime = column("When it was said.")
    clock_times: list[str] = column(
        "Clock times (HH:MM) named in the text, each found in its source."
    )
    lines: list[int] = column("Physical 0-based record numbers of its evidence.")
    message_ids: list[str] = column("Ids of the messages of its evidence.")
    quote: str = column("Verbatim quote that supports the fact.")
    commit: str = column(
        "Abbreviated id of the commit that followed a decision, a change or a result in its window."
    )
    tokens: Count = column("Estimated tokens of the text (characters / 4).")
    observer: str = column("Who extracted it: `rules/<version>` or a model's name.")
    prompt_hash: str | None = column("Hash of the prompt, if a model was asked.")
    schema_version: Count = column("Version of this row's schema.")


class HarnessMemory(Observation):
    """One fact from the memory files of Claude Code or Codex, or a decision record in force; the
    files are only read.
    """

    id: str = column("UUIDv5 of harness, file and text.")
    session_id: str = column("`memory of` and the harness: it belongs to no session.")
    path: str = column("The file; it is never written.")
    event_at: datetime = column("When the file was last changed.")
    lines: list[int] = column("Its lines in the file, from 0.")
    observer: str = column("The harness, or `adr`.")


class TriggerRow(Record):
    """A future date named by the owner or by a fact, with what to recall when it comes."""

    trigger_id: str = column("`trg_` and a hash of message and day.")
    day: date = column("Local day of the window in which it was said.")
    trigger_on: date = column(
        "The date, in the owner's zone; reminders are shown on it and on the day before."
    )
    expression: str = column("The words that name the date.")
    quote: str = column("The sentence that contains them.")
    said_at: datetime = column("Time of the message; relative dates are resolved against it.")
    zone: str = column("Time zone of the resolution.")
    captured_at: datetime = column("When the message was captured.")
    state: Literal["due", "past"] = column("`past`: over when the message was captured.")
    author: vocabulary.Author = column("Who said it.")
    message_id: str = column("The message.")
    line: Count = column("Its record number in the transcript.")
    session_id: str = column("The session.")
    path: str = column("Path of the transcript.")
    project: str = column("Project.")
    person: str = column("The human of the session.")
    memory_ids: list[str] = column("Observations to recall with it, the nearest first.")


class Lesson(Record):
    """A correction or rule of the owner for every later session, from short sessions too."""

    lesson_id: str = column("`les_` and a hash of window and text.")
    day: date = column("Local day of the window.")
    text: str = column("The lesson, in the owner's words.")
    quote: str = column("Verbatim quote of the turn.")
    said_at: datetime = column("When it was said.")
    message_id: str = column("The message.")
    line: Count = column("Its record number in the transcript.")
    session_id: str = column("The session.")
    window_id: str = column("The window, which may be a short one.")
    path: str = column("Path of the transcript.")
    project: str = column("Project.")
    person: str = column("The human of the session.")
