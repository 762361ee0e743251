"""What could stand in MEMORY.md for months, and what rules refuse without a person."""

import pytest

from memory_assets.stages.triage.refusal import why_refused
from memory_assets.stages.triage.wording import line_of
from memory_assets_tests.labelled import labelled

SHORTEST = 12

LABELLED = labelled(__file__)


def why(said: str, *, is_repeated: bool = False, author: str = "assistant") -> str | None:
    one = {"text": line_of(said), "said": said, "author": author, "category": "operations"}
    return why_refused(one, is_repeated=is_repeated, shortest=SHORTEST)


@pytest.mark.parametrize(("said", "reason"), LABELLED["refused"])
def test_what_is_refused_is_named(said: str, reason: str):
    assert why(said) == reason


@pytest.mark.parametrize("said", LABELLED["may last"])
def test_what_may_last_is_left_to_a_person(said: str):
    assert why(said) is None
