"""Qwen Code: only what a person typed is theirs, whatever hooks and tools add; sub-agents have files of their own."""

from pathlib import Path

from memory_assets.harnesses.normal_form import Identifier
from memory_assets.harnesses.readers import open_reader, session_id_of
from memory_assets.stages.capture.rewinds import Rewinds
from memory_assets_tests.harnesses.harness_records import QWEN, SESSION
from memory_assets_tests.stages.capture.sessions import lines

LINES = lines(*QWEN).splitlines(keepends=True)


def read(*records: dict, path: str = f"{SESSION}.jsonl") -> list:
    session = session_id_of("qwen", path, [lines(record) for record in records])
    reader = open_reader("qwen", path, session_id=session)
    return [reader.read(lines(record)) for record in records]


def test_only_the_person_s_words_are_the_owner_s():
    parsed = read(*QWEN)
    assert [(p.author, p.kind, p.text) for p in parsed if p.status == "message"] == [
        ("owner", "text", "Use metres."),
        (
            "assistant",
            "text",
            'I look.\n[toolCall read_file({"file_path":"a.py"})]\n'
            '[toolCall mcp__memory__memory_recall({"question":"units"})]',
        ),
        ("file", "tool_result", "unit = 'feet'"),
        ("injected", "tool_result", "Use uv."),
        ("owner", "text", "In tests, too."),
        ("injected", "text", "<task-notification>\nx\n</task-notification>"),
        ("injected", "summary", "<state_snapshot>Heights are in metres.</state_snapshot>"),
    ]
    assert {p.status for p in parsed} == {"message", "known"}
    assert [p.boundary for p in parsed if p.boundary] == ["compaction"]
    assert [p.title for p in parsed if p.title] == ["Tides"]
    assert (parsed[1].model, parsed[1].files_read) == ("m", ("a.py",))
    assert (parsed[0].cwd, parsed[0].branch, parsed[0].version) == ("/w/tides", "main", "0.24.4")


def test_releases_without_a_speaker_in_each_record_are_read_the_same():
    old = [
        {
            name: value
            for name, value in record.items()
            if name not in ("provenance", "systemPayload")
        }
        for record in QWEN
        if record["type"] != "system"
    ]
    assert [(p.author, p.text) for p in read(*old)] == [
        (p.author, p.text) for p in read(*QWEN) if p.kind in ("text", "tool_result")
    ]


def test_an_answer_is_the_owner_s_only_where_qwen_itself_says_so():
    call = {"id": "c1", "name": "ask_user_question", "args": {"questions": [{"question": "Unit?"}]}}
    asked = {**QWEN[1], "message": {"role": "model", "parts": [{"functionCall": call}]}}
    text = "User has provided the following answers:\n\n**Unit**: Metres"
    response = {"functionResponse": {"id": "c1", "response": {"output": text}}}
    display = {"type": "ask_user_question_answers", "answers": [{"answer": "Metres"}]}
    result = {**QWEN[2], "message": {"role": "user", "parts": [response]}}
    told = read(asked, {**result, "toolCallResult": {"resultDisplay": display}})
    assert [(p.author, p.text.partition("\n")[0]) for p in told] == [
        ("assistant", "Unit?"),
        ("owner", "Metres"),
    ]
    assert read(asked, {**result, "toolCallResult": {}})[1].author == "tool"


def test_a_sub_agent_s_file_belongs_to_its_session_and_has_no_words_of_the_owner():
    agent = {"agentId": "explore-c1", "isSidechain": True}
    records = [{**QWEN[0], **agent}, {**QWEN[1], **agent}]
    path = f"subagents/{SESSION}/agent-explore-c1.jsonl"
    assert session_id_of("qwen", path, [lines(records[0])]) == f"{SESSION}/agent-explore-c1"
    parsed = read(*records, path=path)
    assert [p.author for p in parsed] == ["subagent", "subagent"]
    assert {p.parent_session_id for p in parsed} == {SESSION}


def test_a_command_that_failed_is_an_error():
    display = {"type": "shell_result", "exitCode": 2}
    failed = {**QWEN[2], "toolCallResult": {"status": "success", "resultDisplay": display}}
    assert [p.is_error for p in read(failed, QWEN[2])] == [True, False]


def test_words_of_schedules_and_of_files_are_not_the_owner_s():
    files = (
        "\n--- Content from referenced files ---",
        "Always use feet.",
        "\n--- End of content ---",
    )
    parts = [{"text": text} for text in ("Read @memo.txt", *files)]
    prompt = {**QWEN[0], "provenance": "real_user", "message": {"role": "user", "parts": parts}}
    parsed = read({**prompt, "systemPayload": None}, {**prompt, "subtype": "cron"})
    assert [p.author for p in parsed] == ["owner", "injected"]
    assert parsed[0].text == "Read @memo.txt"


def test_a_response_of_any_shape_has_its_text():
    responses = (
        {"output": "a"},
        {"output": ""},
        {"output": {"x": 1}},
        {"content": [{"text": "b"}]},
    )
    parts = [{"functionResponse": {"id": "c", "response": response}} for response in responses]
    results = [{**QWEN[2], "message": {"role": "user", "parts": [part]}} for part in parts]
    assert [p.text for p in read(*results)] == ["a", "", '{"x":1}', "b"]


def test_a_copy_keeps_its_session_by_its_records(tmp_path: Path):
    assert session_id_of("qwen", str(tmp_path / "copy.jsonl"), LINES) == SESSION


def test_a_fork_names_its_session_and_its_copies_keep_their_ids():
    """Qwen Code copies each record with its uuid and time."""
    fork = "0b000002-1111-4222-8333-444455556666"
    copies = [
        {**record, "sessionId": fork, "forkedFrom": {"sessionId": SESSION}} for record in QWEN
    ]
    parsed = read(*copies, path=f"{fork}.jsonl")
    assert {p.parent_session_id for p in parsed} == {SESSION}
    messages = [[p for p in ps if p.status == "message"] for ps in (parsed, read(*QWEN))]
    ids = [
        [Identifier(seed).identify(p) for p in ps]
        for seed, ps in zip((fork, SESSION), messages, strict=True)
    ]
    assert ids[0] == ids[1]


def test_a_turn_that_was_taken_back_is_known_by_the_records_before():
    back = {"subtype": "rewind", "provenance": "system", "systemPayload": {}}
    record_of = {
        "user": {**QWEN[0], "message": {"role": "user", "parts": [{"text": "Use feet."}]}},
        "system": {**QWEN[6], **back},
    }
    steps = [("user", "1", None), ("user", "2", "1"), ("system", "3", "1"), ("user", "4", "3")]
    records = [
        {**record_of[kind], "uuid": uuid, "parentUuid": parent} for kind, uuid, parent in steps
    ]
    rewinds = Rewinds({}, 0, is_off=False)
    found = [
        rewinds.read(line, parsed, records[line]["uuid"])
        for line, parsed in enumerate(read(*records))
    ]
    assert found == [[], [], [], [(0, 1, 2)]]
