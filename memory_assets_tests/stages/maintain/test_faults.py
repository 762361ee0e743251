"""Faults of single facts: each told by words and sources alone, and each with its near-miss that is none."""

import pytest

from memory_assets.stages.maintain.faults import (
    EvidenceMessage,
    clock_times,
    copies,
    faults_of,
    is_dangling,
    speaks_for_owner,
    states_unnamed_change,
)

OWNER = EvidenceMessage(
    "No, use uv, never pip, to install packages in this repository.", is_owners=True
)
AGENT = EvidenceMessage(
    "The export failed at 14:05 because /srv/exports was mounted read-only after the reboot.",
    is_owners=False,
)


def test_a_fact_of_which_most_words_stand_nowhere_is_ungrounded():
    text = "The export failed because the certificate of the upstream proxy had expired."
    assert faults_of(text, "assistant", [AGENT]) == ["ungrounded"]


def test_what_the_owner_typed_in_haste_supports_what_was_made_readable():
    said = EvidenceMessage(
        "oh no theyre not going to have access to the local demo..thats just for me", is_owners=True
    )
    text = "The owner corrected: “no they're not going to have access to the local demo, that's just for me”"
    assert "ungrounded" not in faults_of(text, "owner", [said])


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("at 14:05", {(14, 5)}),
        ("at 2:05 pm and 2:05 am", {(14, 5), (2, 5)}),
        ("at 3 p.m. sharp", {(15, 0)}),
        ("12 am is midnight, 12 pm is noon", {(0, 0), (12, 0)}),
        ("2026-04-14 13:12:47.826 +02:00", {(13, 12), (2, 0)}),
        ("21:18:11 → 21:22:02", {(21, 18), (21, 22)}),
        ("port 127.0.0.1:8080, main.py:120, 5 ambulances, 26:10", set()),
    ],
)
def test_clock_times_are_read_as_people_write_them(text: str, times: set[tuple[int, int]]):
    assert clock_times(text) == times


def test_a_clock_time_that_no_source_tells_is_invented():
    said = "The export failed at 15:10 because /srv/exports was mounted read-only."
    assert faults_of(said, "assistant", [AGENT]) == ["invented_time"]
    assert faults_of(said.replace("15:10", "2:05 pm"), "assistant", [AGENT]) == []


@pytest.mark.parametrize(
    "text",
    [
        "It now retries three times.",
        "This is wrong, in two ways: the server drops commands.",
        "That's why the split exists.",
        "The owner corrected: “it's also dropped, please update 5/6”",
        "The owner wants: “ok, so this option should be parsed last”",
        "Both assertions fire.",
        "the latter needs a token",
    ],
)
def test_a_fact_that_begins_with_something_said_before_dangles(text: str):
    assert is_dangling(text)


@pytest.mark.parametrize(
    "text",
    [
        "This repository is a library as well.",
        "The owner wants: “use uv, it is faster”",
        "Items are sorted by date.",
        "Theme colours come from config.ts.",
        "`this.state` is frozen.",
        "Bothwell is the staging host.",
        "Both `uv` and `pip` are installed.",
        "The former substring check matched too little.",
    ],
)
def test_a_fact_that_names_what_it_is_about_does_not(text: str):
    assert not is_dangling(text)


@pytest.mark.parametrize(
    "text",
    [
        "You're right. The agent stores messages of both types.",
        "Committed `e5eee8a`, and the tests pass.",
        "I've isolated the breakage to three changes.",
        "Two useful details: the flag applies to the source alone.",
        "Done. Updated the README.",
        "Yes — `v2.11.4` is out.",
    ],
)
def test_a_fact_that_begins_as_a_turn_of_a_conversation_is_told(text: str):
    assert "conversational" in faults_of(text, "assistant", [])


@pytest.mark.parametrize(
    "text",
    [
        "The owner prefers uv.",
        "The user has decided on uv.",
        "Use uv: the developer's preference for packages.",
    ],
)
def test_who_speaks_for_the_owner_needs_the_owners_words(text: str):
    assert speaks_for_owner(text, "assistant")
    pasted = EvidenceMessage("uv packages preference: prefer, decided", is_owners=False)
    assert faults_of(text, "assistant", [pasted]) == ["owner_unheard"]
    assert "owner_unheard" not in faults_of(text, "assistant", [pasted, OWNER])


@pytest.mark.parametrize(
    ("text", "is_unnamed"),
    [
        ("The location of the worker was changed.", True),
        ("The importer now runs in its own container.", True),
        ("The team switched to Postgres in May.", True),
        ("The worker runs from the monorepo now, replacing its own repository.", False),
        ("The importer now runs in its own container instead of the worker's.", False),
        ("The cache was moved from Redis to Postgres.", False),
        ("`queue_size` → `queue_limit` in the settings.", False),
        ("If the schema was changed, `make migrate` has to run.", False),
        ("The queue is limited to 500 jobs for now.", False),
        ("Subcommands can be moved to the docs.", False),
    ],
)
def test_a_change_names_what_was_there_before(text: str, is_unnamed: bool):
    assert states_unnamed_change(text) == is_unnamed


def test_a_passage_of_tool_output_is_no_fact_and_a_sentence_about_it_is():
    printed = "collected 12 items\nFAILED tests/test_export.py::test_rounding - AssertionError: expected 12.50, got 12.49 for order 7"
    tool = EvidenceMessage(printed, is_owners=False, is_output=True)
    assert "copied_output" in faults_of(
        "FAILED tests/test_export.py::test_rounding - AssertionError: expected 12.50",
        "tool",
        [tool],
    )
    about = "Rounding of exports is wrong: `tests/test_export.py` shows “expected 12.50, got 12.49” for order 7 since the upgrade."
    assert "copied_output" not in faults_of(about, "assistant", [tool])
    assert not copies("Use uv here.", "Use uv here.")  # too short to be a passage


def test_a_high_priority_fact_needs_more_than_a_question():
    asked = EvidenceMessage("Should the importer use Postgres?", is_owners=True)
    answered = EvidenceMessage(
        "The importer uses Postgres now instead of SQLite, as you asked.", is_owners=False
    )
    text = "The importer should use Postgres."

    def faults(*sources: EvidenceMessage, priority="high", quote=asked.text) -> list[str]:
        return faults_of(text, "owner", sources, priority=priority, quote=quote)

    assert faults(asked) == ["asked_only"]
    assert faults(asked, priority="medium") == []
    assert faults(asked, answered) == []
    assert faults(asked, quote="The importer should use Postgres.") == []


@pytest.mark.parametrize(
    ("text", "is_broken"),
    [
        ("Supported are Postgres,, SQLite", True),
        ("Supported:, Postgres and SQLite", True),
        ("is written by the nightly job", True),
        ("The nightly job writes the archive and the", True),
        ("The prefixes docs:, chore: and test: are left out.", False),
        ("The nightly job writes the archive.", False),
    ],
)
def test_a_fact_is_a_whole_sentence(text: str, is_broken: bool):
    assert (
        "broken" in faults_of(text, "assistant", [EvidenceMessage(text, is_owners=False)])
    ) == is_broken
