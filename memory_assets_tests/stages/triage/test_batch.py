"""A model's reviews: asked once, kept raw, checked before they decide; without a model a person decides as before."""

import re
from pathlib import Path
from typing import Any

import pytest

from memory_assets.adapters.anthropic_model import AnthropicModel
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.triage import batch
from memory_assets.stages.triage.batch import (
    ask_in_batches,
    of_first_batch,
    plan_reviews,
    promoted_entries,
    read_verdicts,
)
from memory_assets.stages.triage.page import MOST_ASKED
from memory_assets.stages.triage.run import waits_for_review
from memory_assets_tests.messages_api import KEY, MODELS, MessagesApi, Said, serve
from memory_assets_tests.stages.triage.test_sensitive import LINES, ORDINARY
from memory_assets_tests.stages.triage.world import World

DATES, GAUGE, TIDY = (
    "Write dates the British way.",
    "The gauge feed lags by one hour.",
    "The owner tidied the harbour list today.",
)
VERDICTS = {
    DATES: ("promote", "Write dates the British way, never another."),
    GAUGE: ("review", "Does it lag in winter, too?"),
    TIDY: ("reject", "says what happened that day"),
}


def material_of(body: dict[str, Any]) -> str:
    return body["messages"][0]["content"][-1]["text"]


def proposed_in(body: dict[str, Any]) -> list[tuple[str, str]]:
    return re.findall(r"^\[(p-\d{8}-\d{3,});[^\]]*\] (.*)$", material_of(body), re.M)


def reviewer(body: dict[str, Any]) -> str:
    """Says of each proposal what it was told to."""
    said = [
        (id, *VERDICTS.get(text, ("review", "What does it mean?")))
        for id, text in proposed_in(body)
    ]
    return "\n".join(
        f'<decision id="{id}" verdict="{verdict}">{text}</decision>' for id, verdict, text in said
    )


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def answers(world: World) -> AnswerStore:
    return AnswerStore(world.root / "answers" / "triage")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def review(world: World, api: MessagesApi, answers: AnswerStore) -> int:
    """Lets the model behind the address review what waits, as the pipeline does, and returns the calls it took."""
    model = AnthropicModel(MODELS[0], url=api.url, timeout_seconds=10, retries=0)
    waiting = waits_for_review(world.tables, read_verdicts(answers.every()))
    questions = plan_reviews(waiting, {}, model.name, answers)
    ask_in_batches(questions, model, answers, world.clock)
    world.tables.write("model_reviews", "all", read_verdicts(answers.every()))
    return len(questions)


def test_a_model_promotes_in_clean_words_rejects_with_a_reason_and_leaves_the_rest(
    world: World, answers: AnswerStore
):
    dates, gauge, tidy = world.propose(DATES, GAUGE, TIDY, section="Patterns")
    world.triage()
    with serve(reviewer) as api:
        assert review(world, api, answers) == 2
    states = world.triage()
    name = answers_model(answers)
    assert states == {
        dates: ("promoted", f"{name} found it worth keeping"),
        gauge: ("pending", f"{name} asks: Does it lag in winter, too?"),
        tidy: ("rejected", f"{name}: says what happened that day"),
    }
    assert world.entries() == ["- (2026-08-03) Write dates the British way, never another."]
    tiers = dict(world.tables.read("decisions").select("proposal_id", "tier").iter_rows())
    assert tiers == {dates: 2, gauge: 3, tidy: 2}
    assert world.triage() == states


def answers_model(answers: AnswerStore) -> str:
    return next(answers.every()).answer.model


def test_an_answer_is_on_disk_before_it_is_read_and_read_again_without_asking(
    world: World, answers: AnswerStore
):
    world.propose(DATES, GAUGE, section="Patterns")
    world.triage()
    with serve(reviewer) as api:
        review(world, api, answers)
        kept, _ = sorted(answers.every(), key=lambda kept: kept.key.parameters)
        assert (kept.key.serialiser, kept.answer.text) == ("batch/2", reviewer(api.questions()[0]))
        assert proposed_in(api.questions()[0]) == proposed_in(api.questions()[1])[::-1]
    assert read_verdicts(answers.every()).height == 2


