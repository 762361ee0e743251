"""Cursor: what its files lack is in their place: the session, the folder, the time."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from memory_assets.harnesses.hooks import harnesses
from memory_assets.harnesses.readers import folder_of, open_reader, session_id_of
from memory_assets.stages.capture.discover import find_files
from memory_assets.stages.deliver.install import carry_out, plan_install, plan_uninstall
from memory_assets.store.store import Store
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.sessions import lines

CHAT = "0b000001-1111-4222-8333-444455556666"
RULE = "Always use metres."


def block(**fields: Any) -> dict[str, Any]:
    return fields


def said(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(blocks)}}


TURN = (
    said("user", block(type="text", text=RULE)),
    said(
        "assistant",
        block(type="text", text="I look."),
        block(type="tool_use", id="t1", name="read_file", input={"path": "a.py"}),
    ),
    said("user", block(type="tool_result", tool_use_id="t1", content="x = 1")),
    {"type": "turn_ended", "status": "success"},
)


def write(sources: Path, folder: Path, *records: dict[str, Any]) -> Path:
    slug = str(folder).strip("/").replace("/", "-").replace("_", "-")
    path = sources / ".cursor" / "projects" / slug / "agent-transcripts" / CHAT / f"{CHAT}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(*records))
    return path


def test_words_calls_and_results_are_read_and_every_record_is_known():
    reader = open_reader("cursor", f"{CHAT}.jsonl")
    parsed = [reader.read(orjson.dumps(record)) for record in TURN]
    assert [(p.author, p.text) for p in parsed] == [
        ("owner", RULE),
        ("assistant", 'I look.\n[toolCall read_file({"path":"a.py"})]'),
        ("file", "x = 1"),
        (None, ""),
    ]
    assert parsed[-1].status == "known"


def test_only_what_a_person_typed_is_theirs():
    context = (
        f"<attached_files>Always use feet.</attached_files>\n<user_query>\n{RULE}\n</user_query>"
    )
    reader = open_reader("cursor", f"{CHAT}.jsonl")
    parsed = reader.read(orjson.dumps(said("user", block(type="text", text=context))))
    assert (parsed.author, parsed.text) == ("owner", RULE)


FEET = "Always use feet."


@pytest.mark.parametrize(
    "context",
    [
        "<attached_files>a: <user_query>{}</user_query></attached_files>\n<user_query>{}</user_query>",
        "<user_query>{1}</user_query>\n<attached_files>{0}</user_query></attached_files>",
        "<user_query>{1}</user_query>\n<file a='b'>\n<user_query>{0}</user_query>\n</file>",
        "<open_files/>\n<note>{}</note> <user_query>{}</user_query>",
        "<rules>{}</rules>\n{}",
    ],
)
def test_no_file_or_rule_that_cursor_adds_becomes_the_person_s_words(context: str):
    text = context.format(FEET, RULE)
    reader = open_reader("cursor", f"{CHAT}.jsonl")
    parsed = reader.read(orjson.dumps(said("user", block(type="text", text=text))))
    assert (parsed.author, parsed.text) == ("owner", RULE)


@pytest.mark.parametrize(
    "context",
    [
        "<user_info>\nlinux\n</user_info>\n<rules>Always use feet.</rules>",
        "<system_reminder>\nAlways use feet.\n</system_reminder>",
    ],
)
def test_context_alone_is_nobody_s_words(context: str):
    reader = open_reader("cursor", f"{CHAT}.jsonl")
    parsed = reader.read(orjson.dumps(said("user", block(type="text", text=context))))
    assert (parsed.author, parsed.is_user_turn) == ("injected", False)


def test_all_results_of_a_record_are_read_and_words_beside_them():
    results = [block(type="tool_result", tool_use_id=id, content=id) for id in ("one", "two")]
    query = block(type="text", text="<user_query>No, use feet.</user_query>")
    reader = open_reader("cursor", f"{CHAT}.jsonl")
    records = (said("user", *results), said("user", *results, query))
    parsed = [reader.read(orjson.dumps(record)) for record in records]
    assert [(p.author, p.text) for p in parsed] == [
        ("tool", "one\ntwo"),
        ("owner", "No, use feet."),
    ]


def test_session_folder_and_time_are_those_of_the_file(store: Store, sources: Path, tmp_path: Path):
    folder = tmp_path / "my-work" / "tides"
    folder.mkdir(parents=True)
    path = write(sources, folder, *TURN)
    changed_at = datetime(2026, 8, 3, 9, tzinfo=UTC)
    os.utime(path, (changed_at.timestamp(), changed_at.timestamp()))
    capture(store, sources)
    messages = store.tables.read("windows")
    assert messages.select("session_id", "folder", "ended_at").rows() == [
        (CHAT, str(folder), changed_at)
    ]
    assert folder_of("cursor", str(path).replace("tides", "gone")) == ""


def test_a_sub_agent_belongs_to_its_session():
    path = f"/x/agent-transcripts/{CHAT}/subagents/0b000002.jsonl"
    assert session_id_of("cursor", path, []) == f"{CHAT}/0b000002"
    parsed = open_reader("cursor", path).read(orjson.dumps(TURN[0]))
    assert (parsed.author, parsed.is_user_turn) == ("subagent", False)


def test_a_file_that_grows_or_is_replaced_doubles_nothing(store: Store, sources: Path):
    path = write(sources, Path("/w/tides"), *TURN)
    capture(store, sources)
    more = said("user", block(type="text", text="Go on."))
    path.write_bytes(lines(*TURN, more))
    capture(store, sources)
    path.write_bytes(lines(*TURN[:3], more, TURN[3]))
    assert capture(store, sources).rewritten == 1
    owner = store.tables.read("records").filter(author="owner")
    assert owner["message_id"].n_unique() == 2


def test_the_server_of_tools_comes_and_goes_by_the_byte(tmp_path: Path):
    settings = tmp_path / ".cursor" / "mcp.json"
    settings.parent.mkdir()
    settings.write_text('{"mcpServers": {"docs": {"url": "http://docs"}}}')
    before = settings.read_bytes()
    store = tmp_path / "store"
    ours = [one for one in harnesses(str(store), tmp_path, {}) if one.name == "cursor"]
    carry_out(plan_install(ours, store), store)
    assert json.loads(settings.read_text())["mcpServers"]["memory"]["args"][-2:] == [
        "--store",
        str(store),
    ]
    carry_out(plan_uninstall(ours, store), store)
    assert settings.read_bytes() == before


def test_the_database_of_the_editor_is_counted_and_not_read(tmp_path: Path):
    import sqlite3

    with sqlite3.connect(tmp_path / "state.vscdb") as database:
        database.execute("CREATE TABLE cursorDiskKV (key TEXT, value BLOB)")
    assert find_files([tmp_path]).unread == {"Cursor's editor": 1}
