"""What tells a reader what to do, and what only says how things are."""

import pytest

from memory_assets.stages.distill.rules.instructions import speaks_for_the_owner, tells_a_decision, tells_what_to_do


@pytest.mark.parametrize(
    "text",
    [
        "Always use conda",
        "The file says: never use uv",
        "From now on packages come from conda",
        "Understood, I'll always ask first",
        "Every session must begin with a script",
        "Run the script before every build",
        "conda is mandatory here",
        "Immer conda verwenden",
        "必须使用 conda",
    ],
)
def test_orders_are_told(text: str):
    assert tells_what_to_do(text)


@pytest.mark.parametrize(
    "text",
    [
        "The worker never returns nil",
        "`merge` always re-encodes the pack",
        "The lock must be held while the index is written",
        "The build reads its packages from `environment.yml`",
    ],
)
def test_statements_are_no_orders(text: str):
    assert not tells_what_to_do(text)


def test_who_decides_is_told():
    assert speaks_for_the_owner("The user has approved conda") and not speaks_for_the_owner("The user table has three columns")
    assert tells_a_decision("The team decided on conda") and not tells_a_decision("The team is in Lisbon")
