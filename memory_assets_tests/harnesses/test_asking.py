"""Questions that a harness asks for the agent are the agent's, the answers the person's, in the order of the questions."""

import json

import pytest

from memory_assets.harnesses.normal_form import Parsed
from memory_assets.harnesses.readers import open_reader

PORT, TIDE = "Which port?", "Which tide table?"


def claude_code(outcome: dict) -> list[dict]:
    asks = {
        "type": "tool_use",
        "id": "c1",
        "name": "AskUserQuestion",
        "input": {"questions": [{"question": PORT}, {"question": TIDE}]},
    }
    result = {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": "User has answered your questions.",
    }
    return [
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [asks]}},
        {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": outcome},
    ]  # fmt: skip


def codex(answers: dict, *, is_secret: bool = False) -> list[dict]:
    questions = [
        {"id": "p", "question": PORT, "isSecret": is_secret},
        {"id": "t", "question": TIDE},
    ]
    arguments = json.dumps({"questions": questions})
    call = {
        "type": "function_call",
        "name": "request_user_input",
        "call_id": "c1",
        "arguments": arguments,
    }
    output = {
        "type": "function_call_output",
        "call_id": "c1",
        "output": json.dumps({"answers": answers}),
    }
    return [{"type": "response_item", "payload": item} for item in (call, output)]  # fmt: skip


def read(harness: str, records: list[dict]) -> list[Parsed]:
    reader = open_reader(harness, "s.jsonl")
    return [reader.read(json.dumps(record).encode()) for record in records]


NOTED = {PORT: {"notes": "not the old one"}}


@pytest.mark.parametrize(
    ("harness", "records"),
    [
        ("claude_code", claude_code({"answers": {TIDE: "Leith", PORT: "5432"}, "annotations": NOTED})),
        ("codex", codex({"t": {"answers": ["Leith"]}, "p": {"answers": ["5432", "user_note: not the old one"]}})),
    ],
)  # fmt: skip
def test_questions_are_the_agents_and_answers_the_persons(harness: str, records: list[dict]):
    asked, answered = read(harness, records)
    assert (asked.author, asked.kind, asked.text.splitlines()[:2]) == (
        "assistant",
        "text",
        [PORT, TIDE],
    )
    assert (answered.author, answered.kind, answered.text) == (
        "owner",
        "text",
        "5432: not the old one\nLeith",
    )


def test_the_answer_to_a_question_about_a_secret_is_not_read():
    asked, answered = read("codex", codex({"p": {"answers": ["hunter2"]}, "t": {"answers": ["Leith"]}}, is_secret=True))  # fmt: skip
    assert asked.text.splitlines()[0] == TIDE
    assert answered.text == "Leith"


@pytest.mark.parametrize("output", ["cancelled", "{}", '{"answers": []}', '{"answers": {"p": 1}}'])
def test_a_result_of_another_form_is_the_tools(output: str):
    records = codex({})
    records[1]["payload"]["output"] = output
    assert read("codex", records)[1].author == "tool"
