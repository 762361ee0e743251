"""Earned trust: what a person made of the proposals of each category, and which categories need their tick no more.

A fold of a person's decisions, in their order. An approval earns one point, also one with another wording; a rejection takes
three back, so that it is earned again and not outvoted. A category is trusted from as many points as the setting asks for.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.stages.triage.decisions import APPROVED, REJECTED
from memory_assets.store.ledger import Event

REJECTION_COSTS = 3


def read_trust(proposals: Sequence[Mapping[str, Any]], events: Sequence[Event], needed: int) -> pl.DataFrame:
    """Returns the table `trust`; of each proposal only the first decision of a person counts, and only where it adds a line."""
    added = {row["proposal_id"]: row["category"] for row in proposals if row["entry"] is None}
    counts: dict[str, dict[str, Any]] = {}
    decided: set[str] = set()
    for event in events:
        if event.kind not in (APPROVED, REJECTED) or event.target in decided or event.target not in added:
            continue
        decided.add(event.target)
        row = counts.setdefault(added[event.target], {"approved": 0, "rejected": 0, "points": 0, "decided_at": event.at})
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
    """Returns the trusted categories, each with what earned it that."""
    return {
        row["category"]: f"earned trust: {row['approved']} of {row['approved'] + row['rejected']} approved in {row['category']}"
        for row in trust.filter(pl.col("is_trusted")).iter_rows(named=True)
    }
