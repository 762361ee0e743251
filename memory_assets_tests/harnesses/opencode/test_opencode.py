"""OpenCode: each complete part of its database is archived once, as a line that memories lead to."""

import json
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from memory_assets.harnesses.declaration import ArchivedLines
from memory_assets.harnesses.opencode.database import read_new_lines
from memory_assets.stages.capture.discover import find_files, find_transcripts
from memory_assets.stages.capture.index import index_sources
from memory_assets.stages.capture.intake import Machine, changed_files
from memory_assets.store.store import Store
from memory_assets_tests.harnesses.opencode.database import TOKEN, Written
from memory_assets_tests.stages.capture.pipeline import intake

RULE = "Always use metres."
MAIN = "ses_1"


@pytest.fixture
def database(sources: Path) -> Written:
    written = Written(sources / "opencode" / "opencode.db")
    written.session(MAIN)
    return written


def read(store: Store, sources: Path, machine: Machine | None = None) -> pl.DataFrame:
    """What is in the records after an intake of what is new."""
    intake(store, sources, machine=machine)
    index_sources(store.archive, store.tables)
    return store.tables.read("records").sort("session_id", "line")


def said(records: pl.DataFrame, store: Store) -> list[tuple[str, str]]:
    """Who said what, in the archived bytes that the records name."""
    messages = records.filter(pl.col("message_id").is_not_null())
    rows = messages.select("author", "source_id", "byte_from", "byte_to").iter_rows()
    return [
        (author, store.archive.read(source, 0, start, end).decode())
        for author, source, start, end in rows
    ]


def authors(records: pl.DataFrame) -> list[str]:
    return records["author"].drop_nulls().to_list()


def test_a_session_that_grows_is_archived_once_and_leads_to_its_bytes(
    store: Store, sources: Path, database: Written
):
    database.turn(1, MAIN, RULE, "Yes.")
    first = read(store, sources)
    assert authors(first) == ["owner", "assistant"]
    assert first["cwd"].drop_nulls().unique().to_list() == ["/home/mira/tides"]
    database.turn(2, MAIN, "Go on.", "Done.")
    second = read(store, sources)
    assert (
        second["message_id"].drop_nulls().to_list()[:2]
        == first["message_id"].drop_nulls().to_list()
    )
    assert [RULE in line for _, line in said(second, store)] == [True, False, False, False]
    (store.archive.root / "seen.json").unlink()
    assert read(store, sources).equals(second)


def test_only_a_changed_database_is_opened_also_if_the_change_is_in_its_log(
    store: Store, sources: Path, database: Written
):
    database.turn(1, MAIN, RULE, "Yes.")
    read(store, sources)
    assert changed_files(find_transcripts([sources]), store.archive) == []
    database.turn(2, MAIN, "Go on.", "Done.")
    (changed,) = changed_files(find_transcripts([database.path]), store.archive)
    assert (changed.path, changed.harness) == (database.path, "opencode")


def test_credentials_are_never_read(store: Store, sources: Path, database: Written):
    database.turn(1, MAIN, RULE, "Yes.")
    assert TOKEN not in " ".join(line for _, line in said(read(store, sources), store))
    assert not any(
        TOKEN.encode() in path.read_bytes() for path in store.root.rglob("*") if path.is_file()
    )


def test_a_part_waits_until_it_is_complete_and_a_call_and_its_result_are_two_messages(
    store: Store, sources: Path, database: Written
):
    database.message("msg_1", MAIN, "assistant", time={"created": database.later()})
    call = {"type": "tool", "tool": "bash", "callID": "call_1"}
    running = {"status": "running", "input": {"command": "ls"}, "time": {"start": database.later()}}
    database.part("prt_1", "msg_1", type="text", text="I lo", time={"start": database.later()})
    database.part("prt_2", "msg_1", **call, state=running)
    assert authors(read(store, sources)) == []
    times = {"start": database.later(), "end": database.later()}
    database.part("prt_1", "msg_1", type="text", text="I look.", time=times)
    done = {
        **running,
        "status": "completed",
        "output": "a\n",
        "metadata": {"exit": 1},
        "time": times,
    }
    database.part("prt_2", "msg_1", **call, state=done)
    records = read(store, sources)
    assert authors(records) == ["assistant", "assistant", "tool"]
    assert records["status"].unique().sort().to_list() == ["known", "message"]
    assert read(store, sources).equals(records)


def test_a_fork_repeats_no_message(store: Store, sources: Path, database: Written):
    database.turn(1, MAIN, RULE, "Yes.")
    database.fork(MAIN, "ses_2")
    records = read(store, sources)
    ids = {
        session: records.filter(session_id=session)["message_id"].drop_nulls().to_list()
        for session in (MAIN, "ses_2")
    }
    assert ids[MAIN] == ids["ses_2"]
    assert len(set(ids[MAIN])) == 2


