"""One triage after another: what a person says is heard, what rules may decide is decided, nothing happens twice."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memory_assets.stages.triage import run
from memory_assets.stages.triage.comparison import StatementComparison
from memory_assets_tests.stages.triage.world import PROJECT_MD, World

UV, MAKE = "Always use `uv`, never `pip`.", "Always run `make check` before you commit."
DATES = "Write dates the British way."


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_proposal_waits_in_review_md_until_it_is_ticked(world: World):
    (dates,) = world.propose(DATES)
    assert world.triage() == {dates: ("pending", "you said it in one session, on 2026-08-03")}
    item = f"- [ ] `{dates}` **{DATES}** — _Hard Rules; you said it in one session, on 2026-08-03_"
    assert f"## Proposed for: tidewatch\n{item}" in world.review_md.read_text()
    assert world.entries() == []
    world.tick(dates)
    assert world.triage() == {dates: ("promoted", "approved by a person")}
    assert world.entries() == [f"- (2026-08-03) {DATES}"]
    assert dates not in world.review_md.read_text()


def test_a_second_session_promotes_what_waited(world: World):
    (uv,) = world.propose(UV)
    assert world.triage()[uv] == ("pending", "you said it in one session, on 2026-08-03")
    world.confirm(uv)
    assert world.triage()[uv][0] == "promoted"
    assert world.entries() == [f"- (2026-08-03) {UV}"]


def test_a_second_triage_changes_nothing(world: World):
    world.propose(UV, sessions=2)
    world.propose(DATES)
    world.triage()
    before = (
        world.memory_md.read_bytes(),
        world.review_md.read_bytes(),
        world.workspace.head(),
        len(world.ledger.events()),
    )
    world.later(minutes=30)
    world.triage()
    assert before == (
        world.memory_md.read_bytes(),
        world.review_md.read_bytes(),
        world.workspace.head(),
        len(world.ledger.events()),
    )


def test_what_nobody_decides_expires_after_seven_days_and_leaves_the_file(world: World):
    (dates,) = world.propose(DATES)
    world.triage()
    world.later(days=6, hours=23)
    assert world.triage()[dates][0] == "pending"
    world.later(hours=1)
    assert world.triage()[dates] == (
        "expired",
        "no decision within 7 days on which its project had sessions",
    )
    assert dates not in world.review_md.read_text()


def test_a_tick_that_was_made_in_time_counts_though_the_clock_ran_out(world: World):
    (dates,) = world.propose(DATES)
    world.triage()
    world.later(days=8)
    world.decide()
    world.tick(dates)
    assert world.triage()[dates] == ("promoted", "approved by a person")


def test_a_struck_line_is_rejected_and_does_not_come_back_in_the_same_words(world: World):
    (dates,) = world.propose(DATES)
    world.triage()
    world.tick(dates, "-")
    assert world.triage()[dates] == ("rejected", "struck from REVIEW.md")
    (again,) = world.propose("Please write dates the British way.")
    assert world.triage()[again] == (
        "rejected",
        f"says the same as {dates}, which a person rejected",
    )


def test_the_same_rule_of_two_projects_waits_in_each_of_them(world: World):
    first, second = *world.propose(DATES), *world.propose(DATES, project="lockkeeper")
    states = world.triage()
    assert (states[first][0], states[second][0]) == ("pending", "pending")
    world.tick(first, "-")
    assert world.triage()[second][0] == "pending"


def test_what_an_entry_says_in_other_words_is_not_proposed_again(world: World):
    by_hand = "- (2026-08-01) Always run the linter before you push."
    world.memory_md.write_text(f"## Hard Rules\n\n{by_hand}\n")
    (again,) = world.propose("The linter must run before each push to the remote.", sessions=2)
    near = StatementComparison(
        lambda texts: np.array([[0.96, 0.28] if "Always" in text else [1.0, 0.0] for text in texts])
    )
    replace(world.steps, comparison=near).decide_all()
    (decided,) = world.ledger.events(["proposal.decided"])
    assert (decided.target, decided.payload["state"], decided.payload["entry"]) == (
        again,
        "merged",
        by_hand,
    )


def test_the_same_rule_in_other_words_is_a_second_occasion(world: World):
    first, second = world.propose(MAKE, "Please always run `make check` before you commit!")
    states = world.triage()
    assert states[second] == ("merged", f"{first}, which waits, says the same")
    assert states[first] == ("promoted", "you said it in 2 sessions, last on 2026-08-03")
    (event,) = world.ledger.events(["entry.promoted"])
    assert event.payload["session_ids"] == ["s1-0", "s2-0"]


def test_an_edit_is_heard_once_even_if_the_run_is_killed_right_after(world: World):
    world.propose(DATES)
    world.triage()
    world.review_md.write_text(world.review_md.read_text().replace("British way.", "Scottish way."))
    waiting = world.workspace.at_head("REVIEW.md")
    world.hear()
    world.workspace.commit_content("as if it had never been committed", {"REVIEW.md": waiting})
    world.hear()
    assert [event.payload["text"] for event in world.ledger.events(["proposal.edited"])] == [
        "Write dates the Scottish way."
    ]


def test_a_review_that_vanished_is_written_again(world: World):
    (dates,) = world.propose(DATES)
    world.triage()
    world.review_md.unlink()
    assert world.triage()[dates][0] == "pending"
    assert dates in world.review_md.read_text()


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_box_ticked_while_the_file_is_being_written_is_honoured(
    world: World, monkeypatch: pytest.MonkeyPatch, moment: str
):
    """The tick lands right before our file is swapped in, or between the swap and the commit."""
    (dates,) = world.propose(DATES)
    world.triage()
    (make,) = world.propose(MAKE)
    swap = run.replace_if_same

    def tick_and_swap(path: Path, expected: bytes | None, content: bytes) -> bool:
        if moment == "before":
            world.tick(dates)
        done = swap(path, expected, content)
        if moment == "after":
            world.tick(dates)
        return done

    monkeypatch.setattr(run, "replace_if_same", tick_and_swap)
    world.hear()
    world.decide()
    assert world.ask() is (moment == "after")
    monkeypatch.undo()
    states = world.triage()
    assert states[dates] == ("promoted", "approved by a person")
    assert states[make][0] == "pending"


def test_a_box_ticked_while_the_file_is_being_read_is_honoured_next_time(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    dates, make = world.propose(DATES, MAKE)
    world.triage()
    world.tick(dates)
    read, ticked = run.human.read_review, []

    def read_and_tick(*arguments):
        reading = read(*arguments)
        if not ticked:
            ticked.append(make)
            world.tick(make)
        return reading

    monkeypatch.setattr(run.human, "read_review", read_and_tick)
    world.hear()
    assert {id: state for id, (state, _) in world.decide().items()} == {
        dates: "promoted",
        make: "pending",
    }
    assert {id: state for id, (state, _) in world.triage().items()} == {
        dates: "promoted",
        make: "promoted",
    }


def test_a_file_that_is_too_long_is_named_in_review_md_and_the_warning_is_no_note(world: World):
    world.propose(DATES)
    world.memory_md.write_text("# MEMORY\n\n" + "- (2026-08-03) Quay.\n" * 201)
    world.triage()
    warning = f"_Too long: {PROJECT_MD} holds 201 entries"
    assert world.review_md.read_text().count(warning) == 1
    world.memory_md.write_text("# MEMORY\n")
    world.triage()
    assert warning not in world.review_md.read_text()


def test_a_name_in_angle_brackets_stays_in_the_line_and_is_no_markup(world: World):
    (line,) = world.propose("Always run memory explain <id> before you commit.", sessions=2)
    world.triage()
    assert world.entries() == ["- (2026-08-03) Always run memory explain `<id>` before you commit."]
    world.propose("Always run memory explain <id> before you commit!", sessions=2)
    assert len({*world.triage()} - {line}) == len(world.entries()) == 1
    assert list(world.standing().values()) != ["deprecated"]