def test_a_batch_sees_what_an_earlier_one_promoted_and_what_the_others_ask_about(
    world: World, answers: AnswerStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(batch, "IN_A_BATCH", 1)
    world.propose(DATES, GAUGE, section="Patterns")
    world.triage()
    model = AnthropicModel(MODELS[0], url="http://x", timeout_seconds=1, retries=0)
    waiting = waits_for_review(world.tables, read_verdicts(answers.every()))
    planned = plan_reviews(waiting, {}, model.name, answers)
    first = of_first_batch(planned)
    assert [len(planned), len(first)] == [4, 2]
    assert GAUGE in first[0].request.material.partition("others")[2].partition("proposals")[0]
    with serve(reviewer) as api:
        ask_in_batches(first, AnthropicModel(MODELS[0], url=api.url), answers, world.clock)
    reviews = read_verdicts(answers.every())
    entries = promoted_entries({row["proposal_id"]: row for row in waiting}, reviews)
    rest = plan_reviews(waits_for_review(world.tables, reviews), entries, model.name, answers)
    assert all(VERDICTS[DATES][1] in question.request.material for question in rest)
    assert [len(rest), of_first_batch([])] == [2, []]


def test_two_answers_that_differ_leave_it_to_a_person(world: World, answers: AnswerStore):
    dates, gauge, tidy = world.propose(DATES, GAUGE, TIDY, section="Patterns")
    world.triage()
    count = iter(range(2))

    def fickle(body: dict[str, Any]) -> str:
        said = [("promote", DATES), ("promote", GAUGE), ("reject", "passes")]
        other = [("reject", "anybody knows it"), ("review", "Which feed?"), ("reject", "passes")]
        verdicts = dict(zip((dates, gauge, tidy), (said, other)[next(count)], strict=True))
        return "\n".join(
            f'<decision id="{id}" verdict="{v}">{text}</decision>'
            for id, (v, text) in verdicts.items()
        )

    with serve(fickle) as api:
        assert review(world, api, answers) == 2
    name, states = answers_model(answers), world.triage()
    assert states[dates] == (
        "pending",
        f"{name} asks: one of two answers keeps it as “{DATES}”, the other does not: anybody knows it",
    )
    assert states[gauge] == ("pending", f"{name} asks: Which feed?")
    assert states[tidy] == ("rejected", f"{name}: passes")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Said("I would promote all of them."), "the model said nothing about it"),
        (
            Said('<decision id="p-20990101-001" verdict="promote">Trust me.</decision>'),
            "the model said nothing about it",
        ),
        (
            Said('<decision id="p-20260803-001" verdict="rej', "max_tokens"),
            "the model's answer ended early (max_tokens)",
        ),
        (Said("", "refusal"), "the model's answer ended early (refusal)"),
    ],
)
def test_what_is_no_verdict_leaves_it_to_a_person(
    world: World, answers: AnswerStore, said: Said, reason: str
):
    (dates,) = world.propose(DATES, section="Patterns")
    world.triage()
    with serve(lambda body: said) as api:
        review(world, api, answers)
    assert world.triage()[dates] == ("pending", f"{answers_model(answers)} asks: {reason}")


@pytest.mark.parametrize(
    ("wording", "author", "section", "state", "why"),
    [
        (
            "Write dates as in `locale/en_GB.json`.",
            "owner",
            "Patterns",
            "promoted",
            "its wording names",
        ),
        ("x" * 400, "owner", "Patterns", "promoted", "its wording has 400 characters"),
        (DATES, "assistant", "Hard Rules", "pending", "takes only the owner's own words"),
    ],
)
def test_a_promotion_that_cannot_be_checked_has_the_words_of_the_proposal_or_waits(
    world: World,
    answers: AnswerStore,
    monkeypatch: pytest.MonkeyPatch,
    wording: str,
    author: str,
    section: str,
    state: str,
    why: str,
):
    (dates,) = world.propose(DATES, section=section, author=author)
    world.triage()
    monkeypatch.setitem(VERDICTS, DATES, ("promote", wording))
    with serve(reviewer) as api:
        review(world, api, answers)
    decided, reason = world.triage()[dates]
    assert (decided, why in reason) == (state, True)
    assert world.entries() == ([f"- (2026-08-03) {DATES}"] if state == "promoted" else [])


def test_sensitive_lines_of_two_sessions_wait_though_a_model_would_promote_them_and_ordinary_ones_need_nobody(
    world: World, answers: AnswerStore, monkeypatch: pytest.MonkeyPatch
):
    hostile = world.propose(*(text for _, text in LINES), sessions=2)
    ordinary = world.propose(*ORDINARY, sessions=2)
    for _, text in LINES:
        monkeypatch.setitem(VERDICTS, text, ("promote", text))
    first = world.triage()
    with serve(reviewer) as api:
        assert review(world, api, answers) > 0
    states = {id: state for id, (state, _) in world.triage().items()}
    assert {id for id, state in states.items() if state == "promoted"} == set(ordinary)
    assert len(world.entries()) == len(ordinary)
    assert {states[id] for id in hostile} <= {"pending", "merged"}
    waiting = [id for id in hostile if states[id] == "pending"]
    assert len(waiting) > 30
    surface = world.review_md.read_text()
    assert surface.count("only a person can approve this_") == MOST_ASKED
    assert all("only a person can approve this" in first[id][1] for id in waiting)


def test_words_that_a_person_changed_meanwhile_are_theirs(world: World, answers: AnswerStore):
    (tidy,) = world.propose(TIDY, section="Patterns")
    world.triage()
    with serve(reviewer) as api:
        review(world, api, answers)
    world.ledger.append(
        "proposal.edited",
        tidy,
        {"text": "The harbour list is kept in order of size."},
        actor="mira",
    )
    assert world.triage()[tidy][0] == "pending"
