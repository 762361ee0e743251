"""Whose session it is, and what its records state of it at a line."""

from memory_assets.stages.capture.session_facts import SessionFacts, person_of


def test_the_person_is_the_owner_of_the_machine_or_the_one_of_the_home_folder_elsewhere():
    assert person_of("/home/vscode/work", {}, "mira", is_own=True) == "mira"
    assert person_of("/Users/soph/work", {}, "mira", is_own=False) == "soph"
    assert person_of("/home/msl/shop", {"msl": "tom"}, "mira", is_own=False) == "tom"
    assert person_of("/home/msl/shop", {"msl": "tom"}, "mira", is_own=True) == "tom"
    assert person_of("/srv/build", {}, "mira", is_own=False) == "mira"


def test_a_fact_has_the_value_that_was_stated_last_before_the_line():
    facts = SessionFacts()
    for line, branch in ((3, "main"), (8, "fix")):
        facts.add("branch", (0, line), branch)
    assert [facts.as_of("branch", (0, line)) for line in (2, 3, 7, 8, 99)] == [
        None,
        "main",
        "main",
        "fix",
        "fix",
    ]
    assert (facts.first("branch"), facts.first("branch", (0, 2)), facts.as_of("title", (0, 9))) == (
        "main",
        None,
        None,
    )
