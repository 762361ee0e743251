"""Rows of extraction: answers of models, segments, verdicts, observations, dates and lessons."""

from datetime import date, datetime
from typing import ClassVar, Literal
from uuid import UUID

from pydantic import Field

from memory_assets.schema.records.base import Count, Record, Score
from memory_assets.schema.vocabulary import (
    Author,
    Category,
    Priority,
    Scope,
    Sentiment,
    Strength,
    Trigger,
)

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
    window_id: str = Field(description="The window.")
    ordinal: Count = Field(description="Number of the call, from 0; a long window takes several.")
    call_count: Count = Field(description="Calls for the whole window.")
    session_id: str = Field(description="The session.")
    day: date = Field(description="Local day of the window.")
    row_from: Count = Field(description="Position in the window of the call's first message.")
    row_to: Count = Field(description="Position of its last message.")
    state: AnswerState = Field(
        description="answered; cut (truncated); refused, unusable (twice) or failed: the rules "
        "observe these messages."
    )
    problem: str | None = Field(description="Why there is no answer.")
    answer: str | None = Field(
        description="Name of the raw answer's file below `answers/`, without its extension."
    )
    model: str = Field(description="Model that was asked.")
    answered_by: str | None = Field(description="Model name given in the answer.")
    prompt_hash: str = Field(description="Hash of the prompt.")
    parameters: str = Field(description="Parameters of the call.")
    serialiser: str = Field(description="Version of the message serialisation.")
    stop_reason: str | None = Field(description="Stop reason, as the Messages API names it.")
    attempts: Count = Field(
        description="Answers that were paid for, including truncated ones and shares of one."
    )
    input_tokens: Count = Field(description="Uncached tokens sent, in all attempts.")
    cache_read_tokens: Count = Field(description="Tokens read from the provider's prompt cache.")
    cache_write_tokens: Count = Field(description="Tokens written to the provider's prompt cache.")
    output_tokens: Count = Field(description="Tokens of the answers.")
    cost_usd: float | None = Field(
        description="Price of all attempts in US dollars; empty if the model's price is unknown."
    )
    seconds: float = Field(description="Duration of the call; 0 in a batch.")
    is_batch: bool = Field(description="Answered in a batch, at half the price.")
    asked_at: datetime | None = Field(description="When the answer arrived.")
    shown_ids: list[str] = Field(description="Earlier memories shown with the question.")
    cited_ids: list[str] = Field(description="Those that the answer cites.")
    replaced_ids: list[str] = Field(
        description="Facts established earlier in the session that the answer replaces."
    )
    parse_path: str | None = Field(
        description="How the answer was parsed: segments, structured, flat, list, raw or empty."
    )
    fact_count: Count = Field(description="Facts in the answer.")
    current_task: str | None = Field(
        description="The task in progress at the end, according to the model."
    )
    suggested_response: str | None = Field(
        description="How the next session could continue, according to the model."
    )


class Segment(Record):
    """Consecutive messages about one topic: what was asked and stated, verbatim, and what a model
    says of them.
    """

    segment_id: str = Field(description="UUIDv5 of the window and the segment's first message.")
    window_id: str = Field(description="The window.")
    session_id: str = Field(description="The session.")
    day: date = Field(description="Local day of the window.")
    ordinal: Count = Field(description="Position in the window, from 0.")
    narrative: str = Field(
        description="One to three sentences of a model on what happened; empty without a model."
    )
    request: str = Field(
        description="The owner's first request, verbatim; `…` marks each cut. Empty if there is "
        "none."
    )
    request_id: str = Field(description="The message that it is from.")
    state: str = Field(
        description="The state that the assistant's last words give, verbatim, likewise."
    )
    state_id: str = Field(description="The message that it is from.")
    message_ids: list[str] = Field(
        description="Its messages, in order; each message of a window is in exactly one segment."
    )
    line_from: Count = Field(description="Record number of the first message.")
    line_to: Count = Field(description="Record number of the last message.")
    started_at: datetime = Field(description="Earliest event time.")
    ended_at: datetime = Field(description="Latest event time.")
    user_turn_count: Count = Field(description="Turns typed by the human.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")
    observer: str = Field(description="Who split the window: `rules/<version>` or a model's name.")


