"""A session's end, quoted: the last request that says what it is about, the state that was stated, and what it leaves open."""

import pytest

from memory_assets.stages.distill.handoff import (
    NOT_DONE,
    NOT_PUSHED,
    STOPPED,
    Handoff,
    drop_finished_work,
    find_handoff,
)
from memory_assets_tests.factories import message
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)


def end_of(*texts: str, branch: str = "") -> Handoff:
    """The handoff of a window in which the owner and the assistant take turns."""
    rows = [
        message(text, number, author="assistant" if number % 2 else "owner")
        for number, text in enumerate(texts)
    ]
    return find_handoff(rows, branch)


RENAME = (
    "Rename the event to tide.turned everywhere.",
    "All 12 uses are renamed. The docs name the new event.",
)


def test_a_go_ahead_is_no_request_and_what_followed_it_is_the_state():
    found = end_of(*RENAME, "commit it", "Committed as `749b51f` on `events`. Not pushed.")
    said = "Committed as `749b51f` on `events`. Not pushed."
    assert found == Handoff(RENAME[0], said, open_text=said)


def test_a_short_question_and_its_answer_are_left_out():
    assert end_of(*RENAME, "what was that?", "That was the test suite of the harbour.") == end_of(
        *RENAME
    )


def test_the_state_and_what_is_left_are_quoted_from_the_last_words():
    reply = (
        "The relay sends the new event to all consumers. It took two attempts because the port was taken by Redis.\n\n"
        "- The dashboard still needs the new name.\n\nWant me to open the PR?"
    )
    found = end_of("Rename the event tide.turned.", reply)
    assert found.state == f"{reply.partition(chr(10))[0]} …"
    assert found.open_text == "… The dashboard still needs the new name. Want me to open the PR?"


@pytest.mark.parametrize("last", ["👍", "```\nls -la\n```", "| a | b |\n|---|---|"])
def test_a_reply_without_words_is_passed_over(last: str):
    assert end_of(*RENAME, "ok", last).state == RENAME[1]


def test_items_of_a_list_are_not_joined_with_the_line_that_introduces_it():
    reply = "Two tests are left:\n\n- The relay test still fails.\n- The dashboard test still needs a port."
    assert end_of("Rename the event tide.turned.", reply).open_text == (
        "… The relay test still fails. … The dashboard test still needs a port."
    )


@pytest.mark.parametrize(
    "reply", LABELLED["a finished task and what ends with the session leave nothing open"]
)
def test_a_finished_task_and_what_ends_with_the_session_leave_nothing_open(reply: str):
    assert end_of("Rename the event tide.turned.", reply).open_text == ""


@pytest.mark.parametrize(
    ("reply", "left"), LABELLED["only the sentences that leave something open are quoted"]
)
def test_only_the_sentences_that_leave_something_open_are_quoted(reply: str, left: str):
    found = end_of("Rename the event tide.turned.", reply)
    assert (found.open_text, found.note) == (left, NOT_DONE if left.endswith(":") else "")


def test_a_question_that_the_owner_answered_is_not_open():
    asked = (*RENAME[:1], "Renamed in the code. Should I rename it in the docs as well?")
    assert end_of(*asked).open_text == asked[1]
    assert end_of(*asked, "no").open_text == ""


@pytest.mark.parametrize(
    ("branch", "reply", "left"),
    [
        ("tides", "Committed as `749b51f`.", "Committed as `749b51f`."),
        (
            "tides",
            "Committed:\n\n`749b51f` Rename the event.",
            "Committed: `749b51f` Rename the event.",
        ),
        ("main", "Committed as `749b51f`.", ""),
        ("tides", "Committed as `749b51f` and pushed.", ""),
        ("tides", "The committed tree has a new identity.", ""),
    ],
)
def test_a_commit_on_a_branch_is_open_until_it_is_said_to_be_pushed(
    branch: str, reply: str, left: str
):
    found = end_of("Rename the event tide.turned.", reply, branch=branch)
    assert (found.open_text, found.note) == (left, NOT_PUSHED if left else "")


def test_a_request_during_which_the_session_ended_was_stopped():
    rows = [
        message("Rename the event tide.turned.", 0),
        message("[toolCall sed()]", 1, author="assistant", kind="tool_call"),
    ]
    assert find_handoff(rows) == Handoff(rows[0]["text"], note=STOPPED)


def test_of_a_named_next_step_reports_are_left_out():
    assert (
        drop_finished_work("All tests are green. Open the PR for tides.")
        == "Open the PR for tides."
    )
    assert drop_finished_work("Both comments are addressed, and PR #9 is ready to merge.").endswith(
        "ready to merge."
    )
