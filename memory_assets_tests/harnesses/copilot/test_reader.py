"""Copilot CLI: the person's words are what the timeline shows; hooks, skills, other agents and snapshots are not theirs."""

from pathlib import Path

from memory_assets.harnesses.readers import open_reader, session_id_of
from memory_assets_tests.harnesses.harness_records import COPILOT, SESSION
from memory_assets_tests.stages.capture.sessions import lines


def read(path: Path, *records: dict) -> list:
    reader = open_reader("copilot", str(path), session_id=SESSION)
    return [reader.read(lines(record)) for record in records]


def test_each_message_has_its_author_and_nothing_is_read_twice(tmp_path: Path):
    parsed = read(tmp_path / "events.jsonl", *COPILOT)
    assert [(p.author, p.kind, p.text) for p in parsed if p.status == "message"] == [
        ("owner", "text", "Use metres."),
        ("assistant", "text", 'I look.\n[toolCall bash({"command":"make tides"})]'),
        ("tool", "tool_result", "No rule"),
        ("injected", "text", "Look at the gauge."),
        ("subagent", "text", "It works."),
        ("injected", "text", "Go on."),
        ("owner", "text", "Metres"),
        ("injected", "summary", "Heights in metres."),
    ]
    assert {p.status for p in parsed} == {"message", "known"}
    assert [p.is_error for p in parsed if p.kind == "tool_result"] == [True]
    assert [p.boundary for p in parsed if p.boundary] == ["compaction"]
    assert [p.is_user_turn for p in parsed if p.author == "owner"] == [True, False]
    assert (parsed[0].cwd, parsed[0].branch, parsed[0].version) == ("/w/tides", "main", "1.0.102")


def test_an_answer_of_a_program_is_not_the_owner_s(tmp_path: Path):
    answer = {**COPILOT[8], "data": {**COPILOT[8]["data"], "actor": "host_automation"}}
    assert [p.status for p in read(tmp_path / "events.jsonl", answer)] == ["known"]


def test_the_title_is_read_beside_the_events_and_again_when_it_changes(tmp_path: Path):
    path, title = tmp_path / "events.jsonl", tmp_path / "workspace.yaml"
    title.write_text(f'id: {SESSION}\nname: "Tides in metres"\nuser_named: true\n')
    reader = open_reader("copilot", str(path), session_id=SESSION)
    titles = [reader.read(lines(record)).title for record in COPILOT[:3]]
    title.write_text("name: Gauges\n")
    later = open_reader("copilot", str(path), reader.state, session_id=SESSION)
    assert [*titles, later.read(lines(COPILOT[3])).title] == [
        "Tides in metres",
        None,
        None,
        "Gauges",
    ]


def test_the_session_is_that_of_the_first_event_or_else_of_the_folder():
    first = lines(COPILOT[0])
    assert session_id_of("copilot", "/w/copy/events.jsonl", [first]) == SESSION
    assert session_id_of("copilot", "/w/s-1/events.jsonl", [lines(COPILOT[2])]) == "s-1"
