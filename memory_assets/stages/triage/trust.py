"""Earned trust: how a person decided the proposals of each category, and which categories need no approval any more.

Folded from a person's decisions, in their order. An approval earns one point, also with another wording; a rejection costs
three. A category is trusted from as many points as the setting demands.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.stages.triage.decisions import APPROVED, REJECTED
from memory_assets.store.ledger import Event

REJECTION_COSTS = 3


def read_trust(proposals: Sequence[Mapping[str, Any]], events: Sequence[Event], needed: int) -> pl.DataFrame:
    """Returns the table `trust`; only a person's first decision on a proposal of a new line counts."""
    added = {row["proposal_id"]: row["category"] for row in proposals if row["entry"] is None}
    counts: dict[str, dict[str, Any]] = {}
    for event in events:
        if event.kind in (APPROVED, REJECTED) and (category := added.pop(event.target, None)):
            row = counts.setdefault(category, {"approved": 0, "rejected": 0, "points": 0})
            is_approved = event.kind == APPROVED
            row["approved" if is_approved else "rejected"] += 1
            row["points"] = row["points"] + 1 if is_approved else max(row["points"] - REJECTION_COSTS, 0)
            row["decided_at"] = event.at
    rows = [
        {
            **row,
            "category": category,
            "acceptance": row["approved"] / (row["approved"] + row["rejected"]),
            "needed": needed,
            "is_trusted": 0 < needed <= row["points"],
        }
        for category, row in counts.items()
    ]
    return schemas.frame_of("trust", rows).sort("category")


def trusted_in(trust: pl.DataFrame) -> dict[str, str]:
    """Returns the trusted categories, each with the reason."""
    return {
        row["category"]: f"earned trust: {row['approved']} of {row['approved'] + row['rejected']} approved in {row['category']}"
        for row in trust.filter(pl.col("is_trusted")).iter_rows(named=True)
    }
