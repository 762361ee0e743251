"""The nightly run for the day that has ended: finds what was not read, boosts the facts of the day,
and counts memories and observations.

All of it depends only on the store and the day, so that a second run for the same day has the same
results. It boosts nothing twice, because a boost is an event, written once for each observation.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema.frames import frame_of, hash_of
from memory_assets.schema.records import READ_STATUSES
from memory_assets.store.ledger import BOOSTED, Event, Planned

_STATES = ("active", "held", "superseded", "stale", "archived", "cold")


def unread_windows(
    windows: pl.DataFrame, read: Collection[str], observed: Collection[str]
) -> pl.DataFrame:
    """Returns (id, session_id) of the windows that no run has read.

    `read` are the windows that have rows in `messages`, `observed` those that have segments.
    Windows of short sessions may have no segments.
    """
    is_read = pl.col("window_id").is_in(list(read))
    has_segments = pl.col("window_id").is_in(list(observed))
    is_whole = pl.col("status").is_in(READ_STATUSES)
    due = windows.filter(is_whole, pl.col("message_count") > 0)
    lacks_segments = (pl.col("status") == "observed") & ~has_segments
    missed = due.filter(~is_read | lacks_segments)
    return missed.select(id="window_id", session_id="session_id")


def messages_without_window(
    records: pl.DataFrame, windows: pl.DataFrame, resources: pl.DataFrame, day: date, zone: ZoneInfo
) -> pl.DataFrame:
    """Returns (id, session_id) of the messages archived on that local day that are in no window.

    The session is always empty.
    """
    captured_on = pl.col("created_at").dt.convert_time_zone(zone.key).dt.date()
    ranges = resources.filter(captured_on == day).select(resource_id="id")
    windowed = windows.select(message_id=pl.col("message_ids").explode())
    messages = records.filter(status="message")
    archived = messages.join(ranges, on="resource_id", how="semi")
    unassigned = archived.join(windowed, on="message_id", how="anti")
    ids = unassigned.select(id="message_id").drop_nulls().unique()
    return ids.with_columns(session_id=pl.lit(""))


def missed_rows(
    day: date,
    missed_by_kind: Mapping[str, pl.DataFrame],
    earlier_rows: pl.DataFrame,
    found_at: datetime,
) -> pl.DataFrame:
    """Returns the table `missed` of the day: the rows of earlier runs, and new rows of this run.

    `missed_by_kind` has frames (id, session_id) by kind.
    """
    found_rows = (
        {"day": day, "kind": kind, "id": id, "session_id": session, "found_at": found_at}
        for kind, rows in missed_by_kind.items()
        for id, session in rows.select("id", "session_id").iter_rows()
    )
    all_rows = pl.concat([earlier_rows, frame_of("missed", found_rows)])
    return all_rows.unique(["day", "kind", "id"], keep="first", maintain_order=True)


def plan_boost(day: date, observations: pl.DataFrame, events: Sequence[Event]) -> list[Planned]:
    """Returns the event that boosts the memories of the day's allowed facts.

    Empty if all of them were boosted before.
    """
    # A memory has the id of its oldest observation.
    facts = observations.filter(pl.col("day") == day, kind="fact", gate="allow")["id"]
    ids = sorted(set(facts) - _boosted(events))
    if not ids:
        return []
    payload = {"memory_ids": ids, "day": day.isoformat()}
    id = f"rule-{hash_of(BOOSTED, day, *ids)}"
    return [Planned(id, BOOSTED, day.isoformat(), payload)]


def _boosted(events: Sequence[Event]) -> set[str]:
    boosts = (event.payload["memory_ids"] for event in events if event.kind == BOOSTED)
    return set(chain.from_iterable(boosts))


def count_night(
    day: date,
    memories: pl.DataFrame,
    observations: pl.DataFrame,
    events: Sequence[Event],
    *,
    missed: int,
    extracted: int,
) -> dict[str, Any]:
    """Returns the row of `nightly_stats`, counted at the end of the day."""
    states = dict(memories.group_by("state").len().iter_rows())
    pairs = memories.select("id", "conflicts_with").explode("conflicts_with")
    mix = memories.filter(state="active").group_by("category").len().sort("category")
    merged = memories.filter(pl.col("merged_count") > 1)["observation_ids"].explode()
    return {
        "day": day,
        "total": sum(count for state, count in states.items() if state != "forgotten"),
        **{state: states.get(state, 0) for state in _STATES},
        "conflicts": pairs.filter(pl.col("id") < pl.col("conflicts_with")).height,
        "merged": int(observations["id"].is_in(merged.implode()).sum()),
        "promoted": int(observations["id"].is_in(list(_boosted(events))).sum()),
        "missed": missed,
        "extracted": extracted,
        "categories": mix["category"].to_list(),
        "category_counts": mix["len"].to_list(),
    }


def render_line(row: Mapping[str, Any]) -> str:
    """Returns the row of `nightly_stats` as one line of a log."""
    states = ", ".join(f"{row[state]:,} {state}" for state in _STATES if row[state])
    counts = zip(row["categories"], row["category_counts"], strict=True)
    mix = ", ".join(f"{name} {count:,}" for name, count in counts)
    return (
        f"Nightly run for {row['day']}: {row['total']:,} memories ({states or 'none'}); "
        f"{row['merged']:,} merged, {row['promoted']:,} promoted, {row['extracted']:,} of "
        f"{row['missed']:,} missed extracted, {row['conflicts']:,} conflicts; active: "
        f"{mix or 'none'}"
    )
