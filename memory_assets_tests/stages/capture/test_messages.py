"""Messages and sessions of a day: read back from the archive with their text, once, and only when their windows changed."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest

from memory_assets.runs.staleness import stale_partitions
from memory_assets.schema.tables import TABLES
from memory_assets.stages.capture.messages import (
    TOOL_OUTPUT_CHARS,
    build_messages,
    build_sessions,
    cut_middle,
)
from memory_assets.store.store import Store
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.sessions import (
    assistant,
    compaction,
    dialogue,
    lines,
    transcript,
    user,
)


def call(session: str, number: int, minutes: float) -> dict:
    record = assistant(session, number, "", minutes)
    block = {
        "type": "tool_use",
        "id": f"t{number}",
        "name": "Bash",
        "input": {"command": "make test"},
    }
    return {**record, "message": {**record["message"], "content": [block]}}


def result(session: str, number: int, text: str, minutes: float) -> dict:
    block = {
        "type": "tool_result",
        "tool_use_id": f"t{number - 1}",
        "content": text,
        "is_error": True,
    }
    return {**user(session, number, "", minutes), "message": {"role": "user", "content": [block]}}


def test_a_message_leads_back_to_its_bytes(store: Store, sources: Path):
    path = transcript(sources, "a")
    path.write_bytes(lines(*dialogue("a", 5)))
    capture(store, sources)
    content = path.read_bytes()
    for row in store.tables.read("messages").iter_rows(named=True):
        assert row["text"].encode() in content[row["byte_from"] : row["byte_to"]]
        assert content[: row["byte_from"]].count(b"\n") == row["line"]
        assert store.archive.find(row["resource_id"]).byte_from <= row["byte_from"]


def test_the_words_of_people_are_kept_whole_and_tool_output_is_cut_in_its_middle(
    store: Store, sources: Path
):
    long = "first " + "x" * 20_000 + " last"
    records = [user("a", 0, long, 0), call("a", 1, 1), result("a", 2, long, 2)]
    transcript(sources, "a").write_bytes(lines(*records))
    capture(store, sources)
    said, _, shown = store.tables.read("messages").sort("ordinal").to_dicts()
    assert said["text"] == long
    assert len(shown["text"]) == TOOL_OUTPUT_CHARS
    assert (shown["text"][:6], shown["text"][-5:], shown["text_chars"]) == (
        "first ",
        " last",
        len(long),
    )
    assert (shown["tool_name"], shown["is_error"]) == ("Bash", True)


def test_a_result_behind_a_compaction_still_names_its_tool(store: Store, sources: Path):
    before = [*dialogue("a", 2), call("a", 10, 3), compaction("a", 90, 4)]
    after = [result("a", 11, "3 failed", 5), *dialogue("a", 6, first=20, minutes=6)]
    transcript(sources, "a").write_bytes(lines(*before, *after))
    capture(store, sources)
    first = store.tables.read("messages").filter(pl.col("kind") == "tool_result")
    assert first.select("tool_name", "ordinal").rows() == [("Bash", 0)]


def test_a_message_names_its_model_and_the_version_of_its_harness(store: Store, sources: Path):
    records = [
        {**record, "version": f"2.1.{number}"} for number, record in enumerate(dialogue("a", 6))
    ]
    records = [
        {**one, "message": {**one["message"], "model": "opus"}}
        if one["type"] == "assistant"
        else one
        for one in records
    ]
    del records[-1]["version"]
    transcript(sources, "a").write_bytes(lines(*records))
    capture(store, sources)
    found = (
        store.tables.read("messages")
        .sort("ordinal")
        .select("author", "model", "harness_version")
        .rows()
    )
    assert found[:3] == [
        ("owner", None, "2.1.0"),
        ("assistant", "opus", "2.1.1"),
        ("owner", None, "2.1.2"),
    ]
    assert found[-1][2] == found[-2][2], "a record without a version has that of its window"


def test_a_far_turn_context_of_codex_names_the_model(store: Store, sources: Path):
    """The text is read by a reader that begins a hundred lines before the window; the model is that of the index."""
    sources.mkdir()
    path = sources / "rollout-2026-08-03T09-00-00-0a000001-1111-4222-8333-444455556666.jsonl"

    def line(kind: str, payload: dict, minute: int) -> dict:
        return {"timestamp": f"2026-08-03T09:{minute:02}:00.000Z", "type": kind, "payload": payload}

    def said(role: str, text: str, minute: int) -> dict:
        block = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
        return line("response_item", {"type": "message", "role": role, "content": [block]}, minute)

    header = {
        "id": "0a000001-1111-4222-8333-444455556666",
        "cwd": "/home/mira/shop",
        "cli_version": "0.169.0",
    }
    counts = [
        line("event_msg", {"type": "token_count", "info": {"n": number}}, 2)
        for number in range(300)
    ]
    before = [
        line("session_meta", header, 0),
        line("turn_context", {"model": "gpt-5.5"}, 1),
        *counts,
    ]
    path.write_bytes(lines(*before, said("user", "Which port?", 3), said("assistant", "5433.", 4)))
    capture(store, sources)
    found = store.tables.read("messages").sort("ordinal").select("model", "harness_version").rows()
    assert found == [(None, "0.169.0"), ("gpt-5.5", "0.169.0")]


@pytest.mark.parametrize("length", [10, 100])
def test_a_text_that_fits_is_not_cut(length: int):
    assert cut_middle("x" * length, 100) == "x" * length


def test_a_cut_text_says_how_much_was_left_out():
    assert "9,900 characters left out" in cut_middle("x" * 10_000, 100)


def test_a_day_waits_until_it_is_written_and_when_its_windows_change_or_leave(
    store: Store, sources: Path
):
    path = transcript(sources, "a")
    path.write_bytes(lines(*dialogue("a", 3)))
    capture(store, sources)
    windows = store.tables.read("windows")
    assert stale(store, windows) == []
    moved = windows.with_columns(day=date(2026, 8, 4))
    assert stale(store, moved) == ["2026-08-03", "2026-08-04"]
    assert stale(store, windows.with_columns(fingerprint=pl.lit("other"))) == ["2026-08-03"]
    opened = windows.with_columns(day=None, status=pl.lit("open")).cast({"day": pl.Date})
    assert stale(store, opened) == ["2026-08-03"]


def stale(store: Store, windows: pl.DataFrame) -> list[str]:
    """The days whose messages are not those of the windows."""
    store.tables.write("windows", "all", windows)
    return stale_partitions(store, TABLES["messages"])


def test_windows_of_several_sources_are_read_together_without_mixing(store: Store, sources: Path):
    for session in "abc":
        transcript(sources, session).write_bytes(lines(*dialogue(session, 6)))
    capture(store, sources)
    windows = store.tables.read("windows")
    found = pl.concat(build_messages(windows, store.tables, store.archive, store.settings.clock()))
    for (session,), group in found.group_by("session_id"):
        assert all(text.startswith(f"{session}:") for text in group["text"])
        assert group["ordinal"].to_list() == list(range(12))


def test_a_session_is_named_by_its_title_else_by_its_first_turn(store: Store, sources: Path):
    transcript(sources, "a").write_bytes(lines(*dialogue("a", 5)))
    titled = {"type": "custom-title", "customTitle": "Mend the till", "sessionId": "b"}
    transcript(sources, "b").write_bytes(lines(*dialogue("b", 5), titled))
    capture(store, sources)
    found = build_sessions(
        store.tables.read("windows"), store.tables.read("messages"), store.tables
    ).sort("session_id")
    assert found["name"].to_list() == ["a: please look at point 0", "Mend the till"]
    assert found["duration_seconds"].to_list() == [270.0, 270.0]


def test_a_session_lists_the_files_of_its_tool_calls_once(store: Store, sources: Path):
    def edit(number: int) -> dict:
        record = call("a", number, number)
        block = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Edit",
            "input": {"file_path": "/home/mira/shop/till.py"},
        }
        return {**record, "message": {**record["message"], "content": [block]}}

    transcript(sources, "a").write_bytes(lines(*dialogue("a", 5), edit(20), edit(22)))
    capture(store, sources)
    (session,) = build_sessions(
        store.tables.read("windows"), store.tables.read("messages"), store.tables
    ).to_dicts()
    assert session["files_modified"] == ["/home/mira/shop/till.py"]
    assert (session["message_count"], session["user_turn_count"]) == (12, 5)
