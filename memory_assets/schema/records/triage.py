"""Rows of frictions, amendments, reviews, trust, entries and decisions."""

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from memory_assets.schema.records.base import Count, Record, Score
from memory_assets.schema.records.reflect import Proposal
from memory_assets.schema.vocabulary import Category

FrictionKind = Literal[
    "repeated_correction", "recurring_failure", "tool_misuse", "configuration_drift",
    "missing_skill", "stale_memory"
]  # fmt: skip


class Friction(Proposal):
    """A problem that recurs across sessions within seven days, with the exact change that would fix
    it.
    """

    proposal_id: str = Field(description="`f-YYYYMMDD-NNN`, never reused.")
    day: date = Field(description="Last local day of the seven in which it was first found.")
    kind: FrictionKind = Field(
        description="`repeated_correction`: a person repeats a correction; `recurring_failure`: "
        "a call fails in the same way; "
        "`tool_misuse`: a tool is used against a rule or wrongly; `configuration_drift`: a "
        "change is reverted repeatedly; "
        "`missing_skill`: a procedure is worked out again; `stale_memory`: a line of "
        "MEMORY.md is contradicted."
    )
    title: str = Field(description="What goes wrong.")
    target: str = Field(description="The file to change: `MEMORY.md`, or the path of another file.")
    folder: str = Field(
        description="Folder of the project that the target belongs to; empty for MEMORY.md."
    )
    section: str = Field(description="Section of the target, if it has sections.")
    text: str = Field(description="The proposed line; for other files, a summary of the change.")
    entry: str | None = Field(description="The line of MEMORY.md to replace.")
    old: str = Field(description="Text of the target to remove; empty if text is only added.")
    new: str = Field(description="Text to add.")
    message_ids: list[str] = Field(description="The messages that show it.")
    occurrence_count: Count = Field(description="How often it happened.")
    session_count: Count = Field(description="In how many sessions: its frequency.")
    week_session_count: Count = Field(description="Sessions of the seven days.")
    minutes: Annotated[float, Field(ge=0)] = Field(
        description="Average minutes lost per occurrence: its impact."
    )
    severity: Annotated[float, Field(ge=0)] = Field(description="Frequency times impact.")
    first_event_at: datetime = Field(description="When it first happened.")
    event_at: datetime = Field(description="When it last happened.")


class Amendment(Proposal):
    """A proposed change of a line of MEMORY.md: corrected, replaced, contradicted, or over the
    limit.
    """

    text: str = Field(description="The new line, without date or bullet; empty to remove it.")
    entry: str = Field(description="The line to replace or remove.")
    reason: str = Field(description="Why.")


class ModelReview(Record):
    """A model's review of a proposal that rules left to a person; none without a model."""

    proposal_id: str = Field(description="The proposal.")
    verdict: Literal["promote", "reject", "review"] = Field(
        description="promote, reject, or review: a person must decide."
    )
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
    needed: Count = Field(
        description="Points from which high-priority proposals need no approval; 0: never."
    )
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
        description="candidate; established: confirmed or used; proven: confirmed and used, "
        "three times in total; deprecated: "
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
    state: Literal["promoted", "merged", "rejected", "expired", "pending"] = Field(
        description="Current state."
    )
    tier: Count = Field(description="1 rules, 2 model, 3 person.")
    reason: str = Field(description="Why.")
    actor: str = Field(description="Who decided: `rules`, a model's name or a person.")
    section: str = Field(description="Section of MEMORY.md.")
    text: str = Field(description="The text as decided (a person may have edited it).")
    entry: str | None = Field(
        description="The line of MEMORY.md that it replaces, removes or repeats."
    )
    decided_at: datetime | None = Field(description="When it was decided; empty while pending.")
    expires_at: datetime | None = Field(
        description="When a pending one expires; empty until a person is asked about it."
    )
