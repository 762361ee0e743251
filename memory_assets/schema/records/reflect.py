"""Rows of reflections, their condensed weeks and months, and proposals."""

from datetime import date
from typing import ClassVar, Literal

from memory_assets.schema.records.base import Count, Record, Score, column
from memory_assets.schema.vocabulary import Author, Category, Priority

SpanName = Literal["day", "week", "month"]


class Reflection(Record):
    """A cited summary of the observations of one project and person on a day, in a week or in a
    month.
    """

    reflection_id: str = column("UUIDv5 of day, week or month, project and person.")
    day: date = column("Local day; for a week or month, its first.")
    until_on: date = column("Last local day it covers.")
    project: str = column("Project.")
    person: str = column("The human of the sessions.")
    text: str = column(
        "Markdown bullets, each ending with the ids of its sources; empty where they would not be "
        "smaller than the facts, which then stand for themselves."
    )
    observation_ids: list[str] = column("Observations cited, or those that stand for themselves.")
    reflection_ids: list[str] = column("The days' reflections that a week or month was made from.")
    dropped_ids: list[str] = column("Facts that were read and left out.")
    dropped_why: list[str] = column("The reason for each of them, as in `dropped_facts`.")
    dropped_to: list[str] = column("The memory that contains each of them now.")
    input_tokens: Count = column(
        "Estimated tokens of all observations, including narratives and held ones."
    )
    fact_tokens: Count = column("Estimated tokens of the facts that may be included.")
    output_tokens: Count = column("Estimated tokens of the text, or of these facts.")
    level: Count = column("Compression level used: 0, 1 or 2.")
    reflector: str = column("Who wrote it: `rules/<version>` or a model's name.")
    answers: list[str] = column(
        "Names of a model's raw answers below `answers/`; the last one is used."
    )
    prompt_hash: str | None = column("Hash of the prompt, if a model was asked.")
    cost_usd: float | None = column(
        "Price of its answers in US dollars; empty if the model's price is unknown."
    )
    problem: str | None = column("Why the model's text is not used.")


class SessionReflection(Record):
    """What a long session established; appended to its own briefing when the session continues."""

    session_id: str = column("The session.")
    day: date = column("Local day of its last observed window.")
    project: str = column("Project of that window.")
    person: str = column("The human of the session.")
    window_count: Count = column("Windows that were observed.")
    observed_tokens: Count = column("Estimated tokens of the messages in them.")
    fact_count: Count = column("Distinct facts of the session that may be included.")
    told_count: Count = column("Facts included; the others exceeded the budget.")
    text: str = column(
        "Markdown bullets in order of time, each ending with the ids of its sources."
    )
    observation_ids: list[str] = column("Observations cited; all are the session's own.")
    tokens: Count = column("Estimated tokens of the text.")
    full_text: str = column(
        "The same within half of what makes a session long (0.325 of the context)."
    )
    full_tokens: Count = column("Estimated tokens of the full text.")
    reflector: str = column("Version of the rules that condensed it.")


class DroppedFact(Record):
    """A fact that a reflection or distillate left out, with the reason and the memory that contains
    it now.
    """

    key: ClassVar = ("span", "observation_id")
    span: SpanName = column(
        "Whether the day's reflection or the week's or month's distillate left it out."
    )
    observation_id: str = column("The fact.")
    day: date = column("First local day of the span.")
    reflection_id: str = column("The reflection or distillate that leaves it out.")
    project: str = column("Project.")
    person: str = column("The human of the session.")
    reason: Literal["held", "low", "resolved", "replaced", "forgotten", "no room", "left out"] = (
        column(
            "`held` by the gate, `low` priority, `resolved` or `replaced` by a later fact, "
            "`forgotten`, `no room` in the limit, or `left out` by the model."
        )
    )
    kept_as: str = column(
        "The memory that contains it now: the solution, the replacement, else its own."
    )


class TimelineSentence(Record):
    """One sentence of a week's chapter, with its sources: observations, quoted messages, or commits
    that a session made.
    """

    sentence_id: str = column("`tl_` and a hash of day, person, project and text.")
    day: date = column("First local day of the week.")
    ordinal: Count = column("Position in the chapter, from 0.")
    on: date = column("The local day it is about.")
    project: str = column("Project.")
    person: str = column("The human of the sessions.")
    text: str = column("The sentence.")
    observation_ids: list[str] = column("Observations it is based on.")
    message_ids: list[str] = column("Messages it quotes.")
    commits: list[str] = column("Hashes of the commits it is based on, as git printed them.")


class Proposal(Record):
    """A line proposed for MEMORY.md, numbered once."""

    proposal_id: str = column("`p-YYYYMMDD-NNN`, never reused.")
    day: date = column("Local day it was proposed for.")
    section: str = column("Section of MEMORY.md.")
    text: str = column("The line, without date or bullet.")
    event_on: date = column("Local day on which it was said; the entry's date.")
    category: Category = column("Category.")
    priority: Priority = column("Priority.")
    confidence: Score = column("Confidence of the memory behind it.")
    project: str = column("Project.")
    person: str = column("Whose memory it is for.")
    author: Author = column("Who said it.")
    memory_id: str = column("The memory behind it.")
    observation_ids: list[str] = column("The observations behind it.")
    session_ids: list[str] = column("The sessions behind it.")
    reflection_id: str = column("The reflection that proposed it.")