class VerdictRow(Record):
    """The write gate's verdict on one candidate fact, with the reason; the text of a discarded one
    is not kept.
    """

    candidate_id: str = Field(
        description="UUIDv5 of window, segment and text; the observation's id if it was kept."
    )
    window_id: str = Field(description="The window.")
    session_id: str = Field(description="The session.")
    segment_id: str = Field(description="The segment.")
    day: date = Field(description="Local day of the window.")
    verdict: Verdict = Field(description="The verdict.")
    reason: str = Field(description="The rule that decided.")
    gate_confidence: Score = Field(description="How sure the gate is of its verdict.")
    text_hash: str = Field(description="SHA-256 of the text, in hex.")
    parse_path: str = Field(
        description="How the observer's answer was parsed: rules, segments, flat, list or raw."
    )
    observer: str = Field(description="Who proposed it.")


class Observation(Record):
    """One fact worth keeping (or holding), with priority, category and verdict; never changed after
    extraction.
    """

    id: str = Field(
        description="UUIDv5 of window, segment and text; shown as `mem_` and its first twelve "
        "hex digits."
    )
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
    gate: Literal["allow", "hold"] = Field(
        description="Held facts are stored, but recalled only on request."
    )
    gate_reason: str = Field(description="The rule that decided.")
    gate_confidence: Score = Field(description="How sure the gate is.")
    category: Category = Field(
        description="One of the seven categories of taxonomy v1, or an optional one."
    )
    category_confidence: Score = Field(description="How clearly the text matches the category.")
    taxonomy_version: str = Field(
        description="Version of the taxonomy, with its optional categories (v1+health)."
    )
    confidence: Score = Field(description="Probability that the fact is true.")
    strength: Strength = Field(
        description="Sets the initial confidence: explicit 0.9, implied 0.7, inferred 0.5."
    )
    sentiment: Sentiment = Field(description="Tone in which it was said.")
    author: Author = Field(
        description="Who said it; only the owner's words become rules and preferences."
    )
    scope: Scope = Field(description="Where it applies: the project, the person or everyone.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")
    folder: str = Field(description="Working folder.")
    tags: list[str] = Field(
        description="What it does (rule, preference, correction, decision, root_cause, "
        "state_change, result, gotcha), of a"
        " note the tags that it was saved with, and `correction` if it corrects a memory."
    )
    entities: list[str] = Field(
        description="Files, commands, packages, services, people and ids that it names."
    )
    event_at: datetime = Field(description="When it was said.")
    clock_times: list[str] = Field(
        description="Clock times (HH:MM) named in the text, each found in its source."
    )
    lines: list[int] = Field(description="Physical 0-based record numbers of its evidence.")
    message_ids: list[str] = Field(description="Ids of the messages of its evidence.")
    quote: str = Field(description="Verbatim quote that supports the fact.")
    tokens: Count = Field(description="Estimated tokens of the text (characters / 4).")
    observer: str = Field(description="Who extracted it: `rules/<version>` or a model's name.")
    prompt_hash: str | None = Field(description="Hash of the prompt, if a model was asked.")
    schema_version: Count = Field(description="Version of this row's schema.")


class HarnessMemory(Observation):
    """One fact from the memory files of Claude Code or Codex, or a decision record in force; the
    files are only read.
    """

    id: str = Field(description="UUIDv5 of harness, file and text.")
    session_id: str = Field(description="`memory of` and the harness: it belongs to no session.")
    path: str = Field(description="The file; it is never written.")
    event_at: datetime = Field(description="When the file was last changed.")
    lines: list[int] = Field(description="Its lines in the file, from 0.")
    observer: str = Field(description="The harness, or `adr`.")


class TriggerRow(Record):
    """A future date named by the owner or by a fact, with what to recall when it comes."""

    trigger_id: str = Field(description="`trg_` and a hash of message and day.")
    day: date = Field(description="Local day of the window in which it was said.")
    trigger_on: date = Field(
        description="The date, in the owner's zone; reminders are shown on it and on the day "
        "before."
    )
    expression: str = Field(description="The words that name the date.")
    quote: str = Field(description="The sentence that contains them.")
    said_at: datetime = Field(
        description="Time of the message; relative dates are resolved against it."
    )
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
