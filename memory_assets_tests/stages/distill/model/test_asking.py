"""Asking: every answer stored before anyone reads it, nothing asked twice, failures told apart."""

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory_assets.errors import (
    ModelBusyError,
    ModelError,
    ModelRequestError,
    ModelSetupError,
    ModelSilentError,
)
from memory_assets.schema.protocols import Batch, Image, ModelRequest
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.model.asking import BatchQueue, ModelAsker
from memory_assets.stages.distill.model.established import (
    established_id,
    find_established,
)
from memory_assets.stages.distill.model.material import EarlierMemory, ShownFact
from memory_assets.stages.distill.model.questions import ObserverQuestion, plan_questions, status_of
from memory_assets.stages.distill.model.short_sessions import questions_about
from memory_assets.stages.distill.model.usable import IS_EMPTY
from memory_assets_tests.stages.distill.models import START, ScriptedModel
from memory_assets_tests.stages.distill.sessions import messages, said, window

ANSWER = "- 🔴 [gate=allow confidence=0.9] Use uv, never pip"


def questions(count: int, **more) -> list[ObserverQuestion]:
    """One question about each of as many windows."""
    found = []
    for number in range(count):
        rows = said(
            {"author": "owner", "text": f"use uv here, never pip {number}", **more},
            window_id=f"{number:064d}",
        )
        rows[0]["message_id"] = f"msg_{number}"
        found += plan_questions(
            window(rows, session_id=f"session-{number}"),
            messages(rows),
            ScriptedModel.name,
            ZoneInfo("UTC"),
        )
    return found


@dataclass
class Desk:
    """A model with an answer store and a place for batches."""

    folder: Path
    model: ScriptedModel
    waited: list[float] = field(default_factory=list)

    @property
    def answers(self) -> AnswerStore:
        return AnswerStore(self.folder / "answers")

    def asker(self, **how) -> ModelAsker:
        return ModelAsker(self.model, self.answers, lambda: START, at_once=2, **how)

    def ask(self, asked: list[ObserverQuestion], **how) -> None:
        self.asker(**how).ask_all([status_of(question, self.answers) for question in asked])

    def batches(self, model: ScriptedModel | None = None, sleep=None) -> BatchQueue:
        return BatchQueue(
            self.folder / "batches", model or self.model, lambda: START, sleep or self.waited.append
        )

    def ask_in_batches(self, asked: list[ObserverQuestion], **how) -> None:
        statuses = [status_of(question, self.answers) for question in asked]
        self.asker().ask_in_batches(statuses, self.batches(**how))

    def states(self, asked: list[ObserverQuestion]) -> list[str]:
        return [status_of(question, self.answers).state for question in asked]


def test_every_question_is_asked_once_and_its_raw_answer_is_kept(tmp_path: Path):
    desk, asked = Desk(tmp_path, ScriptedModel(ANSWER)), questions(5)
    desk.ask(asked)
    desk.ask(asked)
    assert len(desk.model.asked) == 5
    assert {kept.answer.text for kept in desk.answers.every()} == {ANSWER}


def die(seconds: float) -> None:
    raise KeyboardInterrupt


BOTH_WAYS = pytest.mark.parametrize("way", [Desk.ask, Desk.ask_in_batches])


@BOTH_WAYS
def test_an_answer_that_cannot_be_used_is_asked_for_once_more(tmp_path: Path, way):
    desk, asked = (
        Desk(tmp_path, ScriptedModel("I cannot help with this transcript.", ANSWER)),
        questions(1),
    )
    way(desk, asked)
    assert desk.states(asked) == ["answered"]
    first, second = desk.model.asked
    assert second.material.startswith(first.material)
    assert "Your last answer to this could not be used. The answer has no facts" in second.material
    assert {kept.answer.text for kept in desk.answers.every()} == {
        "I cannot help with this transcript.",
        ANSWER,
    }


