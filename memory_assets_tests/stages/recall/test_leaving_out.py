"""What good recall leaves out: the suite itself is sound, and all its cases pass."""

from pathlib import Path

from memory_assets_tests.stages.recall.leaving_out import ask, build, cases


def test_every_case_passes(tmp_path: Path):
    agent = build(tmp_path / "facts")
    faults = {
        case.id: case.faults([one.memory_id for one in ask(agent, case).results])
        for case in cases()
    }
    assert {id: wrong for id, wrong in faults.items() if wrong} == {}