def test_what_was_taken_back_is_rewound_before_and_after_it_is_deleted(
    store: Store, sources: Path, database: Written
):
    database.turn(1, MAIN, RULE, "Yes.")
    database.turn(2, MAIN, "Use feet.", "Feet.")
    read(store, sources)
    database.touch(MAIN, revert={"messageID": "msg_002a"})
    rewound = read(store, sources).filter(status="rewound")
    assert rewound.height == 2
    for table, column in (("message", "id"), ("part", "message_id")):
        database.connection.execute(f"DELETE FROM {table} WHERE {column} LIKE 'msg_002%'")
    database.turn(3, MAIN, "Go on.", "Done.")
    records = read(store, sources)
    assert authors(records) == ["owner", "assistant", "owner", "assistant"]
    assert records.filter(status="rewound").height == 2
    assert records.filter(record_type="revert").height == 1


def test_what_was_taken_back_and_restored_is_said_again(
    store: Store, sources: Path, database: Written
):
    database.turn(1, MAIN, RULE, "Yes.")
    database.turn(2, MAIN, "Use feet.", "Feet.")
    before = read(store, sources)["message_id"].drop_nulls().to_list()
    database.touch(MAIN, revert={"messageID": "msg_002a"})
    assert read(store, sources)["message_id"].drop_nulls().to_list() == before[:2]
    database.touch(MAIN)
    assert read(store, sources)["message_id"].drop_nulls().to_list() == before
    database.turn(3, MAIN, "Go on.", "Done.")
    assert read(store, sources)["message_id"].drop_nulls().to_list()[:4] == before


def test_only_typed_words_are_the_owner_s_without_the_quotes_of_run(
    store: Store, sources: Path, database: Written
):
    database.message("msg_1", MAIN, "user")
    database.part("prt_1", "msg_1", type="text", text=f'"{RULE}"')
    database.part("prt_2", "msg_1", type="text", text="Always use feet.", synthetic=True)
    database.part("prt_3", "msg_1", type="text", text="Always use miles.", ignored=True)
    records = read(store, sources)
    assert authors(records) == ["owner", "injected", "injected"]
    assert records.filter(author="owner")["chars"].to_list() == [len(RULE)]


def test_a_compaction_is_a_boundary_with_its_summary(
    store: Store, sources: Path, database: Written
):
    database.turn(1, MAIN, RULE, "Yes.")
    database.message("msg_2", MAIN, "user")
    database.part("prt_2", "msg_2", type="compaction", auto=False)
    database.message("msg_3", MAIN, "assistant", summary=True, mode="compaction")
    database.part("prt_3", "msg_3", type="text", text="Metres.", time={"start": 1, "end": 2})
    records = read(store, sources)
    boundary = records.filter(pl.col("boundary").is_not_null())
    assert boundary.select("boundary", "author", "kind").rows() == [
        ("compaction", "injected", "summary")
    ]
    assert records.filter(status="unknown").is_empty()


def test_a_sub_agent_belongs_to_its_session_and_its_prompt_is_not_the_owner_s(
    store: Store, sources: Path, database: Written
):
    database.session("ses_2", parent=MAIN)
    database.turn(1, "ses_2", "Look for tides.", "Found.")
    records = read(store, sources).filter(session_id=f"{MAIN}/ses_2")
    assert authors(records) == ["subagent", "subagent"]
    assert records["parent_session_id"].drop_nulls().unique().to_list() == [MAIN]


def test_sessions_in_ignored_folders_are_not_archived(
    store: Store, sources: Path, database: Written
):
    database.session("ses_2", folder="/home/mira/clients/acme")
    database.turn(1, "ses_2", "A secret plan.", "Yes.")
    database.turn(2, MAIN, RULE, "Yes.")
    machine = Machine(Path("/home/mira"), (), lambda folder: "clients" in folder)
    assert set(read(store, sources, machine)["session_id"]) == {MAIN}


def test_a_database_that_cannot_be_read_is_reported_and_read_when_it_can(
    store: Store, sources: Path, database: Written
):
    database.turn(1, MAIN, RULE, "Yes.")
    database.connection.execute("ALTER TABLE part RENAME COLUMN data TO content")
    report = intake(store, sources)
    ((path, reason),) = report.unreadable
    assert (path, "no such column" in reason) == (str(database.path), True)
    database.connection.execute("ALTER TABLE part RENAME COLUMN content TO data")
    assert authors(read(store, sources)) == ["owner", "assistant"]


def test_a_part_that_is_no_object_is_counted_and_costs_nothing_else(
    store: Store, sources: Path, database: Written
):
    database.turn(1, MAIN, RULE, "Yes.")
    for data in ("not JSON", "[]", '{"type": "text"}'):
        row = (f"prt_0{data}", "msg_001a", MAIN, 1, database.later(), data)
        database.connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
    records = read(store, sources)
    assert authors(records) == ["owner", "assistant"]
    assert records.filter(status="unknown").height == 3


