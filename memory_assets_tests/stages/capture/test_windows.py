"""Windows: what closes them, what is too short, whose a shared message is, which day they belong to."""

import shutil
from collections import Counter
from datetime import timedelta
from pathlib import Path

import orjson
import polars as pl
import pytest

from memory_assets.runs.steps.capture import window_rules_of
from memory_assets.stages.capture.index import index_sources
from memory_assets.stages.capture.intake import Machine
from memory_assets.stages.capture.windows import plan_windows, window_key
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.pipeline import capture, intake
from memory_assets_tests.stages.capture.sessions import (
    START,
    assistant,
    compaction,
    dialogue,
    lines,
    transcript,
    user,
)
from memory_assets_tests.store.test_projects import repository, worktree


def windows(store: Store, sources: Path) -> list[dict]:
    capture(store, sources)
    return store.tables.read("windows").sort("started_at", "line_from").to_dicts()


def shape(found: list[dict]) -> list[tuple]:
    return [
        (
            w["session_id"],
            w["trigger"],
            w["status"],
            w["line_from"],
            w["line_to"],
            w["user_turn_count"],
        )
        for w in found
    ]


def test_a_session_that_compacts_and_ends_yields_two_windows(store, sources):
    records = [*dialogue("a", 3), compaction("a", 100, 4), *dialogue("a", 5, first=6, minutes=5)]
    transcript(sources, "a").write_bytes(lines(*records))
    assert shape(windows(store, sources)) == [
        ("a", "compaction", "observed", 0, 5, 3),
        ("a", "ended", "observed", 7, 16, 5),
    ]


def test_a_short_session_that_resumes_joins_its_next_window_under_the_same_key(store, sources):
    path = transcript(sources, "a")
    path.write_bytes(lines(*dialogue("a", 3)))
    (first,) = windows(store, sources)
    assert shape([first]) == [("a", "ended", "short", 0, 5, 3)]
    path.write_bytes(lines(*dialogue("a", 3), *dialogue("a", 3, first=6, minutes=60 * 24)))
    (joined,) = windows(store, sources)
    assert (joined["status"], joined["user_turn_count"], joined["window_id"]) == (
        "observed",
        6,
        first["window_id"],
    )
    assert (first["day"].isoformat(), joined["day"].isoformat()) == ("2026-08-03", "2026-08-04")
    assert store.tables.read("messages").height == 12


def test_a_long_session_that_resumes_briefly_is_observed_to_its_end(store, sources):
    path, whole = (
        transcript(sources, "a"),
        [*dialogue("a", 6), *dialogue("a", 1, first=12, minutes=300)],
    )
    path.write_bytes(lines(*whole))
    before = windows(store, sources)
    assert shape(before) == [
        ("a", "ended", "observed", 0, 11, 6),
        ("a", "ended", "observed", 12, 13, 1),
    ]
    path.write_bytes(lines(*whole, *dialogue("a", 2, first=14, minutes=600)))
    after = windows(store, sources)
    assert after[:2] == before, "no window that was observed changes when the session resumes"
    assert shape(after)[2:] == [("a", "ended", "observed", 14, 17, 2)]


def test_a_session_without_a_turn_is_short_even_if_it_was_compacted(store, sources):
    records = [
        assistant("a", 1, "Reading the code.", 0),
        compaction("a", 90, 4),
        assistant("a", 2, "Done.", 5),
    ]
    transcript(sources, "a").write_bytes(lines(*records))
    assert [(w["status"], w["message_count"]) for w in windows(store, sources)] == [("short", 2)]


def test_the_project_is_the_repository_in_which_the_session_was_captured_also_after_it_was_deleted(
    store, sources, tmp_path
):
    main, folder = repository(tmp_path / "home" / "shop"), tmp_path / "home" / "work" / "1"
    worktree(folder, main)
    path, records = (
        transcript(sources, "a"),
        [{**record, "cwd": str(folder)} for record in dialogue("a", 5)],
    )
    path.write_bytes(lines(*records))
    machine = Machine(tmp_path / "home")
    capture(store, sources, machine)
    shutil.rmtree(folder)
    before = store.tables.read("windows")
    assert (before["project"][0], before["person"][0]) == ("shop", store.settings.owner)
    later = [{**record, "cwd": str(folder)} for record in dialogue("a", 5, first=10, minutes=300)]
    path.write_bytes(lines(*records, *later))
    capture(store, sources, machine)
    assert store.tables.read("windows")["project"].to_list() == ["shop", "shop"]
    store.tables.drop("records", before["source_id"][0])
    index_sources(store.archive, store.tables)
    assert plan_windows(
        store.tables.scan("records"), store.archive.resources(), window_rules_of(store)
    )["project"].unique().to_list() == ["shop"]


