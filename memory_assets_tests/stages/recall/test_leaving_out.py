"""What good recall leaves out: the suite itself is sound, and all its cases pass."""

from pathlib import Path

from memory_assets_tests.stages.recall.leaving_out import SAID, ask, build, cases, facts, suite


def test_every_case_has_a_name_of_its_own_and_names_facts_that_exist():
    known, names = {fact["id"] for fact in facts()}, [case["id"] for case in suite()["cases"]]
    assert len(names) == len(set(names))
    for case in suite()["cases"]:
        assert known.issuperset({*case["must"], *case["never"], *case.get("may", ())} - {"*"}), (
            case["id"]
        )
        assert not set(case["must"]) & set(case["never"]), case["id"]


def test_a_third_of_the_cases_is_held_back_by_the_hash_of_their_names():
    held = [case.id for case in cases() if case.half == "held"]
    assert 0.2 < len(held) / len(cases()) < 0.45


def test_a_case_names_what_is_missing_and_what_is_too_much_even_as_it_was_said():
    case = next(case for case in cases() if case.id == "superseded-packages")
    assert case.faults(["heron-uv"]) == []
    assert case.faults([f"heron-pip-tools{SAID}"]) == ["-heron-uv", "+heron-pip-tools"]


def test_every_case_passes(tmp_path: Path):
    agent = build(tmp_path / "facts")
    faults = {
        case.id: case.faults([one.memory_id for one in ask(agent, case).results])
        for case in cases()
    }
    assert {id: wrong for id, wrong in faults.items() if wrong} == {}
