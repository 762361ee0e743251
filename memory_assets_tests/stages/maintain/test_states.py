"""The states of memories: stale needs age and exposure, every state is reversible, and nothing is stored but events."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.maintain.states import fold_states, next_change
from memory_assets.store.ledger import ARCHIVED, COLD, RESTORED, Event
from memory_assets.store.settings import TTL_DAYS
from memory_assets_tests.factories import START, frame, row

UTC_ZONE = ZoneInfo("UTC")


def memory(
    id: str = "m",
    *,
    event_at: datetime = START,
    category: str = "projects",
    state: str = "active",
    **more: object,
) -> dict:
    return row(
        "memories",
        id=id,
        event_at=event_at,
        category=category,
        state=state,
        observation_ids=[id],
        **more,
    )


def queried(*days: int) -> pl.DataFrame:
    """The recall log of a store that was queried on these days after the start."""
    return pl.DataFrame(
        {"day": [START.date() + timedelta(days=day) for day in days]}, schema={"day": pl.Date}
    )


def moved(kind: str, day: float, *ids: str) -> Event:
    return Event(
        f"e{day}",
        START + timedelta(days=day),
        "weekly",
        kind,
        "weekly",
        {"memory_ids": list(ids or ("m",))},
    )


def states(
    *memories: dict,
    recalls: pl.DataFrame,
    day: float,
    events: Iterable[Event] = (),
    ttls: dict[str, int] = TTL_DAYS,
) -> dict[str, str]:
    now = START + timedelta(days=day)
    found = fold_states(frame("memories", *memories), recalls, events, now, ttls, UTC_ZONE)
    return dict(found.select("memory_id", "state").iter_rows())


def state(
    day: float,
    recalls: pl.DataFrame,
    events: Iterable[Event] = (),
    ttls: dict[str, int] = TTL_DAYS,
    **of: object,
) -> str:
    return states(memory(**of), recalls=recalls, day=day, events=events, ttls=ttls)["m"]  # pyright: ignore[reportArgumentType]


DAILY = queried(*range(500))


@pytest.mark.parametrize(
    ("day", "expected"), [(1, "active"), (90, "active"), (91, "stale"), (400, "stale")]
)
def test_a_projects_fact_is_stale_after_91_exposed_unrecalled_days(day: int, expected: str):
    assert state(day, queried(*range(day + 1))) == expected


@pytest.mark.parametrize(
    "recalls", [queried(), queried(0), queried(0, 200, 399)], ids=["never", "once", "three times"]
)
def test_in_a_store_that_is_hardly_queried_nothing_becomes_stale(recalls: pl.DataFrame):
    assert state(400, recalls) == "active"


def test_queries_on_working_days_expose_weekends_and_a_holiday_does_not_count():
    working = [day for day in range(200) if (START + timedelta(days=day)).weekday() < 5]
    assert (state(90, queried(*working)), state(91, queried(*working))) == ("active", "stale")
    holiday = [day for day in working if not 20 <= day < 62]
    assert (state(128, queried(*holiday)), state(129, queried(*holiday))) == ("active", "stale")


@pytest.mark.parametrize(
    ("category", "last_day"),
    [("preferences", 180), ("people-relationships", 180), ("operations", 90), ("system-architecture", 90),
     ("memory-system", 90), ("health", 365), ("hobbies", 60)],
)  # fmt: skip
def test_each_category_has_its_ttl(category: str, last_day: int):
    assert [state(day, DAILY, category=category) for day in (last_day, last_day + 1)] == [
        "active",
        "stale",
    ]


def test_the_chain_and_its_way_back():
    events: list[Event] = []
    seen = [state(95, DAILY, events)]
    for kind, day in ((ARCHIVED, 100), (COLD, 200), (RESTORED, 210)):
        events.append(moved(kind, day))
        seen.append(state(day + 1, DAILY, events))
    assert seen == ["stale", "archived", "cold", "active"]
    assert [state(day, DAILY, events) for day in (300, 301)] == [
        "active",
        "stale",
    ]  # 90 days after it was restored


@pytest.mark.parametrize("kind", [ARCHIVED, COLD])
def test_what_is_recalled_or_said_after_it_was_archived_is_active(kind: str):
    events, later = [moved(kind, 100)], START + timedelta(days=101)
    assert state(102, DAILY, events) == {ARCHIVED: "archived", COLD: "cold"}[kind]
    assert state(102, DAILY, events, last_used_at=later) == "active"
    assert state(102, DAILY, events, event_at=later) == "active"


@given(st.sets(st.integers(0, 300)), st.integers(0, 300))
def test_the_announced_change_is_never_later_than_the_first_one(days: set[int], day: int):
    """So a table of memories that waits for it is never wrong by a day."""
    memories, recalls, now = (
        frame("memories", memory()),
        queried(*days, *range(day + 1, 400)),
        START + timedelta(days=day),
    )
    past = recalls.filter(pl.col("day") <= now.date())
    found = fold_states(memories, past, [], now, TTL_DAYS, UTC_ZONE)
    announced = next_change(memories, found, past, now, TTL_DAYS, UTC_ZONE)
    first = next((d for d in range(day, 400) if state(d, recalls) == "stale"), None)
    if found["state"][0] == "active":
        assert first is not None
        assert announced is not None
        assert now.date() < announced.date()
        assert announced.date() <= START.date() + timedelta(days=first)
