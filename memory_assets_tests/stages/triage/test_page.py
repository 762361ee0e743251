"""What a person is asked: the most useful first, ten at a time, and a few of what rules refused."""

from pathlib import Path

import pytest

from memory_assets.stages.triage.page import MOST_ASKED, MOST_REFUSED, PERHAPS_ASKED, choose_asked
from memory_assets_tests.factories import row
from memory_assets_tests.stages.triage.world import World

RULES = [
    f"The {name} must be called by its number."
    for name in "gauge loader tide harbour ferry buoy crane lock river sluice depot quay mole pilot beacon dock".split()
]
STATES = [f"The tide feed {n} is green with the new tests." for n in range(5)]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def shown(world: World) -> list[str]:
    """The proposals in REVIEW.md, in order."""
    return [
        line.split("`")[1]
        for line in world.review_md.read_text().splitlines()
        if line.startswith("- [ ]")
    ]


def test_ten_are_asked_about_and_each_that_leaves_makes_room_for_the_next(world: World):
    ids = world.propose(*RULES)
    world.triage()
    assert shown(world) == ids[:MOST_ASKED]
    assert "| 10 of 16 pending proposals shown_" in world.review_md.read_text()
    world.tick(ids[0], "-")
    world.triage()
    assert shown(world) == ids[1 : MOST_ASKED + 1]


def test_the_time_of_a_proposal_begins_when_it_is_asked_about(world: World):
    ids = world.propose(*RULES)
    world.triage()
    world.later(days=8)
    states = world.triage()
    assert {id for id, (state, _) in states.items() if state == "expired"} == set(ids[:MOST_ASKED])
    assert shown(world) == ids[MOST_ASKED:]


def test_perhaps_rules_have_three_of_the_places():
    wishes = "Be quiet on errors./Switch the DNS zone./Use --json in every tool./Keep it.".split(
        "/"
    )
    decision = {"state": "pending", "expires_at": None, "entry": None}
    proposals = {
        text: {**row("proposals", text=text), "doubt": text if text in wishes else ""}
        for text in [*RULES, *wishes]
    }
    new, _ = choose_asked([{**decision, "proposal_id": text} for text in proposals], proposals)
    perhaps = [text for text in new if text in wishes]
    assert (len(new), len(perhaps), perhaps[0]) == (MOST_ASKED, PERHAPS_ASKED, wishes[2])


def test_a_more_useful_proposal_takes_the_place_of_one_whose_time_begins_again_later(world: World):
    ids = world.propose(*RULES[:MOST_ASKED], priority="medium")
    world.triage()
    world.later(days=5)
    (urgent,) = world.propose("Backups must run before each release.", priority="high")
    world.triage()
    assert shown(world) == [urgent, *ids[: MOST_ASKED - 1]]
    world.later(days=3)
    states = world.triage()
    assert {id for id, (state, _) in states.items() if state == "expired"} == set(
        ids[: MOST_ASKED - 1]
    )
    assert shown(world) == [urgent, ids[-1]]


def test_a_few_refusals_are_shown_and_a_tick_overrules_one_and_a_strike_confirms_one(world: World):
    ids = world.propose(*STATES, author="assistant", section="Patterns", category="operations")
    states = world.triage()
    assert {state for state, _ in states.values()} == {"rejected"}
    first, second, _ = sample = shown(world)
    assert len(sample) == MOST_REFUSED and set(sample) < set(ids)
    world.tick(first)
    world.tick(second, "-")
    states = world.triage()
    assert states[first] == ("promoted", "approved by a person")
    assert states[second] == ("rejected", "struck from REVIEW.md")
    assert not {first, second} & set(shown(world))
    assert len(shown(world)) == MOST_REFUSED
