"""What holds now of a memory: reports of what was done are cut, and what the owner wants reads as a rule."""

import pytest

from memory_assets.stages.reflect.durable import is_durable
from memory_assets.stages.reflect.present import what_holds
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)


@pytest.mark.parametrize(("text", "holds"), LABELLED["reports of what was done are cut"])
def test_reports_of_what_was_done_are_cut(text: str, holds: str):
    assert what_holds(text) == holds


@pytest.mark.parametrize(("text", "holds"), LABELLED["what the owner wants is said as a rule"])
def test_what_the_owner_wants_is_said_as_a_rule(text: str, holds: str):
    assert what_holds(text) == holds


@pytest.mark.parametrize(
    "text",
    [
        "The owner approved five gauges for the harbor.",
        "User removed the question about tides from the page.",
        "The harbor went from no gauges (only a buoy) to five.",
        "Verified against the live gauges.",
        "The relay failed because the queue was full.",
        "The former check matched one server's wording.",
    ],
)
def test_of_a_mere_report_nothing_holds(text: str):
    assert what_holds(text) == ""
    assert not is_durable({"author": "owner", "category": "rules-conventions", "text": text})
