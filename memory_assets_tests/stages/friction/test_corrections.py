"""The same correction in three sessions is found in three wordings; what only recurs by chance is not."""

from datetime import timedelta

import pytest

from memory_assets.stages.friction.corrections import find_corrections
from memory_assets.stages.friction.week import SessionInfo, Utterance, Week
from memory_assets_tests.factories import START
from memory_assets_tests.stages.friction.test_weeks import Light

EMBEDDER = Light()
BEFORE = ((True, "Let us look at the next ticket."), (False, "The ticket is finished."))


def found(*corrections: str) -> list[str]:
    """The rules that are found where the owner says each of the texts in a session of its own, after the agent's work."""
    said = []
    for number, text in enumerate(corrections):
        session = SessionInfo(f"s{number}", "shop", "/home/mira/shop", "mira")
        for place, (is_owner, words) in enumerate((*BEFORE, (True, text))):
            at = START + timedelta(days=number, minutes=place)
            said.append(Utterance(session, place, f"m{number}-{place}", at, words, is_owner))
    week = Week((), tuple(said), {})
    problems = find_corrections(week, EMBEDDER, [], owner="mira", prohibited=(), retyped=())
    assert all(len(problem.session_ids) == 3 for problem in problems)
    return [problem.new for problem in problems]


@pytest.mark.parametrize(
    ("first", "second", "third", "rule"),
    [
        (
            "No sleep in tests, please poll instead.",
            "This one waits; tests must not sleep.",
            "Tests never sleep here.",
            "sleep",
        ),
        (
            "Ask me before you delete a branch.",
            "Don't delete branches without asking me.",
            "Never delete a branch!",
            "branch",
        ),
        (
            "Keep pull requests small.",
            "This pull request is too big again.",
            "Small pull requests please, one topic each.",
            "small",
        ),
        (
            "Dates are ISO 8601.",
            "Format dates as 2026-01-31, ISO everywhere.",
            "The date format is wrong, we use ISO.",
            "iso",
        ),
        (
            "Don't add packages.",
            "No new packages without asking me.",
            "I don't want new packages in here.",
            "packages",
        ),
        (
            "Use absolute imports.",
            "Why are you using relative imports again?",
            "No relative imports please.",
            "imports",
        ),
        (
            "Could you please not use emojis in the docs?",
            "No emojis in the docs.",
            "I said no emojis.",
            "emojis",
        ),
        (
            "Test names must be sentences.",
            "Name the tests as sentences, please.",
            "test_foo_2 is not a sentence; test names are sentences here.",
            "sentences",
        ),
        (
            "Don't remove files unless I said so.",
            "You deleted files without asking me.",
            "Didn't I say not to delete files?",
            "files",
        ),
        (
            "Never force-push.",
            "No force pushes to shared branches, please.",
            "You force-pushed main. Never do that.",
            "force",
        ),
    ],
)
def test_three_wordings_of_a_correction_are_one(first: str, second: str, third: str, rule: str):
    (said,) = found(first, second, third)
    assert rule in said.lower()


@pytest.mark.parametrize(
    "texts",
    [
        ("Make the header blue.", "Please rename the column.", "Add a button for the export."),
        ("No, the second one.", "Not that file, the other one.", "No, I meant the other branch."),
        ("Why are you doing it again?", "Why do you still do it?", "Why did you do it again?"),
        ("Try it again, please.", "It still fails.", "Not working, still the same error."),
        ("Please run all tests again.", "Run all tests again.", "Run the tests once more, please."),
    ],
)
def test_tasks_and_remarks_that_recur_are_no_rule(texts: tuple[str, ...]):
    assert found(*texts) == []
