"""How a memory reads as a line of MEMORY.md, and what has to be asked where it cannot stand alone."""

import pytest

from memory_assets.stages.triage.wording import (
    general_line,
    is_about_unnamed,
    line_of,
)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "No, use uv, never pip. That goes for all my Python projects.",
            "Use uv, never pip, in all Python projects.",
        ),
        ("The owner said: “let's switch to camelCase”.", "Use camelCase."),
        ("The owner decided: “let's not use mocks in the tests”", "Do not use mocks in the tests."),
        ("I told you again: never push to main.", "Never push to main."),
        ("Never use SQLite in the tests. Why did you take it?", "Never use SQLite in the tests."),
        (
            "Use uv, never pip. It is ten times faster.",
            "Use uv, never pip. It is ten times faster.",
        ),
        ("setTheme should return an error that the caller shows.",) * 2,
        (
            "Estimate from the commit count, never probe (approved by the owner: “b”).",
            "Estimate from the commit count, never probe.",
        ),
        (
            "Rely on the `ssh` binary for keys. (the owner decided: “go”)",
            "Rely on the `ssh` binary for keys.",
        ),
        ("Run with `-race` in CI: the owner decided “yes add -race”.", "Run with `-race` in CI."),
        ("The issue was that the plugin is found by `main`.", "The plugin is found by `main`."),
        ("Root cause found: the loader skips `main`.", "The loader skips `main`."),
        (
            "Do it. (the owner: “yes, and for all other harbours”)",
            "Do it. (the owner: “yes, and for all other harbours”).",
        ),
        (
            "I want replicate to not copy the charts at all, that should be the goal.",
            "Replicate should not copy the charts at all.",
        ),
        (
            "Let's use the north gauge as an example then, that's public.",
            "Use the north gauge as an example, that's public.",
        ),
        (
            "Use fucking rgb values in the themes, no indices.",
            "Use rgb values in the themes, no indices.",
        ),
        ("The owner chose squash merges; the old setting was removed.", "Use squash merges."),
        ("t.Cleanup must not use t.Context().",) * 2,
        ("Our API is versioned by header (ADR-0012)", "Our API is versioned by header (ADR-0012)."),
        ("Always use `uv`, never `pip`.",) * 2,
        ("",) * 2,
    ],
)
def test_a_line_says_what_holds_and_not_who_agreed_or_how_it_came_up(said: str, line: str):
    assert line_of(said) == line


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("The owner said: “no console logs”.", "No console logs."),
        ("Write dates the British way.",) * 2,
        ("Errors must name the file.",) * 2,
        (".tides should live in the home folder.",) * 2,
        ("Gauges are polled each minute.",) * 2,
        ("Add the name to each of them.", ""),
        ("no just add harbor name", ""),
        ("Truncated text must stop when it encounters a new line.", ""),
        ("The owner said: “I don't want to commit doc”.", ""),
        ("The owner said: “i dont want to remove any details that are written”.", ""),
        ("It must never be renamed.", ""),
    ],
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
