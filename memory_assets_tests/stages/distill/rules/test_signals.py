"""What is said in places that are made for it: answers, refusals, notes, and files of instructions that the owner named."""

import json

import polars as pl
import pytest

from memory_assets.stages.distill.day import build_day
from memory_assets.stages.distill.rules.candidates import Candidate
from memory_assets.stages.distill.rules.signals import MOST_WRITTEN, find_signals
from memory_assets_tests.stages.distill.sessions import messages, said, window, windows

QUESTION = "Which queue should the relay use?"
ASKS = {
    "author": "assistant", "tool_name": "AskUserQuestion",
    "text": f'{QUESTION}\n[toolCall AskUserQuestion({{"questions":[{{"options":[{{"label":"A table in Postgres"}}]}}]}})]',
}  # fmt: skip
TURN = ("owner", "set up the relay of the tide service")


def answer(text: str) -> dict:
    return {"author": "owner", "tool_name": "AskUserQuestion", "text": text, "is_user_turn": False}


def signals(*turns) -> list[Candidate]:
    return [*find_signals(said(*turns))]


def test_an_answer_is_a_fact_of_the_owner_with_the_agents_question():
    (fact,) = signals(TURN, ASKS, answer("A table in Postgres"))
    assert (fact.text, fact.quote) == (f"{QUESTION} A table in Postgres", "A table in Postgres")
    assert (fact.kind, fact.author, fact.priority, fact.lines) == ("answer", "owner", "low", (2, 4))
    described = '"A table in Postgres", "description": "Jobs are rows. It needs no server."'
    asks = {**ASKS, "text": ASKS["text"].replace('"A table in Postgres"', described)}
    (whole,) = signals(TURN, asks, answer("A table in Postgres"))
    assert (whole.text, whole.quote) == (f"{fact.text}: Jobs are rows.", fact.quote)


@pytest.mark.parametrize(
    "turns", [(ASKS, answer("Does it need to scale?")), (ASKS, answer("one\ntwo")), (answer("A table in Postgres"),)]
)  # fmt: skip
def test_a_question_back_and_an_answer_without_its_question_are_none(turns: tuple):
    assert signals(TURN, *turns) == []


def test_an_order_in_the_owners_own_answer_is_a_rule_and_in_an_option_it_is_none():
    order = "never write to the tide table from a trigger"
    kinds = [fact.kind for fact in signals(TURN, ASKS, answer(order))]
    assert kinds == ["rule"]
    offered = {**ASKS, "text": ASKS["text"].replace("A table in Postgres", order)}
    assert [fact.kind for fact in signals(TURN, offered, answer(order))] == ["answer"]


def test_the_reason_for_a_refusal_is_the_owners():
    reason = {"author": "owner", "text": "the release branch is frozen until Monday", "tool_name": "Bash", "is_error": True}  # fmt: skip
    (fact,) = signals(TURN, reason)
    assert (fact.text, fact.author, fact.priority) == (reason["text"], "owner", "low")


@pytest.mark.parametrize(
    ("turn", "text", "kind"),
    [
        ("remember that Maria signs off the tide tables", "Maria signs off the tide tables", "fact"),
        ("# the gauge at Leith is two minutes late", "the gauge at Leith is two minutes late", "fact"),
        ("please remember: never restart the relay at high tide", "never restart the relay at high tide", "rule"),
        ("remember that?", None, None),
        ("Remember to push it", None, None),
        ("thanks! Remember that Maria signs the tide tables.\n\nnow the docs", "Maria signs the tide tables", "fact"),
        ("# Relay\n\nThe relay reads the tide tables.", None, None),
    ],
)  # fmt: skip
def test_what_is_to_be_remembered_is_kept(turn: str, text: str | None, kind: str | None):
    facts = [(fact.text.casefold().rstrip("."), fact.kind) for fact in signals(("owner", turn))]
    assert facts == ([(text.casefold(), kind)] if text else [])


RULE = "Every change of the relay has an entry in the changelog."
EDITS = [
    f'Edit({json.dumps({"file_path": "/w/CLAUDE.md", "old_string": "# Relay", "new_string": f"# Relay{chr(10)}- {RULE}"})})',
    f'edit({json.dumps({"path": "AGENTS.md", "oldText": "", "newText": RULE})})',
    f'Write({json.dumps({"file_path": "CLAUDE.md", "content": f"{RULE} And more that was cu"})[:-2]}…)',
    f"apply_patch(*** Begin Patch\n*** Update File: AGENTS.md\n+- {RULE}\n-The old one was never read by anybody.\n*** End Patch)",
]  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_what_is_written_into_a_file_of_instructions_that_the_owner_named_is_the_assistants(
    edit: str,
):
    call = {"author": "assistant", "kind": "tool_call", "text": f"[toolCall {edit}]"}
    (fact,) = signals(("owner", "add that to CLAUDE.md and AGENTS.md"), call)
    assert (fact.text, fact.author) == (RULE, "assistant")
    assert fact.quote in call["text"]
    assert signals(TURN, call) == []


def test_a_note_for_the_harness_is_kept_as_it_is():
    note = {"author": "owner", "tool_name": "#", "text": "the gauge at Leith is late"}
    (fact,) = signals(note)
    assert fact.quote == "the gauge at Leith is late"


def test_a_file_of_memories_is_one_of_instructions():
    written = json.dumps(
        {"file_path": "/home/mira/.claude/projects/shop/memory/relay.md", "content": RULE}
    )
    call = {"author": "assistant", "kind": "tool_call", "text": f"[toolCall Write({written})]"}
    assert [fact.text for fact in signals(("owner", "note it in memory/relay.md"), call)] == [RULE]


@pytest.mark.parametrize("arguments", [[], "text", {"file_path": "CLAUDE.md", "content": None}])
def test_arguments_of_another_form_say_nothing(arguments: object):
    text = f"[toolCall Write({json.dumps(arguments)})] CLAUDE.md"
    call = {"author": "assistant", "kind": "tool_call", "text": text}
    assert signals(("owner", "write CLAUDE.md"), call) == []


def test_a_document_is_not_taken_apart():
    lines = "\n".join(f"- The gauge number {n} is read by the relay." for n in range(20))
    call = {"author": "assistant", "kind": "tool_call", "text": f"[toolCall Write({json.dumps({'file_path': 'CLAUDE.md', 'content': lines})})]"}  # fmt: skip
    assert len(signals(("owner", "write CLAUDE.md"), call)) == MOST_WRITTEN


def test_records_of_a_session_are_recalled_and_not_proposed():
    asks = {**ASKS, "text": ASKS["text"].replace(QUESTION, "Should the relay have a queue?")}
    rows = said(TURN, asks, answer("A table in Postgres"), ("assistant", "It has a table now."))
    observations = build_day(windows(window(rows)), messages(rows))["observations"]
    kept = observations.select("gate", "priority", "category", pl.col("tags").list.first())
    assert kept.rows() == [("allow", "low", "projects", "answer")]
