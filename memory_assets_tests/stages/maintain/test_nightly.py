"""The rules of the nightly run: what counts as unread, what is boosted, what is counted. The same twice is the same once."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

from memory_assets.schema.frames import empty
from memory_assets.stages.embed.uses import boosts
from memory_assets.stages.maintain.nightly import (
    count_night,
    messages_without_window,
    missed_rows,
    plan_boost,
    render_line,
    unread_windows,
)
from memory_assets.store.ledger import BOOSTED, Event, Planned
from memory_assets_tests.factories import START, frame, row

DAY = START.date()


def window(id: str, **changes) -> dict:
    return row(
        "windows",
        window_id=id,
        session_id=f"session of {id}",
        **{"status": "observed", "message_count": 3} | changes,
    )


def event(planned: Planned) -> Event:
    return Event(planned.id, START, "nightly", planned.kind, planned.target, planned.payload)


def fact(id: str, **changes) -> dict:
    return row("observations", id=id, **{"day": DAY, "kind": "fact", "gate": "allow"} | changes)


def test_a_closed_window_without_messages_or_segments_is_unread():
    windows = frame(
        "windows",
        window("read"),
        window("unseen"),
        window("unobserved"),
        window("short, read", status="short"),
        window("short, unseen", status="short"),
        window("still open", status="open"),
        window("empty", message_count=0),
    )
    found = unread_windows(windows, ["read", "unobserved", "short, read"], ["read"])
    assert found.rows() == [
        (id, f"session of {id}") for id in ("unseen", "unobserved", "short, unseen")
    ]


def test_an_archived_message_in_no_window_belongs_to_the_local_day_of_its_capture():
    late = START.replace(hour=23)
    records = frame("records", *(row("records", line=n, message_id=id, status=status, resource_id=of) for n, (id, status, of) in enumerate([
        ("windowed", "message", "r1"), ("lost", "message", "r1"), (None, "known", "r1"), ("of tomorrow", "message", "r2")
    ])))  # fmt: skip
    resources = frame(
        "resources",
        row("resources", id="r1", created_at=START),
        row("resources", id="r2", created_at=late),
    )
    windows = frame("windows", window("w", message_ids=["windowed"]))
    lost = messages_without_window(records, windows, resources, DAY, ZoneInfo("Europe/Berlin"))
    assert lost.rows() == [("lost", "")]
    tomorrow = messages_without_window(
        records, windows, resources, DAY + timedelta(1), ZoneInfo("Europe/Berlin")
    )
    assert tomorrow.rows() == [("of tomorrow", "")]


def test_what_was_found_first_stays_when_it_was_read_since():
    windows = frame("windows", window("a"))
    first = missed_rows(DAY, {"session": unread_windows(windows, [], [])}, empty("missed"), START)
    later = START + timedelta(hours=1)
    assert missed_rows(DAY, {"session": unread_windows(windows, [], [])}, first, later).equals(
        first
    )
    assert missed_rows(
        DAY, {"session": unread_windows(windows, ["a"], ["a"])}, first, later
    ).equals(first)


def test_the_days_allowed_facts_are_boosted_once():
    said = frame(
        "observations",
        fact("today"),
        fact("held", gate="hold"),
        fact("a narrative", kind="narrative"),
        fact("yesterday", day=DAY - timedelta(1)),
    )
    (planned,) = plan_boost(DAY, said, [])
    assert (planned.kind, planned.target, planned.payload) == (
        BOOSTED,
        str(DAY),
        {"memory_ids": ["today"], "day": str(DAY)},
    )
    assert plan_boost(DAY, said, [event(planned)]) == []
    (added,) = plan_boost(
        DAY, frame("observations", fact("today"), fact("read late")), [event(planned)]
    )
    assert added.payload["memory_ids"] == ["read late"]


def test_a_day_on_which_it_was_said_raises_a_memory_once_and_three_days_are_the_most():
    def said(day: date, *ids: str) -> Event:
        return event(
            Planned(f"{day} {ids}", BOOSTED, str(day), {"memory_ids": list(ids), "day": str(day)})
        )

    days = [said(DAY, "a", "b"), said(DAY, "c")]
    assert boosts(days, {"a": "m", "b": "m", "c": "m", "d": "other"}) == {"m": 0.1}
    days += [said(DAY + timedelta(n), "a") for n in range(1, 6)]
    assert boosts(days, {"a": "m"}) == {"m": 0.3}


def test_a_night_counts_states_merges_conflicts_and_categories():
    memories = frame(
        "memories",
        row("memories", id="a", state="active", category="operations", merged_count=2, observation_ids=["a", "b"]),
        row("memories", id="c", state="active", category="preferences", merged_count=1, observation_ids=["c"], conflicts_with=["d"]),
        row("memories", id="d", state="held", category="operations", merged_count=1, observation_ids=["d"], conflicts_with=["c"]),
        row("memories", id="e", state="stale", category="projects", merged_count=1, observation_ids=["e"]),
        row("memories", id="f", state="forgotten", merged_count=1, observation_ids=["f"]),
    )  # fmt: skip
    said = frame("observations", fact("b"), fact("c"))
    boosted = [event(plan_boost(DAY, frame("observations", fact("b")), [])[0])]
    found = count_night(DAY, memories, said, boosted, missed=2, extracted=1)
    assert found == {
        "day": DAY, "total": 4, "active": 2, "held": 1, "superseded": 0, "stale": 1, "archived": 0, "cold": 0, "conflicts": 1,
        "merged": 1, "promoted": 1, "missed": 2, "extracted": 1, "categories": ["operations", "preferences"], "category_counts": [1, 1],
    }  # fmt: skip
    assert render_line(found) == (
        "Nightly run for 2026-08-03: 4 memories (2 active, 1 held, 1 stale); 1 merged, 1 promoted, 1 of 2 missed extracted, "
        "1 conflicts; active: operations 1, preferences 1"
    )
