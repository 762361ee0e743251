"""Reads from the ledger how questions were answered: by which tier and at what cost; of a question
only its keyed hash.
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.recall.cited_answer import CitedAnswer
from memory_assets.stages.recall.results import MESSAGE, Answer, Cost
from memory_assets.stages.recall.tiers import MEMORIES, MESSAGES, NAMES, SUMMARIES
from memory_assets.store.ledger import Event

UNKNOWN, UNRECORDED = "not in memory", "unrecorded"
OUTCOMES = (*NAMES.values(), UNKNOWN, UNRECORDED)
DAYS_SHOWN = 14
_NO_COST = asdict(Cost())
_COSTS = "embeddings index_queries model_calls model_tokens seconds".split()


def hash_of_question(question: str, key: bytes) -> str:
    """Returns what the ledger keeps of a question: a keyed hash, the same for other cases and outer
    spaces, 24 digits.
    """
    words = question.strip().lower().encode()
    return hmac.new(key, words, hashlib.sha256).hexdigest()[:24]


def payload_of(answer: Answer, *, is_budget: bool = False) -> dict[str, Any]:
    """Returns what the ledger keeps of an answer beside the memories that it returned."""
    return {
        "profile": answer.profile,
        "tier": answer.tier,
        "is_known": answer.is_known,
        "results": len(answer.results),
        "uses": list(answer.uses),
        "is_budget": is_budget,
        "degraded": answer.degraded,
        "cost": _cost(answer.cost),
    }


def payload_of_cited(answer: CitedAnswer) -> dict[str, Any]:
    """Returns the same of an answer over all tiers; the tier is the lowest that suffices for its
    citations.
    """
    kinds = {one.kind for one in answer.citations} - {MEMORY_MD}
    tier = MEMORIES if kinds - {MESSAGE} else MESSAGES
    return {
        "profile": "reflect",
        "tier": tier if kinds else SUMMARIES,
        "is_known": answer.is_known,
        "results": len(answer.citations),
        "uses": [] if answer.is_extractive else ["model"],
        "cost": _cost(answer.cost),
    }


def _cost(cost: Cost) -> dict[str, Any]:
    return asdict(cost) | {"usd": round(cost.usd, 6)}


def log_recalls(events: Iterable[Event], zone: ZoneInfo) -> pl.DataFrame:
    """Returns one row for each answered question, in the order of the ledger; lines of older
    versions have fewer values.
    """
    return schemas.frame_of("recalls", [_row(event, zone) for event in events])


def shares(recalls: pl.DataFrame) -> dict[str, int]:
    """Returns how many questions each tier answered, and how many had no answer."""
    counts = Counter(recalls["outcome"])
    return {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}


def by_day(recalls: pl.DataFrame) -> list[tuple[date, int, dict[str, float]]]:
    """Returns, for each of the last days with questions, their number and the share of each
    outcome.
    """
    days = []
    for (day,), group in recalls.sort("day").group_by("day", maintain_order=True):
        assert isinstance(day, date)
        counts = shares(group).items()
        days.append((day, group.height, {name: n / group.height for name, n in counts}))
    return days[-DAYS_SHOWN:]


def _row(event: Event, zone: ZoneInfo) -> dict[str, Any]:
    payload = event.payload
    uses, cost = payload.get("uses", ()), _NO_COST | payload.get("cost", {})
    is_unknown = "tier" in payload and not payload.get("is_known", True)
    tier = NAMES.get(payload.get("tier", 0), UNRECORDED)
    return {
        "recall_id": event.id,
        "at": event.at,
        "day": event.at.astimezone(zone).date(),
        "actor": event.actor,
        "query": event.target,
        "profile": payload.get("profile"),
        "outcome": UNKNOWN if is_unknown else tier,
        "result_count": payload.get("results", len(payload.get("memory_ids", ()))),
        "is_budget": payload.get("is_budget", False),
        "is_rewritten": "rewrite" in uses,
        "is_reranked": "rerank" in uses,
        "degraded": payload.get("degraded"),
        **{name: cost[name] for name in _COSTS},
        "cost_usd": cost["usd"],
    }
