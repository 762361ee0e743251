"""What comes up: the day before and on the day, never when it was past at capture; with the memories to recall, in the briefing."""

from datetime import date, timedelta

from memory_assets.stages.brief.briefing import render_briefing
from memory_assets.stages.brief.due import Trigger, find_due
from memory_assets_tests.factories import START, frame, row

FRIDAY = date(2026, 8, 7)
MEMORIES = frame(
    "memories",
    row(
        "memories",
        id="m1",
        state="active",
        text="Keys are rotated with make rotate.",
        observation_ids=["o1", "o2"],
    ),
    row("memories", id="m2", state="forgotten", text="A secret plan.", observation_ids=["o3"]),
    row("memories", id="m3", state="held", text="Perhaps.", observation_ids=["o4"]),
)


def trigger(id: str = "trg_1", **changes) -> dict:
    plain = {
        "trigger_on": FRIDAY, "state": "due", "quote": "Rotate the keys on Friday.", "expression": "on Friday", "project": "shop",
        "said_at": START, "memory_ids": ["o2", "o3", "o4", "gone"], "message_id": f"msg-{id}",
    }  # fmt: skip
    return row("triggers", trigger_id=id, **plain | changes)


def due(*rows: dict, today: date = FRIDAY, **options) -> list[Trigger]:
    return list(find_due(frame("triggers", *rows), MEMORIES, today=today, **options))


def test_it_comes_up_the_day_before_and_on_the_day():
    up = {
        away: [one.state for one in due(trigger(), today=FRIDAY - timedelta(days=away))]
        for away in (2, 1, 0, -1)
    }
    assert up == {2: [], 1: ["due"], 0: ["due"], -1: []}


def test_what_was_past_at_capture_never_comes_up():
    assert due(trigger(state="past")) == due(trigger(state="past"), is_all=True) == []


def test_a_message_that_carries_what_is_forgotten_comes_up_no_more():
    assert due(trigger(), hidden=["msg-trg_1"]) == []


def briefing(*triggers: Trigger, **changes) -> str:
    options = {"pending": 0, "owner": "Mira", "as_of": None, "project": "shop"} | changes
    return render_briefing("## Hard Rules\n- Use uv.\n", frame("memories"), due=triggers, **options)


def test_the_briefing_tells_it_first_with_what_to_recall():
    assert briefing(*due(trigger())).splitlines()[2:6] == [
        "## Coming up",
        "- ⏰ Fri 2026-08-07: “Rotate the keys on Friday.” (said 2026-08-03)",
        "  - Keys are rotated with make rotate.",
        "",
    ]
