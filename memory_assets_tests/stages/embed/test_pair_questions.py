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


def edge(relation: str = "doubtful", newer: str = "2", older: str = "1", near: float = 0.9) -> dict:
    ids = {"newer_id": newer, "older_id": older}
    return row("merges", **ids, relation=relation, reason="near", similarity=near)


def asking(*pairs: tuple[str, str], model: str = "large") -> PairQuestion:
    return PairQuestion(pairs or ((OLDER, NEWER),), model)


def answered(
    text: str, stop_reason: str = "end_turn", question: PairQuestion | None = None
) -> StoredAnswer:
    answer = ModelAnswer(text, "large", 100, 10, stop_reason=stop_reason)
    return StoredAnswer((question or asking()).key, answer, START)


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
    return [pair for one in found for pair in one.pairs]


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
    answers.write(answered("nonsense", question=asking(model="another")))
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
        answered("<verdict>same</verdict>", question=asking((NEWER, OLDER))),
    ],
    ids=["no verdict", "two verdicts", "refused", "other order"],
)
def test_without_a_usable_answer_the_rules_decision_stands(unusable: StoredAnswer):
    assert relations(unusable) == relations() == [("doubtful", "near")]


def test_many_pairs_are_one_question_and_each_has_its_verdict(tmp_path: Path):
    texts = [f"The importer number {n} refuses empty files." for n in range(30)]
    edges = frame("merges", *(edge(newer=str(n), older=str(n - 1)) for n in range(1, 30)))
    rows = frame("observations", *(said(str(n), text) for n, text in enumerate(texts)))
    answers = AnswerStore(tmp_path)
    first, second = plan_questions(edges, rows, "large", answers, lambda _: True)
    assert (len(first.pairs), len(second.pairs)) == (20, 9)
    material = first.request().material
    assert material.index(first.pairs[0][0]) < material.index(first.pairs[0][1])
    verdicts = '<verdict pair="2">same</verdict>\n<verdict pair="5">different</verdict>'
    answers.write(answered(verdicts, question=first))
    assert plan_questions(edges, rows, "large", answers, lambda _: True) == [second]
    decided = decide(edges, rows, answers.every())
    reasons = decided.filter(decided["reason"] != "near").select("relation", "reason").rows()
    assert sorted(reasons) == [
        ("doubtful", "different by a model"),
        ("same", "same claim by a model"),
    ]


def test_only_what_would_change_the_memories_is_asked(tmp_path: Path):
    answers, third = AnswerStore(tmp_path), said("3", "The importer does not take empty files.")
    rows = (said("1", OLDER), said("2", NEWER), third)
    both = [edge(newer="3", older="1", near=0.9), edge(newer="3", older="2", near=0.95)]
    nearest = (NEWER, third["text"])
    assert plan(answers, both, *rows) == [nearest]
    assert plan(answers, [*both, edge("same", "3", "2")], *rows) == []
    assert plan(answers, [*both, edge("conflict", "3", "2")], *rows) == [(OLDER, third["text"])]
    answers.write(answered("<verdict>different</verdict>", question=asking(nearest)))
    assert plan(answers, both, *rows) == [(OLDER, third["text"])]
