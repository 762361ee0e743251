"""Folds proposals and the ledger into decisions: each proposal has exactly one state, the first person's decision wins."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage.lasting import line_of
from memory_assets.store.ledger import Event

APPROVED, REJECTED, EDITED, DECIDED = "proposal.approved", "proposal.rejected", "proposal.edited", "proposal.decided"
KINDS = (NUMBERED, APPROVED, REJECTED, EDITED, DECIDED)
RULES, CLOCK = "rules", "clock"
PROMOTED, EXPIRED = "promoted", "expired"


def fold_decisions(
    proposals: pl.DataFrame, events: Sequence[Event], *, review_days: int, waiting: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """Returns the table `decisions`; `waiting` holds why the rules left a proposal to a person."""
    by_target = defaultdict(list)
    for event in events:
        by_target[event.target].append(event)
    rows = [
        _decision(row, by_target[row["proposal_id"]], review_days, waiting or {}) for row in proposals.iter_rows(named=True)
    ]
    return schemas.frame_of("decisions", rows).sort("proposal_id")


def _decision(proposal: Mapping[str, Any], events: list[Event], review_days: int, waiting: Mapping[str, str]) -> dict[str, Any]:
    row = {
        "proposal_id": proposal["proposal_id"],
        "state": "pending",
        "tier": 3,
        "reason": waiting.get(proposal["proposal_id"], "waits for a person"),
        "actor": RULES,
        "section": proposal["section"],
        "text": line_of(proposal["text"]),
        "entry": proposal.get("entry"),
        "decided_at": None,
        "expires_at": None,
    }
    winner = winner_of(events)
    for event in takewhile(lambda event: event is not winner, events):
        if event.kind == NUMBERED and row["expires_at"] is None:
            row["expires_at"] = event.at + timedelta(days=review_days)
        elif event.kind == EDITED:
            row["text"] = event.payload["text"]
    return row if winner is None else {**row, **_decided(winner, row)}


def winner_of(events: Sequence[Event]) -> Event | None:
    """Returns the event that decides: the first of a person, unless the rules promoted before; else the rules'; else expiry.

    A person's decision counts even just after expiry. An expired proposal is undecided, so a later confirmation can still
    promote it.
    """
    decided = [event for event in events if event.kind in (APPROVED, REJECTED, DECIDED) and not _is_expiry(event)]
    promoted = next((n for n, e in enumerate(decided) if e.kind == DECIDED and e.payload["state"] == PROMOTED), len(decided))
    said = [event for event in decided[:promoted] if event.kind != DECIDED]
    return next(iter([*said, *decided, *(event for event in events if _is_expiry(event))]), None)


def _is_expiry(event: Event) -> bool:
    return event.kind == DECIDED and event.payload["state"] == EXPIRED


def _decided(event: Event, row: Mapping[str, Any]) -> dict[str, Any]:
    common = {"actor": event.actor, "decided_at": event.at, "expires_at": None}
    if event.kind == APPROVED:
        text, section = event.payload.get("text") or row["text"], event.payload.get("section") or row["section"]
        return {**common, "state": "promoted", "reason": "approved by a person", "text": text, "section": section}
    if event.kind == REJECTED:
        return {**common, "state": "rejected", "reason": event.payload.get("reason") or "rejected by a person"}
    return {**common, **{name: event.payload.get(name, row[name]) for name in ("state", "tier", "reason", "entry", "text")}}


def overrulable(decisions: pl.DataFrame) -> list[str]:
    """Returns the proposals that rules, a model or expiry decided without writing a line: a person can overrule that."""
    unwritten = pl.col("state").is_in(["merged", "rejected", EXPIRED]) & ((pl.col("tier") < 3) | (pl.col("actor") == CLOCK))
    return decisions.filter(unwritten)["proposal_id"].to_list()


def is_expired(decision: Mapping[str, Any], now: datetime) -> bool:
    """Returns whether a pending proposal has expired."""
    return decision["state"] == "pending" and decision["expires_at"] is not None and decision["expires_at"] <= now
