"""Rows of category summaries and recalls."""

from datetime import date, datetime
from typing import Literal

from memory_assets.schema.records.base import Count, Record, Score, column
from memory_assets.schema.vocabulary import Category, Scope

RecallOutcome = Literal["summaries", "memories", "word for word", "not in memory", "unrecorded"]


class CategorySummary(Record):
    """Cited summary of one category for one project or person, made from active facts only."""

    summary_id: str = column("UUIDv5 of category, scope, project and person.")
    category: Category = column("Category.")
    scope: Scope = column("Where its facts apply.")
    project: str = column("Project; empty if the facts apply to a person or everyone.")
    person: str = column("Person; empty if the facts apply to a project or everyone.")
    text: str = column("Markdown bullets, each ending with the id of its source.")
    memory_ids: list[str] = column("The memories of the bullets, the strongest first.")
    fact_count: Count = column("Active facts it was selected from.")
    tokens: Count = column("Estimated tokens of the text.")
    confidence: Score = column("Mean confidence of its facts.")
    first_event_at: datetime = column("When the oldest of the facts was first said.")
    event_at: datetime = column("When one of the facts was last said.")
    summariser: str = column("Who wrote it: `rules/<version>`.")


class RecallEvent(Record):
    """One answered question: the tier that answered and its cost; without the question's text."""

    recall_id: str = column("Id of the line in the ledger.")
    at: datetime = column("When it was asked.")
    day: date = column("Local day of the question.")
    actor: str = column("Who asked.")
    query: str = column("Keyed hash of the question.")
    profile: str | None = column("Profile it was asked with.")
    outcome: RecallOutcome = column(
        "The tier that answered, `not in memory` if none did; `unrecorded` in old rows."
    )
    result_count: Count = column("Memories returned.")
    is_budget: bool = column("Asked in budget mode.")
    is_rewritten: bool = column("A model rewrote the question.")
    is_reranked: bool = column("A model reranked the results.")
    degraded: str | None = column("The only retriever that worked; null where both did.")
    embeddings: Count = column("Texts embedded.")
    index_queries: Count = column("Queries of indexes.")
    model_calls: Count = column("Calls of a model.")
    model_tokens: Count = column("Tokens sent to it and received.")
    cost_usd: float = column("Known price of these calls in US dollars.")
    seconds: float = column("Time to the answer.")
