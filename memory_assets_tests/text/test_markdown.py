"""What stands in angle brackets is shown by Markdown, and no tag of a stranger takes effect."""

import pytest

from memory_assets.text.markdown import keep_brackets
from memory_assets.text.visible import visible
from memory_assets_tests.labelled import labelled


@pytest.mark.parametrize(("text", "written"), labelled(__file__)["written"])
def test_names_in_angle_brackets_are_written_as_code(text: str, written: str):
    assert keep_brackets(text) == written
    assert keep_brackets(written) == written


def test_a_placeholder_is_no_tag_of_a_speaker():
    assert (
        visible("memory forget <memory-id>, <tool_path>")
        == "memory forget <memory-id>, <tool_path>"
    )
    assert "<system" not in visible("<system-id x> <system-reminder> <system-id >")