def short(*numbers: int) -> list[ObserverQuestion]:
    """Questions about short sessions, each with a rule of its own."""
    found = []
    for number in numbers:
        rows = said(("owner", f"use uv here, never pip {number}"), window_id=f"{number:064d}")
        rows[0] |= {"message_id": f"msg_{number}", "event_at": START + timedelta(minutes=number)}
        about = window(rows, status="short", session_id=f"session-{number}")
        found += questions_about(about, messages(rows), ScriptedModel.name, ZoneInfo("UTC"))
    return found


def part(number: int, rule: int) -> str:
    return f'<session number="{number}">\n{ANSWER} {rule}\n</session>'


@BOTH_WAYS
def test_short_sessions_share_a_request_and_a_new_one_never_asks_about_an_old_one_again(
    tmp_path: Path, way
):
    desk = Desk(tmp_path, ScriptedModel(part(1, 1) + part(2, 2), part(1, 3)))
    way(desk, short(1, 2))
    way(desk, short(1, 2, 3))
    assert ["never pip 1" in one.material for one in desk.model.asked] == [True, False]
    assert desk.states(short(1, 2, 3)) == ["answered"] * 3
    kept = [status_of(question, desk.answers).kept.answer for question in short(1, 2, 3)]
    assert [one.text for one in kept] == [f"{ANSWER} {number}" for number in (1, 2, 3)]
    assert sum(one.input_tokens for one in kept) == sum(
        len(one.material) // 4 for one in desk.model.asked
    )


@BOTH_WAYS
def test_a_session_that_an_answer_lacks_is_asked_about_once_more_alone(tmp_path: Path, way):
    desk = Desk(tmp_path, ScriptedModel(part(1, 1), part(1, 2)))
    way(desk, short(1, 2))
    assert desk.states(short(1, 2)) == ["answered", "answered"]
    (_, alone) = desk.model.asked
    assert "never pip 2" in alone.material and "never pip 1" not in alone.material
    assert "has no complete part about this one" in alone.material


@BOTH_WAYS
def test_a_request_about_several_sessions_that_is_rejected_is_repeated_for_each(
    tmp_path: Path, way
):
    desk = Desk(tmp_path, ScriptedModel(ModelRequestError("rejected"), part(1, 1)))
    way(desk, short(1, 2, 3))
    assert (desk.states(short(1, 2, 3)), len(desk.model.asked)) == (["answered"] * 3, 4)


@BOTH_WAYS
def test_an_overload_leaves_short_sessions_open(tmp_path: Path, way):
    desk = Desk(tmp_path, ScriptedModel(ModelBusyError("busy")))
    with pytest.raises(ModelBusyError):
        way(desk, short(1, 2))
    assert desk.states(short(1, 2)) == ["open", "open"]


def test_a_killed_process_splits_the_answer_of_its_batch_later(tmp_path: Path):
    desk = Desk(tmp_path, ScriptedModel(part(1, 1) + part(2, 2)))
    desk.model.polls_needed = 1
    with pytest.raises(KeyboardInterrupt):
        desk.ask_in_batches(short(1, 2), sleep=die)
    desk.ask_in_batches([])
    assert (desk.states(short(1, 2)), len(desk.model.handed_in)) == (["answered", "answered"], 1)


PARTS = (
    (
        "use uv here, never pip",
        "- 🔴 [gate=allow confidence=0.9] Use uv here, never pip\n- 🟢 [gate=hold] pip is slow",
    ),
    (
        "no wait, pip is fine in the sandbox",
        "- 🔴 [gate=allow] pip is fine in the sandbox [replaces: mem_0123456789ab]",
    ),
)


def parts() -> list[ObserverQuestion]:
    """Questions about two windows of one session, the second window first."""
    found = []
    for number, (text, _) in enumerate(PARTS):
        rows = said(("owner", text), window_id=f"{9 - number:064d}")
        rows[0]["message_id"] = f"msg_{number}"
        about = window(rows, started_at=START + timedelta(hours=number))
        found += plan_questions(about, messages(rows), ScriptedModel.name, ZoneInfo("UTC"))
    return found[::-1]