def test_ranges_of_an_earlier_release_get_their_repository_at_the_next_intake(
    store, sources, tmp_path
):
    repository(tmp_path / "home" / "clone", "https://example.com/harbour/till.git")
    records = [
        {**record, "cwd": str(tmp_path / "home" / "clone" / "src")} for record in dialogue("a", 5)
    ]
    transcript(sources, "a").write_bytes(lines(*records))
    intake(store, sources, machine=Machine(tmp_path / "home"))
    catalog = store.root / "resources" / "catalog.jsonl"
    line = {
        key: value
        for key, value in orjson.loads(catalog.read_bytes()).items()
        if key not in ("is_own", "repositories")
    }
    catalog.write_bytes(orjson.dumps({**line, "v": 2}) + b"\n")
    capture(store, sources, Machine(tmp_path / "home"))
    (window,) = store.tables.read("windows").to_dicts()
    assert (window["project"], window["person"]) == ("till", store.settings.owner)


def test_a_session_is_open_until_it_has_been_idle_for_long_enough(store, sources):
    transcript(sources, "a").write_bytes(lines(*dialogue("a", 5)))
    capture(store, sources)
    records, resources, rules = (
        store.tables.read("records"),
        store.archive.resources(),
        window_rules_of(store),
    )
    last = START + timedelta(minutes=4.5)
    for now, status in (
        (last + timedelta(minutes=60), "open"),
        (last + timedelta(minutes=61), "observed"),
    ):
        at = type(rules)(**{**rules.__dict__, "now": now})
        assert plan_windows(records, resources, at)["status"].to_list() == [status]


def test_an_unobserved_tail_that_grows_too_large_is_closed_at_the_next_user_turn(store, sources):
    big = [user("a", n, "x" * 200_000, n) for n in range(6)]
    transcript(sources, "a").write_bytes(lines(*big))
    assert [w["trigger"] for w in windows(store, sources)] == ["tail", "ended"]
    assert sum(w["message_count"] for w in store.tables.read("windows").to_dicts()) == 6


NAMES = ["0-sorts-first", "z-sorts-last"]


def copy(records: list[dict], fork: str) -> list[dict]:
    """The records as Claude Code writes them into a fork: with its session id, and nothing else changed."""
    return [{**record, "sessionId": fork} for record in records]


def owners(store: Store, sources: Path) -> dict[str, int]:
    """How many messages each session owns."""
    counts = Counter()
    for window in windows(store, sources):
        counts[window["session_id"]] += window["message_count"]
    return dict(counts)


@pytest.mark.parametrize("fork", NAMES)
def test_a_session_that_nobody_continued_keeps_its_messages_when_it_is_forked(store, sources, fork):
    shared = dialogue("m", 5)
    transcript(sources, "m").write_bytes(lines(*shared))
    before = windows(store, sources)
    transcript(sources, fork).write_bytes(
        lines(*copy(shared, fork), *dialogue(fork, 5, first=10, minutes=40))
    )
    after = windows(store, sources)
    assert [w["window_id"] for w in after if w["session_id"] == "m"] == [
        w["window_id"] for w in before
    ]
    assert owners(store, sources) == {"m": 10, fork: 10}


@pytest.mark.parametrize("names", [("c", "b", "a"), ("a", "b", "c"), ("b", "c", "a")])
def test_forks_of_forks_leave_each_generation_what_it_said(store, sources, names):
    told: list[dict] = []
    for generation, name in enumerate(names):
        told = [
            *copy(told, name),
            *dialogue(name, 5, first=10 * generation, minutes=40.0 * generation),
        ]
        transcript(sources, name).write_bytes(lines(*told))
    assert owners(store, sources) == dict.fromkeys(names, 10)


def test_a_window_belongs_to_the_local_day_of_its_latest_event(sources, monkeypatch):
    monkeypatch.setenv("MEMORY_TIMEZONE", "Europe/Berlin")
    store = open_store(read_settings())
    transcript(sources, "a").write_bytes(
        lines(*dialogue("a", 5, minutes=60 * 13 - 3))
    )  # 23:57 to 00:01 in Berlin
    (window,) = windows(store, sources)
    assert window["day"].isoformat() == "2026-08-04"


def test_impossible_times_are_guessed_from_the_neighbour_or_the_capture(store, sources):
    records = dialogue("a", 6)
    records[2]["timestamp"] = "1970-01-01T00:00:00.000Z"
    records[5]["timestamp"] = "2031-01-01T00:00:00.000Z"
    transcript(sources, "a").write_bytes(lines(*records))
    for record in (lone := dialogue("b", 5)):
        record.pop("timestamp")
    transcript(sources, "b").write_bytes(lines(*lone))
    found = {w["session_id"]: w for w in windows(store, sources)}
    guessed = store.tables.read("messages").filter(pl.col("session_id") == "a").sort("ordinal")
    assert guessed.filter("is_time_guessed")["line"].to_list() == [2, 5]
    assert guessed["event_at"][2] == guessed["event_at"][1]
    assert (found["a"]["is_time_guessed"], found["b"]["is_time_guessed"]) == (False, True)
    assert found["b"]["started_at"] == store.settings.clock()


def test_the_key_of_a_window_is_permanent():
    assert window_key("a", "ended", "msg_1").startswith("f1a619c5")
    others = {
        window_key("a", "compaction", "msg_1"),
        window_key("b", "ended", "msg_1"),
        window_key("a", "ended", "msg_2"),
    }
    assert len(others - {window_key("a", "ended", "msg_1")}) == 3
