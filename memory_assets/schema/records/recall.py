"""Rows of category summaries and recalls."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from memory_assets.schema.records.base import Count, Record, Score
from memory_assets.schema.vocabulary import Category, Scope

RecallOutcome = Literal["summaries", "memories", "word for word", "not in memory", "unrecorded"]


class CategorySummary(Record):
    """Cited summary of one category for one project or person, made from active facts only."""

    summary_id: str = Field(description="UUIDv5 of category, scope, project and person.")
    category: Category = Field(description="Category.")
    scope: Scope = Field(description="Where its facts apply.")
    project: str = Field(description="Project; empty if the facts apply to a person or everyone.")
    person: str = Field(description="Person; empty if the facts apply to a project or everyone.")
    text: str = Field(description="Markdown bullets, each ending with the id of its source.")
    memory_ids: list[str] = Field(description="The memories of the bullets, the strongest first.")
    fact_count: Count = Field(description="Active facts it was selected from.")
    tokens: Count = Field(description="Estimated tokens of the text.")
    confidence: Score = Field(description="Mean confidence of its facts.")
    first_event_at: datetime = Field(description="When the oldest of the facts was first said.")
    event_at: datetime = Field(description="When one of the facts was last said.")
    summariser: str = Field(description="Who wrote it: `rules/<version>`.")


class RecallEvent(Record):
    """One answered question: the tier that answered and its cost; without the question's text."""

    recall_id: str = Field(description="Id of the line in the ledger.")
    at: datetime = Field(description="When it was asked.")
    day: date = Field(description="Local day of the question.")
    actor: str = Field(description="Who asked.")
    query: str = Field(description="Keyed hash of the question.")
    profile: str | None = Field(description="Profile it was asked with.")
    outcome: RecallOutcome = Field(
        description="The tier that answered, `not in memory` if none did; `unrecorded` in old rows."
    )
    result_count: Count = Field(description="Memories returned.")
    is_budget: bool = Field(description="Asked in budget mode.")
    is_rewritten: bool = Field(description="A model rewrote the question.")
    is_reranked: bool = Field(description="A model reranked the results.")
    degraded: str | None = Field(description="The retriever that was unavailable.")
    embeddings: Count = Field(description="Texts embedded.")
    index_queries: Count = Field(description="Queries of indexes.")
    model_calls: Count = Field(description="Calls of a model.")
    model_tokens: Count = Field(description="Tokens sent to it and received.")
    cost_usd: float = Field(description="Known price of these calls in US dollars.")
    seconds: float = Field(description="Time to the answer.")
