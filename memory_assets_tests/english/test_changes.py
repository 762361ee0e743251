"""A stated change names what is gone and what came, next to each other; ideas, questions and figures of speech change nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.english.changes import read_changes, read_state_changes
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)


@pytest.mark.parametrize(("text", "gone", "came"), LABELLED["stated"])
def test_a_stated_change_names_what_is_gone_and_what_came(text: str, gone: str, came: str):
    assert [(change.gone, change.came) for change in read_changes(text)] == [(gone, came)]


@pytest.mark.parametrize("text", LABELLED["an idea a denial and a figure of speech change nothing"])
def test_an_idea_a_denial_and_a_figure_of_speech_change_nothing(text: str):
    assert read_changes(text) == ()


@given(
    st.text(
        alphabet="abc from to not instead of , . ` ( ) use is replaced by with over prefer 5",
        max_size=120,
    )
)
def test_nothing_replaces_itself(text: str):
    assert all(
        change.gone != change.came and change.gone and change.came for change in read_changes(text)
    )


@pytest.mark.parametrize(
    ("text", "gone", "came"),
    LABELLED["a change of state can name only what is gone or what is back"],
)
def test_a_change_of_state_can_name_only_what_is_gone_or_what_is_back(
    text: str, gone: str, came: str
):
    assert [(change.gone, change.came) for change in read_state_changes(text)] == [(gone, came)]


@pytest.mark.parametrize(
    "text", LABELLED["a plan a denial hearsay and a fault of the moment are no change of state"]
)
def test_a_plan_a_denial_hearsay_and_a_fault_of_the_moment_are_no_change_of_state(text: str):
    assert read_state_changes(text) == ()


def test_a_change_of_state_is_about_its_own_words_and_not_about_the_reasons_beside_it():
    (change,) = read_state_changes(
        "The bill is too high, so we moved the blog from Fly to Hetzner, because of the feed."
    )
    assert change.clause == "we moved the blog from Fly to Hetzner"