DEEP = '{"type": "tool", "callID": "c", "tool": "t", "state": {"input": %s}}' % (
    "[" * 300 + "]" * 300
)


@pytest.mark.parametrize(
    "data",
    [
        '{"type": "tool", "callID": "c", "tool": "t", "state": "x"}',
        '{"type": "text", "text": "x", "time": {"start": 1e300}}',
        DEEP,
    ],
    ids=["state", "time", "depth"],
)
def test_a_part_of_another_shape_is_kept_and_the_others_are_read(
    store: Store, sources: Path, database: Written, data: str
):
    database.turn(1, MAIN, RULE, "Yes.")
    row = ("prt_0", "msg_001b", MAIN, 1, database.later(), data)
    database.connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
    report = intake(store, sources)
    records = read(store, sources)
    assert (report.unreadable, authors(records)) == ([], ["owner", "assistant"])
    assert records.filter(status="unknown")["record_type"].to_list() == ["malformed"]
    content = b"".join(line.content for line in store.archive.lines(records["source_id"][0], 0))
    assert json.dumps(data).encode() in content


def test_a_session_that_cannot_be_read_is_named_and_the_others_are_read(
    store: Store, sources: Path, database: Written
):
    database.session("ses_0")
    database.connection.execute("UPDATE session SET time_updated = 1e300 WHERE id = 'ses_0'")
    database.connection.execute("UPDATE session SET title = CAST(x'ff41' AS TEXT)")
    database.turn(1, MAIN, RULE, "Yes.")
    ((_, reason),) = intake(store, sources).unreadable
    assert "session ses_0" in reason
    assert authors(read(store, sources)) == ["owner", "assistant"]


def test_a_time_in_a_call_s_input_does_not_make_the_session_look_read(
    store: Store, sources: Path, database: Written
):
    database.message("msg_0", MAIN, "assistant")
    state = {"status": "completed", "input": {"timestamp": "2031-05-01T09:00:00Z"}, "output": "a"}
    database.part("prt_0", "msg_0", type="tool", tool="t", callID="c", state=state)
    read(store, sources)
    database.turn(1, MAIN, RULE, "Yes.")
    assert authors(read(store, sources)) == ["assistant", "tool", "owner", "assistant"]


@pytest.mark.parametrize("parents", [{"ses_2": "gone"}, {"ses_2": "ses_3", "ses_3": "ses_2"}])
def test_a_session_is_a_sub_agent_s_also_if_the_one_above_is_missing_or_below_it(
    store: Store, sources: Path, database: Written, parents: dict[str, str]
):
    for session, parent in parents.items():
        database.session(session, parent=parent)
    database.turn(1, "ses_2", "Always use feet.", "Found.")
    assert authors(read(store, sources)) == ["subagent", "subagent"]


def test_half_an_emoji_costs_no_part(store: Store, sources: Path, database: Written):
    database.message("msg_1", MAIN, "user")
    database.part("prt_1", "msg_1", type="text", text=f"{RULE} \ud83d")
    assert authors(read(store, sources)) == ["owner"]


def test_a_call_whose_result_was_not_archived_gets_it(database: Written):
    database.message("msg_0", MAIN, "assistant")
    state = {"status": "completed", "input": {}, "output": "a"}
    database.part("prt_0", "msg_0", type="tool", tool="t", callID="c", state=state)
    nothing = ArchivedLines(datetime.min.replace(tzinfo=UTC), list)
    ((_, all_lines),) = read_new_lines(database.path, lambda _: nothing, lambda _: False)
    until_call = [json.loads(line) for line in all_lines.splitlines()[:2]]
    archived = ArchivedLines(nothing.until, lambda: until_call)
    ((_, lines),) = read_new_lines(database.path, lambda _: archived, lambda _: False)
    assert [record["type"] for record in until_call] == ["session", "call"]
    assert "result" in [json.loads(line)["type"] for line in lines.splitlines()]


def test_quotes_inside_a_prompt_are_the_owner_s(store: Store, sources: Path, database: Written):
    prompt = '"metres" is right, not "feet"'
    database.turn(1, MAIN, prompt, "Yes.")
    records = read(store, sources)
    assert records.filter(author="owner")["chars"].to_list() == [len(prompt)]


def test_a_database_that_is_closed_is_left_as_it_is(store: Store, sources: Path, database: Written):
    database.turn(1, MAIN, RULE, "Yes.")
    database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.connection.close()
    before = {path.name: path.read_bytes() for path in database.path.parent.iterdir()}
    assert authors(read(store, sources)) == ["owner", "assistant"]
    assert {path.name: path.read_bytes() for path in database.path.parent.iterdir()} == before
    assert find_files([sources]).left_out == []
