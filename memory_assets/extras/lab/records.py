"""Rows of the evaluation against labelled sessions, and of the calibration against people."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from memory_assets.schema.records.base import Count, Record, Score

EvaluationMeasure = Literal[
    "recall", "recall_high", "recall_owner_rules", "precision", "noise", "f1", "allowed", "judged",
    "right", "noisy",
]  # fmt: skip


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
