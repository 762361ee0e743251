"""A memory that names a tool is found by what the tool is for."""

from memory_assets.stages.embed.project import concept_words


def test_a_tool_brings_the_words_that_people_ask_with():
    assert (
        concept_words("Always use `uv`, never `pip`.")
        == "install packages dependencies package manager"
    )


def test_a_word_that_only_contains_a_tools_name_brings_none():
    assert concept_words("The pipeline is unflyable and yarnless.") == ""
