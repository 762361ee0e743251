"""How a memory reads as a line of MEMORY.md, and what has to be asked where it cannot stand alone."""

import pytest

from memory_assets.stages.triage.wording import (
    general_line,
    is_about_unnamed,
    line_of,
)
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)


@pytest.mark.parametrize(
    ("said", "line"), LABELLED["a line says what holds and not who agreed or how it came up"]
)
def test_a_line_says_what_holds_and_not_who_agreed_or_how_it_came_up(said: str, line: str):
    assert line_of(said) == line


@pytest.mark.parametrize(
    ("said", "line"), LABELLED["words about one spot or task are no general line"]
)
def test_words_about_one_spot_or_task_are_no_general_line(said: str, line: str):
    assert general_line(said) == line


@pytest.mark.parametrize(
    ("line", "is_unnamed"),
    [
        ("The header appears only in the first answer.", True),
        ("Wrong charts were not the cause.", True),
        ("The config has `pro: true`.", True),
        ("The CLI has no colours.", False),
        ("The cause of the outage is a full queue.", False),
        ("The tide header appears only in the first answer.", False),
        ("Answers begin with the header.", False),
    ],
)
def test_a_line_about_a_thing_that_something_else_names_is_recognised(line: str, is_unnamed: bool):
    assert is_about_unnamed(line) is is_unnamed
