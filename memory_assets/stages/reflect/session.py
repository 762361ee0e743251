"""Condenses what a long session established into a short block, for when the session goes on after a compaction.

Takes windows, observations and memories; gives the rows of `session_reflections`. A session is long once so much of it was
observed that a compaction removes what it may still need. The block has only the session's own facts: allowed ones, and those
held only because a session may not leave so many. It has all of them where there is room, else the most important ones; one
line for each memory, the oldest first, and none for what was replaced or resolved since. The observations do not change, so
that the next compaction condenses them again and nothing is condensed twice.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.tables import version_of
from memory_assets.stages.distill.write_gate import NO_SHARE
from memory_assets.stages.reflect.background import Background
from memory_assets.stages.reflect.bullets import Bullet, bullet_of
from memory_assets.stages.reflect.subjects import merge
from memory_assets.text.tokens import CHARS_A_TOKEN, count_tokens

SESSION_VERSION = version_of("session_reflections")
_COPIED = ("session_id", "day", "project", "person", "window_count", "observed_tokens")

REFLECTED_SHARE = 0.325
"""Of the context, in tokens of observed messages. Observations are a fiftieth of these: in tokens of observations none of 56
real sessions would reach it; in tokens of messages 37 do."""

MOST_TOKENS = 500
"""Of a block. With a briefing of 2,000 tokens it makes the 2,500 that Codex takes at the start of a session."""

RESUMED_WITHIN = timedelta(days=30)
"""Harnesses delete transcripts after that time; such a session cannot be resumed."""


def long_sessions(windows: pl.DataFrame, *, context_tokens: int, now: datetime) -> pl.DataFrame:
    """Returns the long sessions that may still go on, with the columns of their last window."""
    observed = windows.filter((pl.col("status") == "observed") & pl.col("day").is_not_null()).sort("ended_at", "window_id")
    return (
        observed.group_by("session_id")
        .agg(
            pl.col("day", "project", "person", "ended_at").last(),
            days=pl.col("day").unique(),
            window_count=pl.len().cast(pl.Int64),
            observed_tokens=pl.col("chars").sum() // CHARS_A_TOKEN,
        )
        .filter(pl.col("observed_tokens") >= REFLECTED_SHARE * context_tokens, pl.col("ended_at") >= now - RESUMED_WITHIN)
        .sort("session_id")
    )


def reflect_on_sessions(sessions: pl.DataFrame, observations: pl.DataFrame, background: Background) -> pl.DataFrame:
    """Returns the table `session_reflections`; a session without allowed facts has no row."""
    is_own = pl.col("gate_reason") == NO_SHARE
    facts = observations.filter(pl.col("kind") == "fact").sort("event_at", "id")
    facts = facts.with_columns(gate=pl.when(is_own).then(pl.lit("allow")).otherwise("gate"))
    own = {session: group.to_dicts() for (session,), group in facts.group_by("session_id", maintain_order=True)}
    return schemas.frame_of("session_reflections", _rows(sessions, own, background))


def _rows(sessions: pl.DataFrame, own: dict[Any, list[dict[str, Any]]], background: Background) -> Iterator[dict[str, Any]]:
    for session in sessions.iter_rows(named=True):
        facts = own.get(session["session_id"], [])
        excluded = background.excluded(facts)
        bullets = merge((bullet_of(row) for row in facts if row["id"] not in excluded), background)
        if kept := _fitting(bullets, background.ranked(bullets, facts)):
            yield {
                **{name: session[name] for name in _COPIED},
                "fact_count": len(bullets),
                "told_count": len(kept),
                "text": (text := "\n".join(one.line for one in kept)),
                "observation_ids": [id for one in kept for id in one.ids],
                "tokens": count_tokens(text),
                "reflector": SESSION_VERSION,
            }


def _fitting(bullets: Sequence[Bullet], ranked: Sequence[Bullet]) -> list[Bullet]:
    """Returns the most important bullets that fit, in their order in time."""
    left, kept = MOST_TOKENS * CHARS_A_TOKEN, set()
    for bullet in ranked:
        if bullet.weight <= left:
            kept.add(bullet)
            left -= bullet.weight
    return [bullet for bullet in bullets if bullet in kept]
