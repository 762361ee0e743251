"""Rows of frictions, amendments, reviews, trust, entries and decisions."""

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from memory_assets.schema.records.base import Count, Record, Score, column
from memory_assets.schema.records.reflect import Proposal
from memory_assets.schema.vocabulary import Category, Harness

FrictionKind = Literal[
    "repeated_correction", "recurring_failure", "tool_misuse", "configuration_drift",
    "missing_skill", "broken_rule"
]  # fmt: skip


class Friction(Proposal):
    """A problem that recurs across sessions within seven days, with the exact change that would fix
    it.
    """

    proposal_id: str = column("`f-YYYYMMDD-NNN`, never reused.")
    day: date = column("Last local day of the seven in which it was first found.")
    kind: FrictionKind = column(
        "`repeated_correction`: a person repeats a correction; `recurring_failure`: a call fails "
        "in the same way; `tool_misuse`: a tool is used against a rule or wrongly; "
        "`configuration_drift`: a change is reverted repeatedly; `missing_skill`: a procedure is "
        "worked out again; `broken_rule`: a rule is broken although the briefing had it."
    )
    title: str = column("What goes wrong.")
    target: str = column("The file to change: `MEMORY.md`, or the path of another file.")
    folder: str = column("Folder of the project that the target belongs to; empty for MEMORY.md.")
    section: str = column("Section of the target, if it has sections.")
    text: str = column("The proposed line; for other files, a summary of the change.")
    old: str = column("Text of the target to remove; empty if text is only added.")
    new: str = column("Text to add.")
    message_ids: list[str] = column("The messages that show it.")
    occurrence_count: Count = column("How often it happened.")
    session_count: Count = column("In how many sessions: its frequency.")
    week_session_count: Count = column("Sessions of the seven days.")
    minutes: Annotated[float, Field(ge=0)] = column(
        "Average minutes lost per occurrence: its impact."
    )
    severity: Annotated[float, Field(ge=0)] = column("Frequency times impact.")
    first_event_at: datetime = column("When it first happened.")
    event_at: datetime = column("When it last happened.")


class Obedience(Record):
    """Whether a session kept a rule that tool calls can show, on a day on which it applied."""

    key: ClassVar = ("rule_id", "session_id", "day")
    rule_id: str = column("The memory that says it; `line_` and a hash for a line without one.")
    session_id: str = column("The session; its sub-agents are part of it.")
    day: date = column("Local day of the calls.")
    project: str = column("Project.")
    harness: Harness = column("Which coding agent.")
    state: Literal["kept", "broken"] = column("`broken` if one call broke it.")
    known: Literal["briefing", "recalled", "before"] = column(
        "How the session knew it: from its briefing, from a recall; `before`: it did not."
    )
    applied_count: Count = column("Calls to which it applied.")
    broken_count: Count = column("Those of them that broke it.")
    message_id: str = column("The message of the first call that broke it, else of the last call.")
    command: str = column("The command or the path of that call, cut.")
    event_at: datetime = column("When that call was made.")


class Amendment(Proposal):
    """A proposed change of a line of MEMORY.md: corrected, replaced, contradicted, or over the
    limit.
    """

    text: str = column("The new line, without date or bullet; empty to remove it.")
    entry: str | None = column("The line to replace or remove; empty for a new line.")
    reason: str = column("Why.")


class ModelReview(Record):
    """A model's review of a proposal that rules left to a person; none without a model."""

    proposal_id: str = column("The proposal.")
    verdict: Literal["promote", "reject", "review"] = column(
        "promote, reject, or review: a person must decide."
    )
    text: str = column("The final line, if promoted.")
    reason: str = column("Why not, or the question for the owner.")
    text_hash: str = column("SHA-256 of the proposed text that was shown.")
    model: str = column("Model that reviewed it.")
    prompt_hash: str = column("Hash of the prompt.")
    answer: str = column("Name of the stored answer, below `answers/triage/`.")
    asked_at: datetime = column("When the answer arrived.")


class TrustRow(Record):
    """How people decided the proposals of one category, and whether they still need approval."""

    category: Category = column("Category.")
    approved: Count = column("Proposals approved, edited ones included.")
    rejected: Count = column("Proposals rejected.")
    acceptance: Score = column("Share of approved proposals.")
    points: Count = column("+1 for each approval, -3 for each rejection, at least 0.")
    needed: Count = column("Points from which high-priority proposals need no approval; 0: never.")
    is_trusted: bool = column("Whether they need no approval now.")
    decided_at: datetime = column("When the last one was decided.")


class EntryRow(Record):
    """A dated line of MEMORY.md with its state: candidate, established, proven or deprecated."""

    key: ClassVar = ("path", "line")
    path: str = column("The file, below the workspace.")
    line: Count = column("Line number, from 1.")
    section: str = column("Section.")
    entry_on: date = column("Its date.")
    text: str = column("Its text.")
    state: Literal["candidate", "established", "proven", "deprecated"] = column(
        "candidate; established: confirmed or used; proven: confirmed and used, three times in "
        "total; deprecated: its memory was replaced or is contradicted more than confirmed."
    )
    is_by_hand: bool = column("A person wrote or reworded it.")
    proposal_id: str | None = column("The proposal it came from.")
    memory_id: str | None = column("The current memory behind it.")
    category: Category | None = column("Category of that memory.")
    project: str | None = column("Project of that memory.")
    session_count: Count = column("Sessions behind that memory.")
    confirmed_count: Count = column("Other sources that confirm it.")
    contradicted_count: Count = column("Sources that contradict it.")
    used_count: Count = column("Model answers and sessions that used it.")
    merged_count: Count = column("Later proposals with the same content.")
    last_used_at: datetime | None = column("When it was last recalled or used.")


class Decision(Record):
    """The state of a proposal: promoted, merged, rejected, expired or pending."""

    proposal_id: str = column("The proposal.")
    state: Literal["promoted", "merged", "rejected", "expired", "pending"] = column(
        "Current state."
    )
    tier: Count = column("1 rules, 2 model, 3 person.")
    reason: str = column("Why.")
    actor: str = column("Who decided: `rules`, a model's name or a person.")
    section: str = column("Section of MEMORY.md.")
    text: str = column("The text as decided (a person may have edited it).")
    entry: str | None = column("The line of MEMORY.md that it replaces, removes or repeats.")
    decided_at: datetime | None = column("When it was decided; empty while pending.")
    expires_at: datetime | None = column(
        "When a pending one expires; empty until a person is asked about it."
    )
