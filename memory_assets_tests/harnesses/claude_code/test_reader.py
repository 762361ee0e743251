"""Claude Code: compactions, sub-agents, repeated records, and a person's words wherever they stand."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from memory_assets.harnesses.claude_code.reader import ClaudeCodeReader
from memory_assets.harnesses.readers import open_reader
from memory_assets.stages.capture.discover import find_transcripts
from memory_assets_tests.transcripts.reading import ids_of, messages_of, read_all, said, transcript


def test_a_compaction_names_the_first_line_it_kept():
    parsed = read_all(transcript("0a000001"))
    assert [(n, p.boundary) for n, p in enumerate(parsed) if p.boundary] == [(5, "compaction")]
    assert parsed[5].kept_from == parsed[3].native_id
    assert (parsed[6].author, parsed[6].kind, parsed[6].is_user_turn) == (
        "injected",
        "summary",
        False,
    )


def test_lines_of_a_sidechain_are_the_sub_agents_and_no_turns_of_the_person():
    messages = messages_of(transcript("0a000003"))
    assert [f"{p.author}:{p.kind}" for p in messages] == (
        "owner:text assistant:tool_call subagent:text subagent:tool_call file:tool_result "
        "subagent:text tool:tool_result assistant:text"
    ).split()
    assert [p.is_user_turn for p in messages] == [True] + 7 * [False]


def test_streaming_snapshots_of_a_message_have_one_id_and_its_blocks_different_ones():
    ids = ids_of(transcript("0a000004"))
    assert [ids.index(id) for id in ids] == [0, 1, 1, 3, 3, 5]


def queued(operation: str, content: str | None = None, second: int = 0) -> dict:
    at = f"2026-03-02T08:00:{second:02}Z"
    record = {"type": "queue-operation", "operation": operation, "timestamp": at}
    return record if content is None else {**record, "content": content}


def attached(prompt: str) -> dict:
    return {"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt}}


def typed(text: str, **fields: object) -> dict:
    return {"type": "user", "message": {"role": "user", "content": text}, **fields}


TIDES, GAUGE = "Round the tides to centimetres.", "Leave the old gauge alone."


@pytest.mark.parametrize(
    ("records", "owners_words"),
    [
        ([queued("enqueue", TIDES), queued("remove")], [TIDES]),
        ([queued("enqueue", TIDES), queued("enqueue", GAUGE, 1), queued("remove"), queued("remove")], [TIDES, GAUGE]),
        ([queued("enqueue", TIDES), queued("enqueue", GAUGE), queued("remove", GAUGE), queued("popAll", TIDES)], [GAUGE]),
        ([queued("enqueue", TIDES), queued("remove"), attached(TIDES)], [TIDES]),
        ([queued("enqueue", TIDES), attached(TIDES), queued("remove")], [TIDES]),
        ([queued("enqueue", TIDES), queued("enqueue", GAUGE), attached(GAUGE), queued("remove", GAUGE)], [GAUGE]),
        ([queued("enqueue", TIDES), queued("dequeue"), typed(TIDES)], [TIDES]),
        ([queued("enqueue", TIDES, 1), queued("remove"), queued("enqueue", TIDES, 9), queued("remove")], [TIDES, TIDES]),
        ([queued("enqueue", TIDES), queued("popAll", TIDES), queued("remove")], []),
        ([queued("enqueue", TIDES)], []),
        ([queued("enqueue", "<task-notification>\ndone\n</task-notification>"), queued("remove")], []),
        ([typed(f"Implement the following plan:\n\n{TIDES}", planContent=TIDES)], []),
        ([typed(f"Operation stopped by hook: {TIDES}"), typed(GAUGE)], [GAUGE]),
        ([typed(f'Another Claude session sent a message:\n<teammate-message teammate_id="t">{TIDES}</teammate-message>')], []),
    ],
)  # fmt: skip
def test_the_owners_words_are_those_that_the_agent_got_once_each(
    records: list[dict], owners_words: list[str]
):
    reader = ClaudeCodeReader("s")
    for record in records:
        reader = ClaudeCodeReader("s", json.loads(json.dumps(reader.state)))  # the next ingest
        record["parsed"] = reader.read(json.dumps(record).encode())
    owners = [record["parsed"] for record in records if record["parsed"].author == "owner"]
    assert [message.text for message in owners] == owners_words
    assert all(message.is_user_turn for message in owners)
    assert len({message.identity for message in owners}) == len(owners)


def test_thinking_is_no_message():
    parsed = read_all(transcript("0a000004"))[1]
    assert (parsed.record_type, parsed.status, parsed.text) == ("assistant/thinking", "known", "")


def test_a_fork_repeats_the_ids_and_adds_its_own():
    parent, fork = ids_of(transcript("0a000004")), ids_of(transcript("0a000005"))
    assert fork[:-1] == parent
    assert fork[-1] not in parent


def test_a_sub_agents_file_belongs_to_a_session_of_its_own_with_a_parent():
    parsed = messages_of(transcript("subagents/agent-a1b2c3d4"))
    assert [(p.author, p.text) for p in parsed] == [
        ("subagent", "Review the diff."),
        ("subagent", '[toolCall Bash({"command":"git diff"})]'),
        ("tool", "+always = True"),
        ("subagent", "No findings."),
    ]
    assert {p.parent_session_id for p in parsed} == {"0a000007-1111-4222-8333-444455556666"}
    assert messages_of(transcript("shop/agent-0e0f0a0b"))[0].author == "subagent"


def test_a_persons_words_are_found_wherever_they_stand():
    assert [
        (p.text, p.is_user_turn) for p in messages_of(transcript("0a000008")) if p.author == "owner"
    ] == [
        ("Deploy to staging.", True),
        ("/review only the migrations", True),
        ("/clear", False),
        ("! git status", False),
        ("eu-west-1", False),
        ("no, use uv, never pip", True),
        ("And tag the release afterwards.", True),
        ("The button is cut off: [Image #1]", True),
    ]


def test_a_question_to_the_person_is_the_assistants_and_stands_before_its_answer():
    found = [(p.author, p.kind, p.text) for p in messages_of(transcript("0a000008"))]
    at = found.index(("owner", "text", "eu-west-1"))
    assert found[at - 1] == (
        "assistant",
        "text",
        'Which region?\n[toolCall AskUserQuestion({"questions":[{"question":"Which region?"}]})]',
    )


def test_a_summary_for_a_person_who_was_away_is_no_message_and_ends_before_the_hint():
    record = {"type": "system", "subtype": "away_summary", "content": "Till added. Next: docs."}
    hinted = {**record, "content": f"{record['content']} (disable recaps in /config)"}
    reader = open_reader("claude_code", "s.jsonl")
    for line in (record, hinted):
        parsed = reader.read(json.dumps(line).encode())
        assert (parsed.status, parsed.summary) == ("known", record["content"])


def test_what_the_harness_says_in_the_users_role_is_injected():
    assert [text for author, text in said(transcript("0a000008")) if author == "injected"] == [
        "You are an expert reviewer. Always be thorough.",
        "<local-command-stdout>Cleared</local-command-stdout>",
        "<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>",
        "[Request interrupted by user for tool use]",
        "<task-notification>\n<task-id>b1</task-id>\n</task-notification>",
        "<task-notification>\n<task-id>b2</task-id>\n</task-notification>",
        "API Error: 529 Overloaded",
    ]


def test_a_line_that_cannot_be_understood_is_told_by_its_status_and_the_next_is_read():
    assert [f"{p.record_type}:{p.status}" for p in read_all(transcript("0a000009"))] == (
        "user:message broken:broken hologram:unknown system/aurora_boundary:unknown blank:known "
        "assistant:message user/malformed:unknown json/list:unknown"
    ).split()


@pytest.mark.parametrize(
    "name", ["api-request", "api-request-blob", "api-request-shape", "atis-latch", "tools-used"]
)
def test_records_of_release_2_1_330_are_known(name: str):
    parsed = open_reader("claude_code", "s.jsonl").read(
        b'{"type": "%s", "sessionId": "s"}' % name.encode()
    )
    assert (parsed.record_type, parsed.status) == (name, "known")


def test_a_message_names_its_model_unless_the_harness_wrote_it():
    reader = open_reader("claude_code", "s.jsonl")
    line = (
        b'{"type": "assistant", "version": "2.1.330", "message": {"id": "m", "model": "%s",'
        b' "content": [{"type": "text", "text": "Yes."}]}}'
    )
    models = [reader.read(line % model).model for model in (b"claude-opus-5-5", b"<synthetic>")]
    assert models == ["claude-opus-5-5", None]
    assert (
        reader.read(b'{"type": "user", "message": {"role": "user", "content": "Hi."}}').model
        is None
    )


def test_every_real_session_is_read_and_its_turns_are_near_the_index(real_transcripts: Path):
    """The index counts interruptions and bare commands as turns, and misses queued ones; two or three a session."""
    index = {
        row["path"]: row
        for row in csv.DictReader((real_transcripts / "INDEX.tsv").open(), delimiter="\t")
    }
    statuses, far = Counter(), []
    for file in find_transcripts([real_transcripts / "claude"]):
        parsed = read_all(file.path)
        statuses.update(p.status for p in parsed)
        row = index[str(file.path.relative_to(real_transcripts))]
        if abs(sum(p.is_user_turn for p in parsed) - int(row["user_messages"])) > 3:
            far.append(row["session"])
        assert sum(p.boundary is not None for p in parsed) == int(row["compactions"])
    assert (statuses["unknown"], statuses["broken"], far) == (0, 0, [])
