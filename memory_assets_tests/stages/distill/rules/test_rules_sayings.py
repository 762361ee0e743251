"""Made-up sessions of several projects: little else is kept than what a person laid down or stated, and most of that."""

import pytest

from memory_assets_tests.stages.distill.rules.sayings import (
    score,
)

PARTS = ("before", "after")


@pytest.mark.parametrize("part", PARTS)
def test_what_is_kept_is_right_and_most_of_what_is_laid_down_is_kept(part: str):
    found = score(part)
    assert found.precision >= 0.95, found.wrong
    assert found.recall >= 0.85, found.missed
