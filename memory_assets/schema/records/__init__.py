"""The row types of all tables, in pipeline order; the file to read first.

`tables.TABLES` maps each table to its record. The schemas in `frames.py`, the Dagster UI and `docs/tables.md` are generated
from the field descriptions. Times are UTC; a `day` is the local day, in the owner's zone, of the latest event of a window.
"""

# ruff: noqa: F401, I001

from memory_assets.schema.records.base import (
    MEMORY_MD, Author, Category, Count, Priority, Record, Scope, Score, Sentiment, Strength, Trigger,
)  # fmt: skip
from memory_assets.schema.records.capture import (
    Harness, Message, MessageKind, RecordStatus, Resource, Session, TranscriptRecord, Window,
)  # fmt: skip
from memory_assets.schema.records.deliver import DeadLetter, SentEvent
from memory_assets.schema.records.distill import (
    AnswerState, HarnessMemory, Lesson, Observation, ObserverAnswer, Segment, TriggerRow, Verdict, VerdictRow,
)  # fmt: skip
from memory_assets.schema.records.embed import (
    Embedding, Entity, EntityKind, Memory, MemoryState, Mention, MergeEdge, Passage, RelationRow, Role,
)  # fmt: skip
from memory_assets.schema.records.quality import CalibrationRow, EvaluationMeasure, EvaluationRow, QualityMeasure, QualityRow
from memory_assets.schema.records.recall import CategorySummary, RecallEvent, RecallOutcome
from memory_assets.schema.records.reflect import (
    DroppedFact, Proposal, Reflection, SessionReflection, SpanName, TimelineSentence,
)  # fmt: skip
from memory_assets.schema.records.triage import Amendment, Decision, EntryRow, Friction, FrictionKind, ModelReview, TrustRow
