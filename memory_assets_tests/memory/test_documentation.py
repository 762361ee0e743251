"""Pages are found by their names; whatever message names a page, the command prints it."""

import re
from pathlib import Path

import pytest

from memory_assets.errors import QuestionError
from memory_assets.memory.documentation import names, read_page
from memory_assets_tests.conftest import REPOSITORY


@pytest.mark.parametrize("name", ["hooks", "hooks.md", "docs/hooks.md", "hooks.md#send-events"])
def test_a_page_is_found_as_it_is_named_anywhere(name: str):
    page = read_page(name)
    assert page.name == "hooks"
    assert page.text == (REPOSITORY / "docs" / "hooks.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["hook", "../pyproject", "", "/etc/passwd"])
def test_another_name_is_an_error_that_lists_the_pages(name: str):
    with pytest.raises(QuestionError, match=r"The pages are README, architecture, .*tables\."):
        read_page(name)


def test_every_page_that_a_message_names_can_be_printed():
    sources = "".join(
        path.read_text("utf-8") for path in Path(REPOSITORY, "memory_assets").rglob("*.py")
    )
    named = set(re.findall(r"memory docs ([a-z][a-z-]+)", sources))
    assert {"model", "operating", "scaling"} <= named <= set(names())
