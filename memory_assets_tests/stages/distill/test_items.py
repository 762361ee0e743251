"""Items of a fact: strength, tone, names, clock times."""

import pytest

from memory_assets.stages.distill.items import (
    clock_times_in,
    entities_of,
    items_of,
    sentiment_of,
    strength_of,
)


@pytest.mark.parametrize(
    ("text", "is_owners", "strength"),
    [
        ("use uv, never pip", True, "explicit"),
        ("maybe we update the changelog when we release?", True, "implied"),
        ("The cache was stale.", False, "explicit"),
        ("The edge probably closes idle uploads.", False, "inferred"),
    ],
)
def test_a_hedge_weakens_what_is_said(text: str, is_owners: bool, strength: str):
    assert strength_of(text, is_owners=is_owners) == strength


@pytest.mark.parametrize(
    ("text", "tone"),
    [
        ("it asks for my password again", "frustrated"),
        ("perfect, love it", "excited"),
        ("not sure about the port", "uncertain"),
        ("the port is 5432", "neutral"),
    ],
)
def test_the_tone_is_told(text: str, tone: str):
    assert sentiment_of(text) == tone


def test_files_commands_ids_and_people_are_named():
    text = "Per ADR-14 @nodo runs `mise run lint` on docs/usage.md with --force-blind and GIT_TERMINAL_PROMPT=0 (entireio/skills#3)."
    assert entities_of(text) == (
        "ADR-0014",
        "@nodo",
        "mise run lint",
        "docs/usage.md",
        "--force-blind",
        "GIT_TERMINAL_PROMPT=0",
        "entireio/skills#3",
    )


def test_clock_times_are_read_and_ports_and_durations_are_not():
    assert clock_times_in("At 9:41 and 23:05:10, not localhost:8080, 1:2 or 12:345.") == (
        "09:41",
        "23:05",
    )


def test_a_time_that_no_source_tells_is_told_apart():
    items = items_of("Broke at 09:41, fixed at 10:00.", ["restarted at 9:41"], "")
    assert (items["clock_times"], items["ungrounded_times"]) == (("09:41",), ("10:00",))
