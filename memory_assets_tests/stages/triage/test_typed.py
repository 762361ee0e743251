"""What the owner's messages show of a proposal: whether it was meant to last, and whether somebody else wrote it."""

from pathlib import Path

import pytest

from memory_assets_tests.stages.triage.world import World

RULE = "Always run `make format` before you commit."


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize(
    "message",
    [
        f"From now on: {RULE}",
        f"I told you already. {RULE}",
        "no! i told you again: always run `make format` before you commit.",
        "In this repo, Always run `make format` before you commit.",
    ],
)
def test_a_standing_order_is_promoted_at_once(world: World, message: str):
    (rule,) = world.propose(RULE, messages=[message])
    assert world.triage()[rule] == (
        "promoted",
        "you said it in one session, on 2026-08-03, as a standing order",
    )


@pytest.mark.parametrize(
    "message",
    [
        RULE,
        f"I told you already that the build is slow, and it was slow for me all of this week. {RULE}",
        f"ok\n\nOn Mon, 3 Aug 2026 at 10:00, Ada wrote:\nFrom now on: {RULE}",
    ],
)
def test_what_was_said_once_waits_also_beside_other_talk_and_in_pasted_text(
    world: World, message: str
):
    (rule,) = world.propose(RULE, messages=[message])
    assert world.triage()[rule][0] == "pending"
