"""Rows of reflections, their condensed weeks and months, and proposals."""

from datetime import date
from typing import ClassVar, Literal

from pydantic import Field

from memory_assets.schema.records.base import Count, Record, Score
from memory_assets.schema.vocabulary import Author, Category, Priority

SpanName = Literal["day", "week", "month"]


class Reflection(Record):
    """A cited summary of the observations of one project and person on a day, in a week or in a
    month.
    """

    reflection_id: str = Field(description="UUIDv5 of day, week or month, project and person.")
    day: date = Field(description="Local day; for a week or month, its first.")
    until_on: date = Field(description="Last local day it covers.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the sessions.")
    text: str = Field(description="Markdown bullets, each ending with the ids of its sources.")
    observation_ids: list[str] = Field(description="Observations cited.")
    reflection_ids: list[str] = Field(
        description="The days' reflections that a week or month was made from."
    )
    dropped_ids: list[str] = Field(description="Facts that were read and left out.")
    dropped_why: list[str] = Field(
        description="The reason for each of them, as in `dropped_facts`."
    )
    dropped_to: list[str] = Field(description="The memory that contains each of them now.")
    input_tokens: Count = Field(
        description="Estimated tokens of all observations, including narratives and held ones."
    )
    fact_tokens: Count = Field(description="Estimated tokens of the facts that may be included.")
    output_tokens: Count = Field(description="Estimated tokens of the text.")
    level: Count = Field(description="Compression level used: 0, 1 or 2.")
    reflector: str = Field(description="Who wrote it: `rules/<version>` or a model's name.")
    answers: list[str] = Field(
        description="Names of a model's raw answers below `answers/`; the last one is used."
    )
    prompt_hash: str | None = Field(description="Hash of the prompt, if a model was asked.")
    cost_usd: float | None = Field(
        description="Price of its answers in US dollars; empty if the model's price is unknown."
    )
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
    text: str = Field(
        description="Markdown bullets in order of time, each ending with the ids of its sources."
    )
    observation_ids: list[str] = Field(description="Observations cited; all are the session's own.")
    tokens: Count = Field(description="Estimated tokens of the text.")
    full_text: str = Field(
        description="The same within half of what makes a session long (0.325 of the context)."
    )
    full_tokens: Count = Field(description="Estimated tokens of the full text.")
    reflector: str = Field(description="Version of the rules that condensed it.")


class DroppedFact(Record):
    """A fact that a reflection or distillate left out, with the reason and the memory that contains
    it now.
    """

    key: ClassVar = ("span", "observation_id")
    span: SpanName = Field(
        description="Whether the day's reflection or the week's or month's distillate left it out."
    )
    observation_id: str = Field(description="The fact.")
    day: date = Field(description="First local day of the span.")
    reflection_id: str = Field(description="The reflection or distillate that leaves it out.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the session.")
    reason: Literal["held", "low", "resolved", "replaced", "forgotten", "no room", "left out"] = (
        Field(
            description="`held` by the gate, `low` priority, `resolved` or `replaced` by a later "
            "fact, `forgotten`, `no room` in "
            "the limit, or `left out` by the model."
        )
    )
    kept_as: str = Field(
        description="The memory that contains it now: the solution, the replacement, else its own."
    )


class TimelineSentence(Record):
    """One sentence of a week's chapter, with its sources: observations, quoted messages, or commits
    that a session made.
    """

    sentence_id: str = Field(description="`tl_` and a hash of day, person, project and text.")
    day: date = Field(description="First local day of the week.")
    ordinal: Count = Field(description="Position in the chapter, from 0.")
    on: date = Field(description="The local day it is about.")
    project: str = Field(description="Project.")
    person: str = Field(description="The human of the sessions.")
    text: str = Field(description="The sentence.")
    observation_ids: list[str] = Field(description="Observations it is based on.")
    message_ids: list[str] = Field(description="Messages it quotes.")
    commits: list[str] = Field(
        description="Hashes of the commits it is based on, as git printed them."
    )


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
