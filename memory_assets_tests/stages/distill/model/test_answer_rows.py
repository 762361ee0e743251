"""Rows of observer_answers: what was paid, how it stands, and which answer is about which messages."""

from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory_assets.schema.frames import check, frame_of
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.stages.distill.model.answer_rows import (
    answer_row,
    answers_by_window,
    open_work_of,
    plan_uses,
)
from memory_assets.stages.distill.model.answers import AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.observer import Answered
from memory_assets.stages.distill.model.questions import ObserverQuestion, plan_questions, status_of
from memory_assets_tests.stages.distill.sessions import messages, said, window

NOW = datetime(2026, 9, 1, tzinfo=UTC)
DAY = date(2026, 9, 1)
TEXT = (
    "<segment><narrative>uv it is.</narrative><facts>\n- 🔴 [gate=allow] Use uv, never pip [memory id: mem_0123456789ab]\n</facts></segment>"
    "<current-task>Packages</current-task><suggested-response>Go on.</suggested-response>"
)
ROWS = said(("owner", "no, use uv here, never pip"), ("assistant", "Understood."))


def question() -> ObserverQuestion:
    (found,) = plan_questions(window(ROWS), messages(ROWS), "scripted-1", ZoneInfo("Asia/Tokyo"))
    return found


def keep(store: AnswerStore, asked: ObserverQuestion, fault: str = "", **how) -> None:
    answer = ModelAnswer(
        **{
            "text": TEXT,
            "model": "scripted-1-0701",
            "input_tokens": 100,
            "output_tokens": 20,
            "seconds": 1.5,
            **how,
        }
    )
    store.write(
        StoredAnswer(asked.key, answer, NOW, ("mem_0123456789ab", "mem_ffffffffffff"), fault)
    )


def row_of(store: AnswerStore, price=lambda answer: answer.output_tokens / 1_000) -> dict:
    row = answer_row(status_of(question(), store), DAY, price)
    check("observer_answers", frame_of("observer_answers", [row]))
    return row


def test_an_answer_tells_who_gave_it_what_it_took_and_how_it_was_read(tmp_path: Path):
    store = AnswerStore(tmp_path)
    keep(store, question())
    row = row_of(store)
    assert (row["state"], row["model"], row["answered_by"], row["attempts"]) == (
        "answered",
        "scripted-1",
        "scripted-1-0701",
        1,
    )
    assert (row["input_tokens"], row["output_tokens"], row["cost_usd"], row["seconds"]) == (
        100,
        20,
        0.02,
        1.5,
    )
    assert (row["parse_path"], row["fact_count"]) == ("segments", 1)
    assert (row["current_task"], row["suggested_response"]) == ("Packages", "Go on.")
    assert (row["shown_ids"], row["cited_ids"]) == (
        ["mem_0123456789ab", "mem_ffffffffffff"],
        ["mem_0123456789ab"],
    )


def test_a_refusal_leaves_no_answer_and_says_so(tmp_path: Path):
    store = AnswerStore(tmp_path)
    keep(store, question(), text="", stop_reason="refusal")
    row = row_of(store)
    assert (row["state"], row["answer"], row["problem"], row["attempts"]) == (
        "refused",
        None,
        "The model refused.",
        1,
    )


def test_an_answer_that_could_not_be_used_twice_leaves_none_and_says_so(tmp_path: Path):
    store = AnswerStore(tmp_path)
    keep(store, question(), "The answer is empty.", text="")
    row = row_of(store)
    assert (row["state"], row["problem"], row["cost_usd"]) == (
        "failed",
        "The answer is empty.",
        0.02,
    )
    keep(store, question().wider, "The answer has no facts.", text="Sorry.")
    row = row_of(store)
    assert (row["state"], row["answer"], row["attempts"]) == ("unusable", None, 2)
    assert row["problem"] == "The answer has no facts. The model was asked twice."


@pytest.mark.parametrize(
    ("task", "response", "found"),
    [
        ("Primary: packages\nSecondary: none", "Go on.", ("Primary: packages", "Go on.")),
        (
            "Primary: packages\nSecondary: the release",
            "",
            ("Primary: packages; Secondary: the release", ""),
        ),
        ("Primary: none", "n/a", ("", "")),
        ("Packages", "The user wants conda in every session.", ("Packages", "")),
    ],
)
def test_open_work_is_one_line_without_what_nobody_asked_for(
    tmp_path: Path, task: str, response: str, found: tuple[str, str]
):
    store, told = (
        AnswerStore(tmp_path),
        f"<current-task>{task}</current-task><suggested-response>{response}</suggested-response>",
    )
    keep(store, question(), text=f"- 🔴 [gate=allow] Use uv, never pip\n{told}")
    row = row_of(store)
    assert open_work_of(frame_of("observer_answers", [row])) == {row["window_id"]: found}


def test_the_observer_gets_the_text_of_each_answer_and_none_where_there_is_none(tmp_path: Path):
    store = AnswerStore(tmp_path)
    keep(store, question())
    row = row_of(store)
    refused = {**row, "ordinal": 1, "row_from": 2, "row_to": 3, "answer": None, "state": "refused"}
    key = question().key
    assert answers_by_window(frame_of("observer_answers", [refused, row]), store) == {
        row["window_id"]: [
            Answered(0, 1, "scripted-1", key.prompt_hash, TEXT, ZoneInfo("Asia/Tokyo")),
            Answered(2, 3, "scripted-1", key.prompt_hash, None),
        ]
    }


def test_memories_that_an_answer_cites_were_used_when_it_came(tmp_path: Path):
    store = AnswerStore(tmp_path)
    keep(store, question())
    rows = frame_of("observer_answers", [row_of(store)])
    cited = "01234567-89ab-5000-8000-000000000000"
    (event,) = plan_uses(rows, [cited, "ffffffff-ffff-5000-8000-000000000000"])
    assert (event.kind, event.payload) == (
        "memory.used",
        {"memory_ids": [cited], "at": NOW.isoformat()},
    )
    assert plan_uses(rows, [cited]) == [event]
    assert plan_uses(rows, []) == []
