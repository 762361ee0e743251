"""Folds proposals and the ledger into decisions: each proposal has exactly one state, the first
person's decision wins.

People's decisions also earn trust: an approval earns a category one point, also with another
wording; a rejection costs three. Proposals of a category with at least as many points as the
setting demands need no approval.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain, takewhile
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Row
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage.review_time import ReviewTime
from memory_assets.stages.triage.wording import line_of
from memory_assets.store.ledger import Event

APPROVED = "proposal.approved"
REJECTED = "proposal.rejected"
EDITED = "proposal.edited"
DECIDED = "proposal.decided"
ASKED = "proposal.asked"
POSTPONED = "proposal.postponed"
REOPENED = "proposal.reopened"
KINDS = (NUMBERED, APPROVED, REJECTED, EDITED, DECIDED, ASKED, POSTPONED, REOPENED)
RULES = "rules"
CLOCK = "clock"
PROMOTED = "promoted"
EXPIRED = "expired"
STATE_BY = {APPROVED: PROMOTED, REJECTED: "rejected"}
BY_PERSON = {APPROVED: "approved by a person", REJECTED: "rejected by a person"}

REJECTION_COSTS = 3

EXPIRES_SOON = timedelta(days=2)
"""Before it expires, a pending proposal is named as expiring: five days after it was asked, of the
usual seven.
"""


def fold_decisions(
    proposals: pl.DataFrame,
    events: Sequence[Event],
    *,
    time: ReviewTime,
    waiting: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Returns the table `decisions`; `waiting` holds why the rules left a proposal to a person."""
    by_target = defaultdict(list)
    for event in events:
        by_target[event.target].append(event)
    rows = [
        _decision(row, by_target[row["proposal_id"]], time, waiting or {})
        for row in proposals.iter_rows(named=True)
    ]
    return schemas.frame_of("decisions", rows).sort("proposal_id")


def _decision(
    proposal: Row, events: list[Event], time: ReviewTime, waiting: Mapping[str, str]
) -> dict[str, Any]:
    id = proposal["proposal_id"]
    is_exact = proposal.get("entry") is not None or not id.startswith("p-")
    row = {
        "proposal_id": id,
        "state": "pending",
        "tier": 3,
        "reason": waiting.get(id, "waits for a person"),
        "actor": RULES,
        "section": proposal["section"],
        "text": proposal["text"] if is_exact else line_of(proposal["text"]),
        "entry": proposal.get("entry"),
        "decided_at": None,
        "expires_at": None,
    }
    winner = winner_of(events)
    for event in takewhile(lambda event: event is not winner, events):
        if event.kind == ASKED and row["expires_at"] is None:
            row["expires_at"] = time.expires_at(event.at, proposal["project"])
        elif event.kind == POSTPONED:
            row["expires_at"] = None
        elif event.kind == EDITED:
            row["text"] = event.payload["text"]
    return row if winner is None else {**row, **_decided(winner, row)}


def winner_of(events: Sequence[Event]) -> Event | None:
    """Returns the event that decides: the first of a person; else the first of the rules; else
    expiry.

    A person's decision counts even after expiry, or after the rules of another machine that shares
    the store promoted. An expired proposal is undecided, so a later confirmation can still promote
    it. What was decided before a person took it back does not count.
    """
    events = since_reopened(events)
    by_person = (event for event in events if event.kind in (APPROVED, REJECTED))
    by_rules = (event for event in events if event.kind == DECIDED and not _is_expiry(event))
    return next(chain(by_person, by_rules, filter(_is_expiry, events)), None)


def since_reopened(events: Sequence[Event]) -> list[Event]:
    """Returns the events of a proposal after the last time that a person took a decision back."""
    reopened = [n for n, event in enumerate(events) if event.kind == REOPENED]
    return list(events[max(reopened, default=-1) + 1 :])


def person_decided(events: Sequence[Event]) -> frozenset[str]:
    """Returns the proposals that a person approved or rejected."""
    decided = (event for event in events if event.kind in (APPROVED, REJECTED))
    return frozenset(event.target for event in decided)


def merged_into(events: Sequence[Event]) -> dict[str, str]:
    """Returns the proposal that each merged one repeats."""
    decided = (
        event for event in events if event.kind == DECIDED and event.payload["state"] == "merged"
    )
    return {event.target: event.payload["into"] for event in decided if event.payload.get("into")}


def _is_expiry(event: Event) -> bool:
    return event.kind == DECIDED and event.payload["state"] == EXPIRED


def _decided(event: Event, row: Row) -> dict[str, Any]:
    common = {"actor": event.actor, "decided_at": event.at, "expires_at": None}
    if event.kind == APPROVED:
        common |= {name: event.payload.get(name) or row[name] for name in ("text", "section")}
    if event.kind in STATE_BY:
        return {**common, "state": STATE_BY[event.kind], "reason": reason_of(event)}
    decided = ("state", "tier", "reason", "entry", "text")
    return {**common, **{name: event.payload.get(name, row[name]) for name in decided}}


def reason_of(event: Event) -> str:
    """Returns why it was decided: what a person wrote, else that a person decided."""
    return event.payload.get("reason") or BY_PERSON[event.kind]


def overrulable(decisions: pl.DataFrame) -> list[str]:
    """Returns the proposals that rules, a model or expiry decided without writing a line: a person
    can overrule that.
    """
    is_unwritten = pl.col("state").is_in(["merged", "rejected", EXPIRED])
    by_nobody = (pl.col("tier") < 3) | (pl.col("actor") == CLOCK)
    return decisions.filter(is_unwritten & by_nobody)["proposal_id"].to_list()


def is_expired(decision: Row, now: datetime) -> bool:
    """Returns whether a pending proposal has expired."""
    expires_at = decision["expires_at"]
    is_over = expires_at is not None and expires_at <= now
    return decision["state"] == "pending" and is_over


def read_trust(proposals: Sequence[Row], events: Sequence[Event], needed: int) -> pl.DataFrame:
    """Returns the table `trust`; only a person's first decision on a proposal of a new line
    counts.
    """
    added = {row["proposal_id"]: row["category"] for row in proposals if row["entry"] is None}
    counts: dict[str, dict[str, Any]] = {}
    for event in events:
        if event.kind not in (APPROVED, REJECTED) or event.target not in added:
            continue
        category = added.pop(event.target)
        row = counts.setdefault(category, {"approved": 0, "rejected": 0, "points": 0})
        row["decided_at"] = event.at
        if event.kind == APPROVED:
            row["approved"] += 1
            row["points"] += 1
        else:
            row["rejected"] += 1
            row["points"] = max(row["points"] - REJECTION_COSTS, 0)
    for category, row in counts.items():
        row["category"] = category
        row["acceptance"] = row["approved"] / (row["approved"] + row["rejected"])
        row["needed"] = needed
        row["is_trusted"] = 0 < needed <= row["points"]
    return schemas.frame_of("trust", counts.values()).sort("category")


def trusted_in(trust: pl.DataFrame) -> dict[str, str]:
    """Returns the trusted categories, each with the reason."""
    reasons = {}
    for row in trust.filter("is_trusted").iter_rows(named=True):
        counts = f"{row['approved']} of {row['approved'] + row['rejected']}"
        reasons[row["category"]] = f"earned trust: {counts} approved in {row['category']}"
    return reasons
