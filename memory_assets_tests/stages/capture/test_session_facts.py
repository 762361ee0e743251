"""Whose session it is, and what its records state of it at a line."""

from memory_assets.stages.capture.session_facts import person_of


def test_the_person_is_the_owner_of_the_machine_or_the_one_of_the_home_folder_elsewhere():
    assert person_of("/home/vscode/work", {}, "mira", is_own=True) == "mira"
    assert person_of("/Users/soph/work", {}, "mira", is_own=False) == "soph"
    assert person_of("/home/msl/shop", {"msl": "tom"}, "mira", is_own=False) == "tom"
    assert person_of("/home/msl/shop", {"msl": "tom"}, "mira", is_own=True) == "tom"
    assert person_of("/srv/build", {}, "mira", is_own=False) == "mira"
