"""Words first: what was said is found by its words before anything is distilled; the jobs then build the same tables."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from memory_assets.memory import MemoryAgent
from memory_assets.runs import launch, word_search
from memory_assets.runs.due import next_runs
from memory_assets.runs.launch import Runner, update
from memory_assets.runs.word_search import index_words
from memory_assets.runs.worker import AT_ONCE
from memory_assets.services.search.corpus import open_texts
from memory_assets.services.sources.transcripts import widen_since
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.files import make_folder
from memory_assets_tests.stages.capture.sessions import START, dialogue, lines, transcript, user

EARLY, LATE = "0a000001-1111-4222-8333-444455556666", "0a000002-1111-4222-8333-444455556666"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with two sessions to read, five days apart; nothing is read yet."""
    monkeypatch.setenv("MEMORY_NOW", (START + timedelta(days=20)).isoformat())
    monkeypatch.setenv("MEMORY_SOURCES", str(make_folder(tmp_path / "sources")))
    for session, days in ((EARLY, 0), (LATE, 5)):
        records = dialogue(session, 3, minutes=days * 1_440)
        transcript(tmp_path / "sources", session).write_bytes(lines(*records))
    return open_store(read_settings())


def sessions_that_answer(store: Store, question: str) -> set[str | None]:
    results = MemoryAgent(store.settings).recall(question, probe=True).results
    return {result.session for result in results}


def test_words_of_every_session_are_found_before_anything_is_distilled(store: Store):
    index_words(store)
    for session in (EARLY, LATE):
        assert session in sessions_that_answer(store, f"{session}: please look at point 2")
    assert len(store.tables.parts("messages")) == 2
    assert not store.tables.parts("observations")
    assert not store.dagster_home.is_dir()


def test_the_latest_days_can_be_recalled_while_earlier_ones_are_still_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(word_search, "RECENT_DAYS", 1)
    indexed: list[list[str]] = []
    materialise = word_search.materialise

    def watch(store, tables, partitions):
        report = materialise(store, tables, partitions)
        if tables[0].name == "text_index":
            indexed.append(sorted(open_texts(store).ids("messages")))
        return report

    monkeypatch.setattr(word_search, "materialise", watch)
    index_words(store)
    latest, whole = indexed
    assert len(latest) == 6
    assert len(whole) == 12
    assert set(latest) < set(whole)


@pytest.mark.parametrize("step", ["records", "messages", "passages", "text_index"])
def test_what_a_killed_process_left_is_indexed_by_the_next_one(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: str
):
    materialise = word_search.materialise

    def kill(store, tables, partitions):
        if tables[0].name == step:
            raise KeyboardInterrupt
        return materialise(store, tables, partitions)

    with monkeypatch.context() as killed, pytest.raises(KeyboardInterrupt):
        killed.setattr(word_search, "materialise", kill)
        index_words(store)
    index_words(store)
    assert len(open_texts(store).ids("messages")) == 12


def test_an_open_session_is_found_by_its_words(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    index_words(store)
    now = START + timedelta(days=20)
    records = dialogue("growing", 1, minutes=20 * 1_440)
    transcript(tmp_path / "sources", "growing").write_bytes(lines(*records))
    monkeypatch.setenv("MEMORY_NOW", (now + timedelta(minutes=1)).isoformat())
    later = open_store(read_settings())
    index_words(later)
    assert "growing" in sessions_that_answer(later, "growing: please look at point 0")


@pytest.mark.slow
def test_older_sessions_are_only_found_by_their_words_until_since_is_moved_back(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    usual = Path.home() / ".claude" / "projects"
    (tmp_path / "sources" / "projects").rename(make_folder(usual.parent) / "projects")
    monkeypatch.delenv("MEMORY_SOURCES")
    store = open_store(read_settings())
    now = (START + timedelta(days=20)).timestamp()
    for session, days in ((EARLY, 19), (LATE, 2)):
        path = next(usual.rglob(f"{session}.jsonl"))
        rule = user(
            session, 9, "Always use uv, never pip.", 3 if session == EARLY else 5 * 1_440 + 4
        )
        path.write_bytes(path.read_bytes() + lines(rule))
        os.utime(path, (now - days * 86_400, now - days * 86_400))

    def distilled_sessions() -> set[str]:
        with Runner(store) as runner:
            update(runner, AT_ONCE)
        assert next_runs(store) == []
        return {*store.tables.read("observations")["session_id"]}

    assert distilled_sessions() == {LATE}
    assert EARLY in sessions_that_answer(store, f"{EARLY}: please look at point 2")
    assert list(store.tables.parts("observations")) == ["2026-08-08"]
    assert len(store.tables.parts("messages")) == 2
    widen_since(store.settings, "all")
    assert distilled_sessions() == {EARLY, LATE}


def test_the_jobs_after_it_begin_with_the_rest_of_the_capture(store: Store):
    index_words(store)
    assert not store.tables.parts("checkpoints_open")
    assert [run.job for run in next_runs(store)] == ["capture"]


@pytest.mark.slow
def test_with_nothing_new_nothing_is_built(store: Store, monkeypatch: pytest.MonkeyPatch):
    with Runner(store) as runner:
        update(runner, AT_ONCE)
    monkeypatch.setattr(word_search, "materialise", lambda *_: pytest.fail("nothing is new"))
    index_words(store)


@pytest.mark.slow
def test_the_jobs_make_the_same_tables_with_and_without_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with Runner(store) as runner:
        update(runner, AT_ONCE)
    monkeypatch.setattr(launch, "index_words", lambda store: None)
    other = open_store(read_settings(data=tmp_path / "other"))
    with Runner(other) as runner:
        update(runner, AT_ONCE)
    for table in ("messages", "passages", "windows", "observations", "memories", "checkpoints"):
        assert_frame_equal(store.tables.read(table), other.tables.read(table))
    assert open_texts(store).ids("messages") == open_texts(other).ids("messages")
