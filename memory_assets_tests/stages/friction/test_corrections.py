"""The same correction in three sessions is found in three wordings; what only recurs by chance is not."""

from datetime import timedelta

import pytest

from memory_assets.stages.friction.corrections import find_corrections
from memory_assets.stages.friction.week import SessionInfo, Utterance, Week
from memory_assets_tests.factories import START
from memory_assets_tests.labelled import labelled
from memory_assets_tests.stages.friction.test_weeks import Light

LABELLED = labelled(__file__)

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
    problems = find_corrections(week, EMBEDDER, [], owner="mira", prohibited=())
    assert all(len(problem.session_ids) == 3 for problem in problems)
    return [problem.new for problem in problems]


@pytest.mark.parametrize(
    ("first", "second", "third", "rule"), LABELLED["three wordings of a correction are one"]
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
        tuple(f"Write a paragraph about chapter {number}." for number in (25, 26, 27)),
        tuple(f"Use the layout of section {letter}." for letter in "BCD"),
        tuple(f"Always quote the {place} letter in full." for place in ("second", "third", "last")),
        tuple(f"Add a test for the {name}, please." for name in ("parser", "lexer", "printer")),
        tuple(f"Then translate the {name} into French." for name in ("preface", "index", "legend")),
    ],
)
def test_tasks_and_remarks_that_recur_are_no_rule(texts: tuple[str, ...]):
    assert found(*texts) == []
