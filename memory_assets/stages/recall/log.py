"""Reads from the ledger how questions were answered: from which tier and at what cost; of a question only its keyed hash."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.recall.reflect import SPOKEN, Reflected
from memory_assets.stages.recall.results import Answer, Cost
from memory_assets.stages.recall.tiers import MEMORIES, NAMES, RAW, SUMMARIES
from memory_assets.store.ledger import Event

UNKNOWN, UNRECORDED = "not in memory", "unrecorded"
OUTCOMES = (*NAMES.values(), UNKNOWN, UNRECORDED)
DAYS_SHOWN = 14


def payload_of(answer: Answer, *, is_budget: bool = False) -> dict[str, Any]:
    """Returns what the ledger keeps of an answer beside the memories that it handed out."""
    return _payload(
        answer.cost,
        answer.profile,
        answer.tier,
        answer.is_known,
        len(answer.results),
        answer.uses,
        is_budget=is_budget,
        degraded=answer.degraded,
    )


def payload_of_reflected(said: Reflected) -> dict[str, Any]:
    """Returns the same of an answer over all tiers; the highest tier that it cites counts."""
    kinds = {one.kind for one in said.citations}
    tier = SUMMARIES if kinds <= {MEMORY_MD} else MEMORIES if kinds - {SPOKEN, MEMORY_MD} else RAW
    uses = () if said.is_extractive else ("model",)
    return _payload(said.cost, "reflect", tier, said.is_known, len(said.citations), uses)


def _payload(
    cost: Cost, profile: str, tier: int, is_known: bool, results: int, uses: Sequence[str], **more: Any
) -> dict[str, Any]:
    return {
        "profile": profile,
        "tier": tier,
        "is_known": is_known,
        "results": results,
        "uses": list(uses),
        **more,
        "cost": {
            "embeddings": cost.embeddings,
            "index_queries": cost.index_queries,
            "model_calls": cost.model_calls,
            "model_tokens": cost.model_tokens,
            "usd": round(cost.usd, 6),
            "seconds": cost.seconds,
        },
    }


def log_recalls(events: Iterable[Event], zone: ZoneInfo) -> pl.DataFrame:
    """Returns one row for each answered question, in the order of the ledger; lines of older versions say less."""
    return schemas.frame_of("recalls", [_row(event, zone) for event in events])


def shares(recalls: pl.DataFrame) -> dict[str, int]:
    """Returns how many questions each tier answered, and how many none did."""
    counts = Counter(recalls["outcome"])
    return {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}


def by_day(recalls: pl.DataFrame) -> list[tuple[date, int, dict[str, float]]]:
    """Returns, for each of the last days on which anybody asked, how many asked and the share of each outcome."""
    found = []
    for (day,), group in recalls.sort("day").group_by("day", maintain_order=True):
        assert isinstance(day, date)
        found.append((day, group.height, {name: count / group.height for name, count in shares(group).items()}))
    return found[-DAYS_SHOWN:]


def _row(event: Event, zone: ZoneInfo) -> dict[str, Any]:
    said, cost = event.payload, event.payload.get("cost", {})
    uses = said.get("uses", ())
    return {
        "recall_id": event.id,
        "at": event.at,
        "day": event.at.astimezone(zone).date(),
        "actor": event.actor,
        "query": event.target,
        "profile": said.get("profile"),
        "outcome": _outcome(said),
        "result_count": said.get("results", len(said.get("memory_ids", ()))),
        "is_budget": said.get("is_budget", False),
        "has_graph": "graph" in uses,
        "is_rewritten": "rewrite" in uses,
        "degraded": said.get("degraded"),
        "embeddings": cost.get("embeddings", 0),
        "index_queries": cost.get("index_queries", 0),
        "model_calls": cost.get("model_calls", 0),
        "model_tokens": cost.get("model_tokens", 0),
        "cost_usd": cost.get("usd", 0.0),
        "seconds": cost.get("seconds", 0.0),
    }


def _outcome(said: Mapping[str, Any]) -> str:
    if "tier" not in said:
        return UNRECORDED
    return NAMES.get(said["tier"], UNRECORDED) if said.get("is_known", True) else UNKNOWN
