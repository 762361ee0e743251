"""Rows of measurements: quality, evaluation, calibration and telemetry."""

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from memory_assets.schema.records.base import Count, Record, Score

QualityMeasure = Literal[
    "verdict", "reason", "parse_path", "priority", "category", "junk", "repeated", "ungrounded",
    "invented_time",
    "dangling", "conversational", "long", "owner_unheard", "broken", "unnamed_change",
    "copied_output", "asked_only",
]  # fmt: skip
EvaluationMeasure = Literal[
    "recall", "recall_high", "recall_owner_rules", "precision", "noise", "f1", "allowed", "judged",
    "right", "noisy",
]  # fmt: skip


class QualityRow(Record):
    """Quality of one day's facts: how many rows have one value of one measure."""

    key: ClassVar = ("day", "measure", "value")
    day: date = Field(description="Local day.")
    measure: QualityMeasure = Field(
        description="`verdict`, `reason`, `parse_path`: of all candidates; `priority`, "
        "`category`: of allowed facts; `junk`: "
        "candidates rejected as noise; all others: faults of facts, defined in docs/operating.md."
    )
    value: str = Field(
        description="The value counted; for faults, the verdict (allow or hold) of the facts "
        "that have it."
    )
    count: Count = Field(description="Rows with the value.")
    total: Count = Field(description="All rows of the measure.")
    share: Score | None = Field(description="count / total; empty if total is 0.")


class EvaluationRow(Record):
    """One figure of the latest evaluation against labelled sessions, for one session or all
    together.
    """

    key: ClassVar = ("session_id", "measure")
    session_id: str = Field(description="The labelled session, or `all`.")
    measure: EvaluationMeasure = Field(
        description="`allowed`, `judged`, `right` and `noisy` are numbers of facts, the others "
        "shares from 0 to 1; `recall` is "
        "weighted by priority. Defined in docs/operating.md."
    )
    value: Annotated[float, Field(ge=0)] = Field(description="The figure.")
    low: Score | None = Field(
        description="Lower end of the 90 % interval over sessions, if there is one."
    )
    high: Score | None = Field(description="Upper end of the interval.")
    observer: str = Field(description="Who extracted the facts.")
    distill_version: str = Field(description="Version of the extraction rules.")
    labels_hash: str = Field(description="Hash of the labels, shortened.")


class CalibrationRow(Record):
    """One verdict on the rows of one category, with how many of them people approved, rejected or
    never saw.
    """

    key: ClassVar = ("judge", "verdict", "reason", "category", "version")
    judge: Literal["gate", "rules", "model", "confidence"] = Field(
        description="`gate`: the write gate, on facts; `rules` of triage or `model` reviews, on "
        "proposals; `confidence`: the "
        "stored confidence of proposals."
    )
    verdict: str = Field(
        description="allow, hold or discard; promoted, merged, rejected or left to a person; "
        "promote, reject or review; a "
        "confidence bin such as `0.8 to 0.9`."
    )
    reason: str = Field(
        description="The rule that decided, without values that differ between rows."
    )
    category: str = Field(
        description="Category; empty for discarded facts, whose category is not kept."
    )
    version: str = Field(
        description="gate, confidence: observer and prompt (discarded facts: the observer); "
        "rules: version of triage, "
        "`unrecorded` for old rows; model: name and prompt."
    )
    count: Count = Field(description="Rows with the verdict.")
    approved: Count = Field(description="Approved by a person without changes.")
    edited: Count = Field(description="Approved or kept by a person in other words.")
    kept: Count = Field(
        description="Written without asking and not removed within the review period."
    )
    rejected: Count = Field(description="Rejected by a person, or removed from MEMORY.md.")
    ignored: Count = Field(description="Shown to people and expired undecided.")
    waiting: Count = Field(description="Still waiting for a decision.")
    unseen: Count = Field(description="Never shown to anybody.")
    precision: Score | None = Field(
        description="Share of the decided rows where people agreed with the verdict; of rows "
        "left to a person, the share "
        "approved. Empty if nobody decided."
    )
    low: Score | None = Field(description="Lower end of its 90 % interval.")
    high: Score | None = Field(description="Upper end of the interval.")
    brier: Score | None = Field(
        description="For confidence: Brier score against 1 (approved) and 0 (rejected)."
    )


class TelemetryRow(Record):
    """What one step of the pipeline did: how long it took, what it wrote, and how it failed."""

    key: ClassVar = ("event_id",)
    event_id: str = Field(description="Hash of the event.")
    at: datetime = Field(description="When the step ended.")
    level: Literal["info", "error"] = Field(description="error: the step failed.")
    component: str = Field(description="Stage of the pipeline.")
    action: str = Field(
        description="The table or file that the step builds; of several built together the last."
    )
    success: bool = Field(description="Whether the step succeeded.")
    duration_ms: Annotated[float, Field(ge=0)] = Field(description="Milliseconds.")
    problem: str = Field(description="Class of the error; empty where there was none.")
    partitions: Count = Field(description="Partitions that were written.")
    rows: Count = Field(description="Rows that were written, of all tables of the step.")
    extracted: Count = Field(description="Candidate facts of the windows that were read.")
    allowed: Count = Field(description="Those that the write gate allowed.")
    held: Count = Field(description="Those that it held.")
    discarded: Count = Field(description="Those that it discarded.")
    deduplicated: Count = Field(description="Pairs of facts that were found to say the same.")