@pytest.mark.parametrize("way", ["at once", "in batches"])
def test_parts_of_a_session_are_asked_in_order_and_are_shown_what_came_before(
    tmp_path: Path, way: str
):
    desk, asked = Desk(tmp_path, ScriptedModel(*(answer for _, answer in PARTS))), parts()

    def established(question: ObserverQuestion) -> list[ShownFact]:
        return find_established([one for one in asked if one.place < question.place], desk.answers)

    statuses, asker = (
        [status_of(question, desk.answers) for question in asked],
        desk.asker(established=established),
    )
    if way == "in batches":
        asker.ask_in_batches(statuses, desk.batches())
    else:
        asker.ask_all(statuses)
    first, second = (request.material for request in desk.model.asked)
    assert ("use uv here" in first, "established earlier" in first) == (True, False)
    shown = f"[memory id: {established_id(asked[1].window_id, 'Use uv here, never pip')}] Use uv here, never pip"
    assert shown in second and "pip is slow" not in second
    assert (
        second.index("established earlier in this session")
        < second.index(shown)
        < second.index("pip is fine in the sandbox")
    )
    assert desk.states(asked) == ["answered", "answered"]


@BOTH_WAYS
@pytest.mark.parametrize("failure", ["", ModelRequestError("too large"), ModelError("is not JSON")])
def test_what_fails_is_sent_twice_stops_no_other_and_is_never_sent_again(
    tmp_path: Path, way, failure
):
    class Failing(ScriptedModel):
        def _next(self, request: ModelRequest):
            self.answers = [failure if "pip 0" in request.material else ANSWER]
            return super()._next(request)

    desk, asked = Desk(tmp_path, Failing()), questions(3)
    for _ in range(3):
        way(desk, asked)
    assert desk.states(asked) == ["unusable", "answered", "answered"]
    assert len(desk.model.asked) == 4
    assert not any("Your last answer" in request.material for request in desk.model.asked)
    attempts = status_of(asked[0], desk.answers).attempts
    assert [attempt.fault for attempt in attempts] == [str(failure) or IS_EMPTY] * 2
    for attempt in attempts:
        desk.answers.put_aside(attempt)
    assert (desk.states(asked)[0], len([*desk.answers.every()])) == ("open", 4)


def test_a_model_that_is_silent_ends_the_run_and_is_asked_the_same_once_more(tmp_path: Path):
    desk, asked = Desk(tmp_path, ScriptedModel(ModelSilentError("silent"))), questions(1)
    for _ in range(2):
        with pytest.raises(ModelSilentError):
            desk.ask(asked)
    desk.ask(asked)
    assert (desk.states(asked), len(desk.model.asked)) == (["unusable"], 2)


@pytest.mark.parametrize("error", [ModelSetupError("wrong key"), ModelBusyError("overloaded", 3.0)])
def test_what_stops_all_questions_stops_at_once_and_keeps_what_was_answered(
    tmp_path: Path, error: ModelError
):
    desk, asked = Desk(tmp_path, ScriptedModel(ANSWER, error)), questions(40)
    with pytest.raises(type(error), match=str(error)):
        desk.ask(asked)
    assert desk.states(asked).count("answered") == 1
    assert len(desk.model.asked) <= 3
    desk.model.answers = [ANSWER]
    desk.ask(asked)
    assert desk.states(asked) == ["answered"] * 40


def test_what_was_shown_is_noted_with_the_answer(tmp_path: Path):
    desk, asked = Desk(tmp_path, ScriptedModel(ANSWER)), questions(1)
    memory = EarlierMemory("mem_0123456789ab", "Use uv.", frozenset(), 1.0, START, "shop", None)
    desk.ask(asked, earlier=lambda _: [memory])
    assert "[memory id: mem_0123456789ab] Use uv." in desk.model.asked[0].material
    assert status_of(asked[0], desk.answers).kept.shown_ids == ("mem_0123456789ab",)


