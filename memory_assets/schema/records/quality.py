"""Rows of measurements: quality and telemetry."""

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
