"""A model decides what the rules leave in doubt: asked once for each pair of texts, only where it may be, and never against the rules."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from memory_assets.schema.protocols import ModelAnswer
from memory_assets.stages.distill.model.answers import AnswerStore, StoredAnswer
from memory_assets.stages.embed.pair_questions import PairQuestion, decide, plan_questions
from memory_assets_tests.factories import START, frame, row

OLDER, NEWER = "The importer refuses empty files.", "The importer turns empty files away."


def said(id: str, text: str, **changes: object) -> dict:
    return row(
        "observations", **{"id": id, "text": text, "gate": "allow", "project": "shop"} | changes
    )


def edge(relation: str = "doubtful", newer: str = "2", older: str = "1") -> dict:
    return row(
        "merges", newer_id=newer, older_id=older, relation=relation, reason="near", similarity=0.9
    )


def answered(
    text: str, stop_reason: str = "end_turn", question: PairQuestion | None = None
) -> StoredAnswer:
    answer = ModelAnswer(text, "large", 100, 10, stop_reason=stop_reason)
    return StoredAnswer((question or PairQuestion(OLDER, NEWER, "large")).key, answer, START)


def plan(
    answers: AnswerStore, edges: Sequence[dict], *rows: dict, projects: Sequence[str] = ("shop",)
) -> list[tuple[str, str]]:
    rows = rows or (said("1", OLDER), said("2", NEWER))
    found = plan_questions(
        frame("merges", *edges),
        frame("observations", *rows),
        "large",
        answers,
        projects.__contains__,
    )
    return [(one.older, one.newer) for one in found]


def relations(*answers: StoredAnswer, relation: str = "doubtful") -> list[tuple[str, str]]:
    observations = frame("observations", said("1", OLDER), said("2", NEWER))
    return (
        decide(frame("merges", edge(relation)), observations, answers)
        .select("relation", "reason")
        .rows()
    )


def test_two_texts_are_asked_about_once_whichever_model_answered(tmp_path: Path):
    answers = AnswerStore(tmp_path)
    again = [said("3", OLDER), said("4", NEWER)]
    assert plan(
        answers, [edge(), edge(newer="4", older="3")], said("1", OLDER), said("2", NEWER), *again
    ) == [(OLDER, NEWER)]
    answers.write(answered("nonsense", question=PairQuestion(OLDER, NEWER, "another")))
    assert plan(answers, [edge()]) == []


def test_a_project_without_consent_and_what_the_gate_held_are_never_sent(tmp_path: Path):
    answers = AnswerStore(tmp_path)
    assert plan(answers, [edge()], projects=("blog",)) == []
    assert plan(answers, [edge()], said("1", OLDER, project="secret"), said("2", NEWER)) == []
    assert plan(answers, [edge()], said("1", OLDER, gate="hold"), said("2", NEWER)) == []


@pytest.mark.parametrize(
    ("verdict", "relation", "reason"),
    [
        ("same", "same", "same claim by a model"),
        ("opposite", "conflict", "opposite"),
        ("changed", "conflict", "other value"),
        ("different", "doubtful", "different by a model"),
    ],
)
def test_a_verdict_decides_a_pair_in_doubt(verdict: str, relation: str, reason: str):
    assert relations(answered(f"<verdict>{verdict}</verdict>")) == [(relation, reason)]


@pytest.mark.parametrize(
    "unusable",
    [
        answered("They are the same, I think."),
        answered("<verdict>same</verdict> or <verdict>different</verdict>"),
        answered("<verdict>same</verdict>", stop_reason="refusal"),
        answered("<verdict>same</verdict>", question=PairQuestion(NEWER, OLDER, "large")),
    ],
    ids=["no verdict", "two verdicts", "refused", "other order"],
)
def test_without_a_usable_answer_the_rules_decision_stands(unusable: StoredAnswer):
    assert relations(unusable) == relations() == [("doubtful", "near")]


def test_the_question_fences_both_facts_in_order():
    request = PairQuestion(OLDER, NEWER, "large").request()
    assert request.material.index(OLDER) < request.material.index(NEWER)
    assert request.material.count("=== quoted") == 4
