"""Opposites hold in both directions; those of states are only a part."""

from memory_assets.english.opposites import opposites_by
from memory_assets.text.words import stem


def test_each_word_is_the_opposite_of_its_opposites():
    table = opposites_by(stem)
    assert all(word in table[other] for word, others in table.items() for other in others)
    assert stem("disable") in table[stem("enable")]


def test_two_sides_of_a_thing_do_not_exclude_each_other():
    states = opposites_by(str, of_states=True)
    assert "target" not in states.get("source", ())
    assert "rejects" in states["accepts"]
    assert "target" in opposites_by(str)["source"]
