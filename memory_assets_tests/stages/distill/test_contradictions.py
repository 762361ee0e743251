"""A fact that turns its sentence round is found; one that says it in other words is not."""

import pytest

from memory_assets.stages.distill.contradictions import is_contradicted
from memory_assets.stages.distill.write_gate import judge
from memory_assets_tests.labelled import labelled
from memory_assets_tests.stages.distill.models import answered
from memory_assets_tests.stages.distill.sessions import messages, said, window, windows

LABELLED = labelled(__file__)


@pytest.mark.parametrize(("source", "faithful", "inverted"), LABELLED["inversions"])
def test_the_gate_holds_the_inversion_of_a_model_and_keeps_the_faithful_fact(
    source: str, faithful: str, inverted: str
):
    from memory_assets.stages.distill.day import find_in_windows

    rows = said(
        ("owner", f"what do we know about this? {source}"), ("assistant", f"Noted: {source}")
    )
    answer = "\n".join(
        f"- 🔴 (09:00) [gate=allow confidence=0.9 category=projects] {fact}"
        for fact in (faithful, inverted)
    )
    frame = messages(rows)
    (found,) = find_in_windows(windows(window(rows)), frame, answered(frame, answer))
    verdicts = {
        one.candidate.text: (one.verdict, one.reason) for one in judge(found.observed.candidates)
    }
    assert verdicts[inverted] == ("hold", "may say the opposite of its evidence")
    assert verdicts[faithful][0] == "allow"
    assert not is_contradicted(faithful, [source])


@pytest.mark.parametrize(("fact", "sources"), LABELLED["agreements"])
def test_a_change_a_question_and_another_subject_contradict_nothing(fact: str, sources: list[str]):
    assert not is_contradicted(fact, sources)
