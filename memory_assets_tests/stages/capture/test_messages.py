"""Messages and sessions of a day: read back from the archive with their text, once, and only when their windows changed."""

from datetime import date
from pathlib import Path

import polars as pl

from memory_assets.runs.staleness import stale_partitions
from memory_assets.schema.tables import TABLES
from memory_assets.stages.capture.messages import (
    TOOL_OUTPUT_CHARS,
)
from memory_assets.store.store import Store
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.sessions import (
    assistant,
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
