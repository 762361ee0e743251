"""Items of a fact: strength, tone, names, clock times."""

import pytest

from memory_assets.stages.distill.items import (
    entities_of,
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
