"""How an entry stands follows use, confirmation and contradiction, and whose it is follows its words."""

import pytest

from memory_assets.stages.triage.entries import entry_rows, statuses_of
from memory_assets.stages.triage.promote import PROMOTED
from memory_assets.store.ledger import Event
from memory_assets_tests.factories import START, frame, row

LINE = "- (2026-08-03) Use uv, never pip."
PROMOTION = Event(
    "000000001-a",
    START,
    "rules",
    PROMOTED,
    "p-20260803-001",
    {"line": LINE, "observation_ids": ["o1", "o2"]},
)


def states(
    content: str = f"## Hard Rules\n{LINE}\n", *, events=(PROMOTION,), merged=(), **known
) -> list[str]:
    plain = {"state": "active", "observation_ids": ["o1"], "id": "o1"}
    memories = frame("memories", row("memories", **{**plain, **known}))
    return [one.state for one in statuses_of(content, events, memories, merged)]


@pytest.mark.parametrize(
    ("known", "state"),
    [
        ({}, "candidate"),
        ({"confirmed_count": 1}, "established"),
        ({"used_count": 1}, "established"),
        ({"confirmed_count": 3}, "established"),
        ({"confirmed_count": 2, "used_count": 1}, "proven"),
        ({"used_count": 3}, "proven"),
        ({"confirmed_count": 2, "used_count": 1, "contradicted_count": 1}, "established"),
        ({"confirmed_count": 1, "used_count": 1, "contradicted_count": 1}, "candidate"),
        ({"contradicted_count": 1}, "deprecated"),
        ({"used_count": 9, "state": "superseded"}, "deprecated"),
        ({"used_count": 9, "state": "forgotten"}, "deprecated"),
        ({"used_count": 9, "state": "stale"}, "proven"),
    ],
)
def test_the_state_of_an_entry_follows_what_its_memory_met(known: dict, state: str):
    assert states(**known) == [state]


def test_a_later_proposal_that_said_the_same_speaks_for_an_entry():
    assert states(merged=[{"entry": LINE}]) == ["established"]
    assert states(merged=[{"entry": "- (2026-08-03) Something else."}]) == ["candidate"]


def test_an_entry_that_nobody_knows_of_is_a_candidate():
    assert states(observation_ids=["another"]) == ["candidate"]


def test_a_reworded_or_redated_entry_is_a_persons():
    content = f"## Hard Rules\n{LINE}\n- (2026-08-03) Use uv, never pip!\n- (2026-08-04) Use uv, never pip.\n- undated\n"
    memories = frame(
        "memories",
        row("memories", id="o1", observation_ids=["o1"], session_ids=["s1", "s2"], project="shop"),
    )
    rows = entry_rows(statuses_of(content, [PROMOTION], memories))
    shown = rows.select(
        "line", "is_by_hand", "proposal_id", "memory_id", "session_count", "project"
    ).rows()
    assert shown == [
        (2, False, "p-20260803-001", "o1", 2, "shop"),
        (3, True, None, None, 0, None),
        (4, True, None, None, 0, None),
    ]
