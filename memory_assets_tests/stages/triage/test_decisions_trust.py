"""Trust is earned by category: counted from a person's decisions, lost faster than won, and off unless it is asked for."""

from dataclasses import replace
from pathlib import Path

import pytest

from memory_assets.stages.triage.decisions import read_trust
from memory_assets.store.ledger import Event
from memory_assets_tests.factories import START
from memory_assets_tests.stages.triage.world import World

APPROVED, REJECTED = "proposal.approved", "proposal.rejected"


def trust(*kinds: str, needed: int = 3, **changes):
    proposals = [
        {"proposal_id": f"p-{n}", "category": "operations", "entry": None, **changes}
        for n in range(len(kinds))
    ]
    events = [Event(str(n), START, "mira", kind, f"p-{n}", {}) for n, kind in enumerate(kinds)]
    return read_trust(proposals, events, needed)


@pytest.mark.parametrize(
    ("kinds", "points", "is_trusted"),
    [
        ((APPROVED,) * 2, 2, False),
        ((APPROVED,) * 3, 3, True),
        ((APPROVED, APPROVED, APPROVED, REJECTED), 0, False),
        ((APPROVED,) * 5 + (REJECTED,), 2, False),
        ((APPROVED,) * 6 + (REJECTED,), 3, True),
        ((REJECTED,) * 4 + (APPROVED,) * 3, 3, True),
    ],
)
def test_an_approval_earns_a_point_and_a_rejection_takes_three(
    kinds: tuple[str, ...], points: int, is_trusted: bool
):
    (row,) = trust(*kinds).to_dicts()
    assert (row["points"], row["is_trusted"]) == (points, is_trusted)
    assert row["acceptance"] == kinds.count(APPROVED) / len(kinds)


def test_of_a_proposal_only_the_first_decision_counts_and_changes_of_lines_count_for_nothing():
    twice = [
        Event(str(n), START, "mira", kind, "p-0", {}) for n, kind in enumerate((REJECTED, APPROVED))
    ]
    (row,) = read_trust(
        [{"proposal_id": "p-0", "category": "operations", "entry": None}], twice, 1
    ).to_dicts()
    assert (row["approved"], row["rejected"]) == (0, 1)
    assert trust(APPROVED, entry="- (2026-08-03) A line.").is_empty()


def test_a_trusted_category_promotes_what_is_high_and_leaves_the_rest(tmp_path: Path):
    world = World(tmp_path)
    known = {"section": "Patterns", "category": "operations", "author": "assistant"}
    things = ("Buoys", "Lights", "Tides", "Gauges", "Piers", "Locks")
    texts = tuple(f"{thing} of the harbour belong to the port." for thing in things)
    earned = world.propose(*texts[:3], priority="medium", **known)
    world.triage()
    for proposal in earned:
        world.tick(proposal)
    world.triage()
    unsure = {"sessions": 2, "confidence": 0.7, "priority": "high"}
    high = world.propose(texts[3], **unsure, **known)[0]
    once = world.propose(texts[4], priority="high", **known)[0]
    guarded = world.propose(texts[5], **unsure, **{**known, "section": "Hard Rules"})[0]
    many = world.propose(*(f"Dock {n} belongs to pier {n}." for n in range(9)), **unsure, **known)
    steps = replace(world.steps, rules=replace(world.rules, trust_after=3))
    states = steps.decide_all()
    found = {row["proposal_id"]: (row["state"], row["reason"]) for row in states.to_dicts()}
    support = "an assistant found it in 2 sessions, last on 2026-08-03"
    assert found[high] == (
        "promoted",
        f"earned trust: 3 of 3 approved in operations; {support}",
    )
    assert found[once][0] == "pending"
    assert [found[id][0] for id in many] == ["promoted"] * 4 + ["pending"] * 5
    assert "earned trust promotes at most 5 lines a day" in found[many[-1]][1]
    assert steps.decide_all().filter(state="promoted").height == 8
    assert found[guarded][0] == "pending"
    assert steps.earn_trust().select("category", "approved", "is_trusted").rows() == [
        ("operations", 3, True)
    ]
