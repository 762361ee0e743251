"""Decisions are a fold: every proposal in exactly one state, and the first person's word counts."""

from datetime import UTC, timedelta

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage.decisions import (
    APPROVED,
    ASKED,
    DECIDED,
    EDITED,
    REJECTED,
    fold_decisions,
    is_expired,
    overrulable,
)
from memory_assets.stages.triage.review_time import ReviewTime
from memory_assets.store.ledger import Event
from memory_assets_tests.factories import START, frame, row

ID = "p-20260803-001"
PROPOSALS = frame(
    "proposals", row("proposals", proposal_id=ID, text="Use uv.", section="Hard Rules")
)
TIME = ReviewTime(7, START.date(), UTC)
PERSON, RULES, CLOCK = "mira", "rules", "clock"


def event(kind: str, hour: int = 0, actor: str = PERSON, target: str = ID, **payload) -> Event:
    return Event(f"{hour:09d}", START + timedelta(hours=hour), actor, kind, target, payload)


def ruled(state: str, hour: int, actor: str = RULES) -> Event:
    return event(
        DECIDED,
        hour,
        actor,
        state=state,
        tier=1 if actor == RULES else 3,
        reason=f"{actor} said so",
    )


def fold(*events: Event, proposals: pl.DataFrame = PROPOSALS) -> dict:
    in_order = sorted(events, key=lambda e: (e.at, e.id))
    (found,) = fold_decisions(proposals, in_order, time=TIME).to_dicts()
    return found


def test_what_nobody_decided_waits_for_seven_days_from_when_it_was_asked():
    assert fold(event(NUMBERED, 1, "reflector"))["expires_at"] is None
    found = fold(event(NUMBERED, 1, "reflector"), event(ASKED, 2, "rules"))
    assert (found["state"], found["tier"], found["decided_at"]) == ("pending", 3, None)
    assert found["expires_at"] == START + timedelta(days=7, hours=2)
    assert not is_expired(found, found["expires_at"] - timedelta(seconds=1))
    assert is_expired(found, found["expires_at"])


def test_only_days_with_sessions_of_its_project_count():
    day = START.date()
    worked_on = {"": [day, *(day + timedelta(days=n) for n in (1, 5, 9, 30))], "other": [day]}
    asked_at = START + timedelta(hours=2)
    for days, today, expires_in in ((3, 9, 9), (4, 40, 30), (7, 30, 33), (7, 40, 43), (7, 0, 7)):
        time = ReviewTime(days, day + timedelta(days=today), UTC, worked_on if today else {})
        assert time.expires_at(asked_at, "") == asked_at + timedelta(days=expires_in)


def test_the_first_person_wins():
    assert fold(event(REJECTED, 1, reason="no"), event(APPROVED, 2))["state"] == "rejected"
    assert fold(event(APPROVED, 1), event(REJECTED, 2))["state"] == "promoted"


def test_a_person_overrules_rules_and_clock_whoever_was_first():
    assert fold(ruled("rejected", 1), event(APPROVED, 2))["state"] == "promoted"
    assert fold(ruled("expired", 1, CLOCK), event(APPROVED, 2))["actor"] == PERSON
    assert fold(ruled("promoted", 1), event(REJECTED, 2))["state"] == "rejected"


def test_a_persons_mark_may_overrule_what_left_no_line():
    proposals = frame(
        "proposals", *(row("proposals", proposal_id=f"p-20260803-00{n}") for n in range(1, 5))
    )
    events = [
        ruled("expired", 1, CLOCK),
        ruled("promoted", 1),
        event(REJECTED, 1),
        ruled("merged", 1),
    ]
    told = [
        Event(one.id, one.at, one.actor, one.kind, f"p-20260803-00{n}", one.payload)
        for n, one in enumerate(events, 1)
    ]
    assert overrulable(fold_decisions(proposals, told, time=TIME)) == [
        "p-20260803-001",
        "p-20260803-004",
    ]


EVENTS = st.lists(
    st.one_of(
        st.builds(event, st.sampled_from([APPROVED, REJECTED, NUMBERED]), st.integers(0, 99)),
        st.builds(ruled, st.sampled_from(["promoted", "merged", "rejected"]), st.integers(0, 99)),
        st.builds(lambda hour: ruled("expired", hour, CLOCK), st.integers(0, 99)),
        st.builds(lambda hour: event(EDITED, hour, text=f"edit {hour}"), st.integers(0, 99)),
    ),
    max_size=8,
)


@given(events=EVENTS)
def test_every_proposal_is_in_exactly_one_state_and_a_persons_first_word_is_never_lost(events):
    found = fold(*events)
    assert found["state"] in ("promoted", "merged", "rejected", "expired", "pending")
    assert (found["decided_at"] is None) == (found["state"] == "pending")
    said = sorted((e for e in events if e.kind in (APPROVED, REJECTED)), key=lambda e: (e.at, e.id))
    if said:
        assert found["actor"] == PERSON
        first = {e.kind for e in said if e.at == said[0].at}
        assert found["state"] in {"promoted" if kind == APPROVED else "rejected" for kind in first}
