"""Gemini CLI: what a file adds is read once, however often the client writes it."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from memory_assets.harnesses.normal_form import Identifier, Parsed
from memory_assets.harnesses.readers import folder_of, open_reader, session_id_of
from memory_assets.stages.capture.index import index_sources
from memory_assets.store.store import Store
from memory_assets_tests.stages.capture.pipeline import capture, intake
from memory_assets_tests.stages.capture.sessions import at, lines

SESSION = "918f2c88-0000-4000-8000-000000000001"
HEADER = {
    "sessionId": SESSION,
    "projectHash": "0c1d",
    "startTime": at(0),
    "lastUpdated": at(0),
    "kind": "main",
}
CALL = {"id": "shell_1", "name": "run_shell_command", "args": {"command": "ls"}}
OUTPUT = "<untrusted_context>\nOutput: a\n</untrusted_context>"


def user(id: str, *texts: str, minute: int = 1, **fields: Any) -> dict[str, Any]:
    content = [{"text": text} for text in texts]
    return {"id": id, "timestamp": at(minute), "type": "user", "content": content, **fields}


def answer(id: str, text: str, *calls: dict[str, Any], minute: int = 2) -> dict[str, Any]:
    more = {"toolCalls": list(calls)} if calls else {}
    record = {"id": id, "timestamp": at(minute), "type": "gemini", "content": text}
    return {**record, "thoughts": [], "model": "gemini-2.5-flash", **more}


def result(id: str, output: str = OUTPUT, minute: int = 3) -> dict[str, Any]:
    response = {"id": CALL["id"], "name": CALL["name"], "response": {"output": output}}
    return user(id, minute=minute) | {"content": [{"functionResponse": response}]}


def history(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"$set": {"messages": list(messages), "lastUpdated": at(9)}}


CONTEXT = user("c0", "<session_context>\nToday is Monday.\n</session_context>")
RULE = "Always use metres."
TURN = (user("u1", RULE), answer("g1", "I look."), answer("g1", "I look.", CALL), result("r1"))


def read(*records: dict[str, Any], path: str = "chats/session-2026-08-03T09-00-918f2c88.jsonl"):
    reader = open_reader("gemini", path)
    return [reader.read(orjson.dumps(record)) for record in records]


def said(parsed: list[Parsed]) -> list[tuple[str | None, str | None, str]]:
    return [(p.author, p.kind, p.text) for p in parsed if p.status == "message"]


def write(sources: Path, *records: dict[str, Any], name: str = "918f2c88") -> Path:
    path = sources / "tides" / "chats" / f"session-2026-08-03T09-00-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parents[1] / ".project_root").write_text("/home/mira/tides\n")
    path.write_bytes(lines(*records))
    return path


def test_a_record_that_is_written_again_gives_only_what_it_has_more():
    assert said(read(HEADER, history(CONTEXT), *TURN, answer("g2", "Done."))) == [
        ("owner", "text", RULE),
        ("assistant", "text", "I look."),
        ("assistant", "tool_call", '[toolCall run_shell_command({"command":"ls"})]'),
        ("tool", "tool_result", "Output: a"),
        ("assistant", "text", "Done."),
    ]


def test_every_record_is_known_and_a_new_type_is_not():
    known = read(HEADER, history(CONTEXT), *TURN, {"$set": {"summary": "Tides"}},
                 *({"id": name, "type": name, "content": "x"} for name in ("info", "error", "warning")))  # fmt: skip
    assert {p.status for p in known} == {"known", "message"}
    assert [p.title for p in known if p.title] == ["Tides"]
    assert [p.status for p in read({"id": "n", "type": "novel", "content": "x"})] == ["unknown"]


@pytest.mark.parametrize(
    "content",
    [
        ["<hook_context># Memory briefing\n\n- Use uv.</hook_context>\n\n" + RULE],
        [RULE, "<hook_context>Always use feet.</hook_context>"],
        ["<session_context>\nAlways use feet.\n</session_context>", RULE],
    ],
)
def test_text_of_hooks_and_of_the_client_is_nobody_s_words(content: list[str]):
    assert said(read(user("u1", *content))) == [("owner", "text", RULE)]


def test_of_files_that_a_prompt_names_only_the_typed_words_are_the_owner_s():
    prompt = user("u1", "Read @memo.txt", "\nContent from @memo.txt:\n", "Always use feet.")
    typed = prompt | {"displayContent": [{"text": "Read @memo.txt"}]}
    assert said(read(typed)) == [("owner", "text", "Read @memo.txt")]


def test_files_that_a_prompt_names_end_the_owner_s_words_also_in_older_releases():
    heading, end = "\n--- Content from referenced files ---", "\n--- End of content ---"
    files = (heading, "\nContent from @memo.txt:\n", "Always use feet.", end)
    assert said(read(user("u1", RULE, *files))) == [("owner", "text", RULE)]


def test_text_beside_a_result_stays_and_is_not_the_owner_s():
    beside = result("r1")
    beside["content"].append({"text": "Always use feet."})
    assert said(read(beside)) == [("tool", "tool_result", "Output: a\nAlways use feet.")]


def test_a_compression_is_a_boundary_with_its_summary_once():
    summary = user("s1", "<state_snapshot>Tides are in metres.</state_snapshot>")
    again = [user("n1", RULE), answer("n2", "I look.")]
    parsed = read(*TURN, history(CONTEXT, summary, *again), history(CONTEXT, summary, *again))
    boundaries = [p for p in parsed if p.boundary]
    assert [(p.author, p.kind, p.boundary) for p in boundaries] == [
        ("injected", "summary", "compaction")
    ]
    assert len(said(parsed)) == len(said(read(*TURN))) + 1


def test_a_sub_agent_s_words_are_not_the_owner_s_and_it_belongs_to_its_session():
    path = f"/x/chats/{SESSION}/0b000002-1111-4222-8333-444455556666.jsonl"
    header = HEADER | {"sessionId": "0b000002-1111-4222-8333-444455556666", "kind": "subagent"}
    assert session_id_of("gemini", path, [orjson.dumps(header)]) == (
        f"{SESSION}/0b000002-1111-4222-8333-444455556666"
    )
    parsed = read(header, *TURN, path=path)
    assert parsed[0].parent_session_id == SESSION
    assert [author for author, _, _ in said(parsed)] == ["subagent", "subagent", "subagent", "tool"]


def test_the_header_says_whether_a_file_is_a_sub_agent_s_wherever_it_lies():
    names = (
        "/x/backup/a.jsonl",
        f"/x/chats/chats/session-{SESSION}.jsonl",
        "/x/chats/copy/a.jsonl",
    )
    kinds = ("subagent", "main", "main")
    headers = [HEADER | {"kind": kind} for kind in kinds]
    parsed = [read(header, *TURN, path=path) for header, path in zip(headers, names, strict=True)]
    assert [said(ps)[0][0] for ps in parsed] == ["subagent", "owner", "owner"]
    assert {ps[0].parent_session_id for ps in parsed} == {None}
    first_lines = [[orjson.dumps(header)] for header in headers]
    sessions = [session_id_of("gemini", *pair) for pair in zip(names, first_lines, strict=True)]
    assert sessions == [SESSION] * 3


def test_a_project_may_be_called_as_the_folder_of_transcripts(tmp_path: Path):
    path = tmp_path / "chats" / "chats" / "session-a.jsonl"
    path.parent.mkdir(parents=True)
    (path.parents[1] / ".project_root").write_text("/home/mira/chats")
    assert folder_of("gemini", str(path)) == "/home/mira/chats"


def test_a_rewind_to_an_answer_takes_back_the_turns_behind_it():
    turns = [user("u1", RULE), answer("g1", "Yes."), user("u2", "Use feet."), answer("g2", "Feet.")]
    rewinds = [[*turns, {"$rewindTo": id}] for id in ("g1", "g2", "u1")]
    assert [read(HEADER, *records)[-1].undone_turns for records in rewinds] == [1, 0, 2]


def test_a_resume_doubles_nothing_in_the_same_file_or_in_another(store: Store, sources: Path):
    later = (HEADER, history(CONTEXT), history(CONTEXT, user("u1", RULE)), user("u2", "Go on."))
    path = write(sources, HEADER, history(CONTEXT), *TURN)
    capture(store, sources)
    path.write_bytes(path.read_bytes() + lines(*later))
    write(sources, *later[:3], user("u3", "And on."), name="again")
    capture(store, sources)
    records = store.tables.read("records").filter(author="owner")
    assert sorted(records["message_id"].is_duplicated()) == [False] * 3
    assert records["session_id"].unique().to_list() == [SESSION]


def test_a_rewind_takes_back_the_turns_from_the_message_on(store: Store, sources: Path):
    turns = [user("u1", RULE), answer("g1", "Yes."), user("u2", "Use feet."), answer("g2", "Feet.")]
    write(sources, HEADER, *turns, {"$rewindTo": "u2"}, user("u3", "Go on."))
    intake(store, sources)
    index_sources(store.archive, store.tables)
    records = store.tables.read("records").sort("line")
    assert records["status"].to_list() == [
        "known", "message", "message", "rewound", "rewound", "known", "message",
    ]  # fmt: skip


def test_the_folder_is_the_one_that_the_file_beside_names(store: Store, sources: Path):
    write(sources, HEADER, *TURN)
    intake(store, sources)
    index_sources(store.archive, store.tables)
    assert store.tables.read("records")["cwd"].unique().to_list() == ["/home/mira/tides"]
    places = ("/x.jsonl", str(sources / "gone" / "chats" / "x.jsonl"))
    assert [folder_of("gemini", path) for path in places] == ["", ""]


def test_a_file_that_was_replaced_by_its_last_records_keeps_ids_and_loses_nothing(
    store: Store, sources: Path
):
    path = write(sources, HEADER, history(CONTEXT), *TURN)
    capture(store, sources)
    before = _ids(store)
    path.write_bytes(lines(HEADER, TURN[0], TURN[2], TURN[3], user("u2", "Go on.")))
    assert capture(store, sources).rewritten == 1
    after = _ids(store)
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1


def _ids(store: Store) -> list[str]:
    rows = store.tables.read("records").filter(status="message").sort("generation", "line")
    return list(dict.fromkeys(rows["message_id"]))


def test_the_text_of_an_answer_keeps_its_id_when_its_calls_come_with_it():
    def ids(*records: dict[str, Any]) -> list[str]:
        identifier = Identifier(SESSION)
        return [identifier.identify(p) for p in read(*records) if p.status == "message"]

    assert ids(TURN[2])[0] == ids(TURN[1], TURN[2])[0]
