"""Rows of the evaluation against labelled sessions, and of the calibration against people."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from memory_assets.schema.records.base import Count, Record, Score, column

EvaluationMeasure = Literal[
    "recall", "recall_high", "recall_owner_rules", "precision", "noise", "f1", "allowed", "judged",
    "right", "noisy",
]  # fmt: skip


class EvaluationRow(Record):
    """One figure of the latest evaluation against labelled sessions, for one session or all
    together.
    """

    key: ClassVar = ("session_id", "measure")
    session_id: str = column("The labelled session, or `all`.")
    measure: EvaluationMeasure = column(
        "`allowed`, `judged`, `right` and `noisy` are numbers of facts, the others shares from 0 "
        "to 1; `recall` is weighted by priority. Defined in `memory docs operating`."
    )
    value: Annotated[float, Field(ge=0)] = column("The figure.")
    low: Score | None = column("Lower end of the 90 % interval over sessions, if there is one.")
    high: Score | None = column("Upper end of the interval.")
    observer: str = column("Who extracted the facts.")
    distill_version: str = column("Version of the extraction rules.")
    labels_hash: str = column("Hash of the labels, shortened.")


class CalibrationRow(Record):
    """One verdict on the rows of one category, with how many of them people approved, rejected or
    never saw.
    """

    key: ClassVar = ("judge", "verdict", "reason", "category", "version")
    judge: Literal["gate", "rules", "model", "confidence"] = column(
        "`gate`: the write gate, on facts; `rules` of triage or `model` reviews, on proposals; "
        "`confidence`: the stored confidence of proposals."
    )
    verdict: str = column(
        "allow, hold or discard; promoted, merged, rejected or left to a person; promote, reject "
        "or review; a confidence bin such as `0.8 to 0.9`."
    )
    reason: str = column("The rule that decided, without values that differ between rows.")
    category: str = column("Category; empty for discarded facts, whose category is not kept.")
    version: str = column(
        "gate, confidence: observer and prompt (discarded facts: the observer); rules: version of "
        "triage, `unrecorded` for old rows; model: name and prompt."
    )
    count: Count = column("Rows with the verdict.")
    approved: Count = column("Approved by a person without changes.")
    edited: Count = column("Approved or kept by a person in other words.")
    kept: Count = column("Written without asking and not removed within the review period.")
    rejected: Count = column("Rejected by a person, or removed from MEMORY.md.")
    ignored: Count = column("Shown to people and expired undecided.")
    waiting: Count = column("Still waiting for a decision.")
    unseen: Count = column("Never shown to anybody.")
    precision: Score | None = column(
        "Share of the decided rows where people agreed with the verdict; of rows left to a person, "
        "the share approved. Empty if no person decided."
    )
    low: Score | None = column("Lower end of its 90 % interval.")
    high: Score | None = column("Upper end of the interval.")
    brier: Score | None = column(
        "For confidence: Brier score against 1 (approved) and 0 (rejected)."
    )
