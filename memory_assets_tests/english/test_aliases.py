"""Aliases: both directions, names of several words, the owner's own, and never the words that were said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.english.aliases import ALIAS_WEIGHT, expand, names_of, words_in
from memory_assets.store.settings import read_settings
from memory_assets_tests.labelled import labelled
from memory_assets_tests.settings_files import user_settings

LABELLED = labelled(__file__)


@pytest.mark.parametrize(
    ("question", "wanted"), LABELLED["other names are added in both directions"]
)
def test_other_names_are_added_in_both_directions(question: str, wanted: str):
    assert wanted in dict(expand(words_in(question)))


def test_an_alias_counts_less_than_what_was_said_and_its_parts_less_than_a_whole():
    found = dict(expand(["k8s", "on", "gha"]))
    assert found["kubernetes"] == ALIAS_WEIGHT < 1
    assert found["github"] == found["actions"] == ALIAS_WEIGHT / 2


def test_the_owner_adds_names_and_they_come_first():
    user_settings('[aliases]\nharbor = ["hb", "The Docks"]\nkubernetes = "kubi"\n')
    own = read_settings().aliases
    assert dict(expand(["hb"], own)) == {
        "harbor": ALIAS_WEIGHT,
        "the": ALIAS_WEIGHT / 2,
        "docks": ALIAS_WEIGHT / 2,
    }
    assert names_of("Kubi", own) == ("kubernetes", "kubi", "k8s", "kube")
    assert "k8s" in dict(expand(["kubi"], own))


@given(st.text(max_size=200))
def test_expanding_never_fails_and_never_repeats_what_was_said(question: str):
    said = words_in(question)
    found = expand(said)
    assert not {word for word, _ in found} & set(said)
    assert all(0 < weight <= ALIAS_WEIGHT for _, weight in found)
