"""Rows of measurements: quality and telemetry."""

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from memory_assets.schema.records.base import Count, Record, Score, column

QualityMeasure = Literal[
    "verdict", "reason", "parse_path", "priority", "category", "junk", "repeated", "ungrounded",
    "invented_time",
    "dangling", "conversational", "long", "owner_unheard", "broken", "unnamed_change",
    "copied_output", "asked_only",
]  # fmt: skip


class QualityRow(Record):
    """Quality of one day's facts: how many rows have one value of one measure."""

    key: ClassVar = ("day", "measure", "value")
    day: date = column("Local day.")
    measure: QualityMeasure = column(
        "`verdict`, `reason`, `parse_path`: of all candidates; `priority`, `category`: of allowed "
        "facts; `junk`: candidates rejected as noise; all others: faults of facts, defined in "
        "`memory docs operating`."
    )
    value: str = column(
        "The value counted; for faults, the verdict (allow or hold) of the facts that have it."
    )
    count: Count = column("Rows with the value.")
    total: Count = column("All rows of the measure.")
    share: Score | None = column("count / total; empty if total is 0.")


class TelemetryRow(Record):
    """What one step of the pipeline did: how long it took, what it wrote, and how it failed."""

    key: ClassVar = ("event_id",)
    event_id: str = column("Hash of the event.")
    at: datetime = column("When the step ended.")
    level: Literal["info", "error"] = column("error: the step failed.")
    component: str = column("Stage of the pipeline.")
    action: str = column(
        "The table or file that the step builds; of several built together the last."
    )
    success: bool = column("Whether the step succeeded.")
    duration_ms: Annotated[float, Field(ge=0)] = column("Milliseconds.")
    problem: str = column("Class of the error; empty where there was none.")
    partitions: Count = column("Partitions that were written.")
    rows: Count = column("Rows that were written, of all tables of the step.")
    extracted: Count = column("Candidate facts of the windows that were read.")
    allowed: Count = column("Those that the write gate allowed.")
    held: Count = column("Those that it held.")
    discarded: Count = column("Those that it discarded.")
    deduplicated: Count = column("Pairs of facts that were found to say the same.")
