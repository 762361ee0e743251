"""Folds proposals and the ledger into decisions: every proposal in exactly one state, the first decision wins."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from memory_assets import tables as schemas
from memory_assets.ledger import Event
from memory_assets.reflect.proposals import NUMBERED

APPROVED, REJECTED, EDITED, DECIDED = "proposal.approved", "proposal.rejected", "proposal.edited", "proposal.decided"
KINDS = (NUMBERED, APPROVED, REJECTED, EDITED, DECIDED)
RULES = "rules"


def fold_decisions(
    proposals: pl.DataFrame, events: Sequence[Event], *, review_days: int, waiting: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """Returns the table `decisions`; `waiting` says why the rules left a proposal to a person."""
    told = defaultdict(list)
    for event in events:
        told[event.target].append(event)
    rows = [_decision(row, told[row["proposal_id"]], review_days, waiting or {}) for row in proposals.iter_rows(named=True)]
    return schemas.frame_of("decisions", rows).sort("proposal_id")


def _decision(proposal: Mapping[str, Any], events: list[Event], review_days: int, waiting: Mapping[str, str]) -> dict[str, Any]:
    row = {
        "proposal_id": proposal["proposal_id"],
        "state": "pending",
        "tier": 3,
        "reason": waiting.get(proposal["proposal_id"], "waits for a person"),
        "actor": RULES,
        "section": proposal["section"],
        "text": proposal["text"],
        "decided_at": None,
        "expires_at": None,
    }
    for event in events:
        if event.kind == NUMBERED and row["expires_at"] is None:
            row["expires_at"] = event.at + timedelta(days=review_days)
        elif event.kind == EDITED:
            row["text"] = event.payload["text"]
        elif event.kind in (APPROVED, REJECTED, DECIDED):
            return {**row, **_decided(event, row)}
    return row


def _decided(event: Event, row: Mapping[str, Any]) -> dict[str, Any]:
    common = {"actor": event.actor, "decided_at": event.at, "expires_at": None}
    if event.kind == APPROVED:
        text, section = event.payload.get("text") or row["text"], event.payload.get("section") or row["section"]
        return {**common, "state": "promoted", "reason": "approved by a person", "text": text, "section": section}
    if event.kind == REJECTED:
        return {**common, "state": "rejected", "reason": event.payload.get("reason") or "rejected by a person"}
    return {**common, "state": event.payload["state"], "tier": event.payload["tier"], "reason": event.payload["reason"]}


def is_expired(decision: Mapping[str, Any], now: datetime) -> bool:
    """Returns whether a pending proposal has waited for too long."""
    return decision["state"] == "pending" and decision["expires_at"] is not None and decision["expires_at"] <= now
