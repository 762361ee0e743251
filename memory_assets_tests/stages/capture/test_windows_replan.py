"""Planning only what changed gives the windows of planning everything."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from memory_assets.runs.steps.capture import window_rules_of
from memory_assets.stages.capture.index import index_sources
from memory_assets.stages.capture.windows import (
    WindowRules,
    plan_windows,
    plan_windows_incrementally,
    sources_to_plan,
)
from memory_assets.store.store import Store
from memory_assets_tests.stages.capture.pipeline import intake
from memory_assets_tests.stages.capture.sessions import START, dialogue, lines, transcript


def changed_sources(store: Store, sources: Path) -> list[str]:
    intake(store, sources)
    return index_sources(store.archive, store.tables)


def everything(store: Store, rules: WindowRules) -> pl.DataFrame:
    return plan_windows(store.tables.scan("records"), store.archive.resources(), rules)


def again(
    store: Store, rules: WindowRules, before: pl.DataFrame, changed: list[str]
) -> pl.DataFrame:
    return plan_windows_incrementally(
        store.tables, store.archive.resources(), rules, earlier_windows=before, changed=changed
    )


def source_of(store: Store, session: str) -> str:
    return store.archive.resources().filter(pl.col("conversation_id") == session)["source_id"][0]


@pytest.mark.parametrize("fork", ["A-earlier-name", "z-later-name"])
def test_a_fork_takes_the_session_it_repeats_along(store: Store, sources: Path, fork: str):
    shared = dialogue("m", 5)
    transcript(sources, "m").write_bytes(lines(*shared))
    transcript(sources, "other").write_bytes(lines(*dialogue("other", 5)))
    changed_sources(store, sources)
    rules = window_rules_of(store)
    before = everything(store, rules)
    copied = [{**record, "sessionId": fork} for record in shared]
    transcript(sources, fork).write_bytes(lines(*copied, *dialogue(fork, 5, first=10, minutes=10)))
    changed = changed_sources(store, sources)
    assert sources_to_plan(store.tables, before, changed) == sorted(
        [source_of(store, "m"), source_of(store, fork)]
    )
    assert_frame_equal(again(store, rules, before, changed), everything(store, rules))


def test_a_session_that_goes_on_after_its_forks_takes_all_of_them_along(
    store: Store, sources: Path
):
    """Which of them owns the shared messages depends on where each begins on its own, also of forks that own none of them."""
    shared = dialogue("m", 5)
    transcript(sources, "m").write_bytes(lines(*shared))
    for fork, minutes in (("b", 20), ("z", 40)):
        copied = [{**record, "sessionId": fork} for record in shared]
        transcript(sources, fork).write_bytes(
            lines(*copied, *dialogue(fork, 5, first=10, minutes=minutes))
        )
    changed_sources(store, sources)
    rules = window_rules_of(store)
    before = everything(store, rules)
    transcript(sources, "m").write_bytes(lines(*shared, *dialogue("m", 5, first=30, minutes=400)))
    changed = changed_sources(store, sources)
    assert sources_to_plan(store.tables, before, changed) == sorted(
        source_of(store, name) for name in ("m", "b", "z")
    )
    after = again(store, rules, before, changed)
    assert_frame_equal(after, everything(store, rules))
    assert after.filter(session_id="b")["message_count"].to_list() == [20]


def test_open_windows_close_as_time_passes_though_nothing_was_said(store: Store, sources: Path):
    for session in ("a", "b"):
        transcript(sources, session).write_bytes(lines(*dialogue(session, 5)))
    changed_sources(store, sources)
    early = replace(window_rules_of(store), now=START + timedelta(minutes=20))
    late = replace(early, now=START + timedelta(minutes=90))
    before = everything(store, early)
    assert before["status"].to_list() == ["open", "open"]
    assert_frame_equal(again(store, late, before, []), everything(store, late))


def test_nothing_new_changes_nothing(store: Store, sources: Path):
    transcript(sources, "a").write_bytes(lines(*dialogue("a", 5)))
    changed_sources(store, sources)
    before = everything(store, window_rules_of(store))
    assert again(store, window_rules_of(store), before, []) is before


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_sub_agent_is_in_the_project_of_the_session_that_spawned_it(
    store: Store, sources: Path, order: tuple[int, ...]
):
    """In whatever order their files arrive; a session that nobody spawned keeps its own."""
    agent = [{**r, "isSidechain": True, "cwd": "/tmp/tmp.Xy"} for r in dialogue("a", 2, first=50)]
    other = [{**record, "cwd": "/home/mira/till"} for record in dialogue("f", 5, first=90)]
    subagents = transcript(sources, "a").with_suffix("") / "subagents"
    subagents.mkdir(parents=True)
    files = [(transcript(sources, "a"), dialogue("a", 5)), (transcript(sources, "f"), other)]
    files.append((subagents / "agent-0a1b2c.jsonl", agent))
    windows = pl.DataFrame()
    for number in order:
        path, records = files[number]
        path.write_bytes(lines(*records))
        changed = changed_sources(store, sources)
        rules = window_rules_of(store)
        windows = again(
            store, rules, windows if windows.height else everything(store, rules), changed
        )
        assert_frame_equal(windows, everything(store, rules))
    projects = windows.select("session_id", "project").rows()
    assert dict(projects) == {"a": "shop", "a/agent-0a1b2c": "shop", "f": "till"}
