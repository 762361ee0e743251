"""A word counts as its root, a value as itself; synonyms and relatives are of one family."""

import pytest

from memory_assets.english.word_forms import family_of, form_of, root

FORMS = "adding:add retries:retry wrote:writ v2.1:2.1 three:3 please: -x:-x"
FAMILIES = "failure:crashes removal:deleted config:configuration repo:repository decision:decided"


@pytest.mark.parametrize(("token", "form"), [pair.split(":") for pair in FORMS.split()])
def test_a_token_counts_as_its_root_or_value(token: str, form: str):
    assert form_of(token) == form


@pytest.mark.parametrize(("one", "other"), [pair.split(":") for pair in FAMILIES.split()])
def test_synonyms_relatives_and_abbreviations_are_one_family(one: str, other: str):
    assert family_of(root(one)) == family_of(root(other))