def test_a_model_that_cannot_see_is_asked_without_the_pictures(tmp_path: Path):
    class Blind(ScriptedModel):
        def ask(self, request: ModelRequest):
            if request.images:
                raise ModelRequestError("no pictures here")
            return super().ask(request)

    desk, asked = Desk(tmp_path, Blind(ANSWER)), questions(1, image_count=1)
    desk.ask(asked, images=lambda _: {"msg_0": [Image("image/png", b"x")]})
    assert desk.states(asked) == ["answered"]


def test_a_batch_is_waited_for_and_costs_half(tmp_path: Path):
    desk, asked = Desk(tmp_path, ScriptedModel(ANSWER)), questions(4)
    desk.model.polls_needed = 3
    desk.ask_in_batches(asked)
    assert desk.states(asked) == ["answered"] * 4
    assert all(kept.answer.is_batch for kept in desk.answers.every())
    assert (len(desk.model.handed_in), desk.waited, desk.batches().files()) == (1, [30.0] * 3, [])


def test_a_batch_that_an_earlier_process_handed_in_is_collected_and_not_paid_again(tmp_path: Path):
    desk, asked = Desk(tmp_path, ScriptedModel(ANSWER)), questions(3)
    desk.model.polls_needed = 1
    with pytest.raises(KeyboardInterrupt):
        desk.ask_in_batches(asked, sleep=die)
    assert [file.batch_id for file in desk.batches().files()] == ["batch_1"]
    desk.ask_in_batches(asked)
    assert (desk.states(asked), list(desk.model.handed_in)) == (["answered"] * 3, ["batch_1"])


def test_a_batch_whose_id_was_never_noted_is_found_again_by_its_questions(tmp_path: Path):
    desk, asked = Desk(tmp_path, ScriptedModel(ANSWER)), questions(3)

    class Killed(ScriptedModel):
        def submit(self, requests) -> Batch:
            desk.model.submit({f"other{n}": r for n, r in enumerate(requests.values())})
            desk.model.submit(requests)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        desk.ask_in_batches(asked, model=Killed(ANSWER))
    assert [file.batch_id for file in desk.batches().files()] == [None]
    desk.ask_in_batches(asked)
    assert (desk.states(asked), list(desk.model.handed_in)) == (
        ["answered"] * 3,
        ["batch_1", "batch_2"],
    )


def test_a_batch_that_was_never_sent_is_handed_in_again(tmp_path: Path):
    desk, asked = Desk(tmp_path, ScriptedModel(ANSWER)), questions(2)

    class Unreachable(ScriptedModel):
        def submit(self, requests) -> Batch:
            raise ModelBusyError("no network")

    with pytest.raises(ModelBusyError):
        desk.ask_in_batches(asked, model=Unreachable(ANSWER))
    desk.ask_in_batches(asked)
    assert (desk.states(asked), len(desk.model.handed_in)) == (["answered"] * 2, 1)


def test_a_batch_that_the_provider_forgot_is_handed_in_again(tmp_path: Path):
    desk, asked = Desk(tmp_path, ScriptedModel(ANSWER)), questions(2)

    class Forgetful(ScriptedModel):
        def batch(self, batch_id: str) -> Batch:
            if batch_id == "batch_1":
                raise ModelRequestError("no such batch")
            return super().batch(batch_id)

    desk.model = Forgetful(ANSWER)
    desk.ask_in_batches(asked)
    assert desk.states(asked) == ["answered"] * 2
    assert list(desk.model.handed_in) == ["batch_1", "batch_2"]


def test_a_batch_on_file_that_cannot_be_read_is_named(tmp_path: Path):
    (tmp_path / "batches").mkdir()
    (tmp_path / "batches" / "000001.json").write_text("{")
    with pytest.raises(Exception, match="000001.json"):
        Desk(tmp_path, ScriptedModel(ANSWER)).batches().files()
