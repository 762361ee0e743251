"""What a question is answered from is built first; what a killed run left is stale and is built by the next one."""

from datetime import timedelta
from pathlib import Path

import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.runs import launch
from memory_assets.runs.days import Stretch
from memory_assets.runs.due import DueRun, next_runs
from memory_assets.runs.launch import ANSWERING, Runner
from memory_assets.runs.worker import AT_ONCE
from memory_assets.schema.tables import tables_in, with_sources
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets.text.files import make_folder
from memory_assets_tests.runs.test_worker import SESSION, send_end
from memory_assets_tests.small_store import DAY, small_store
from memory_assets_tests.stages.capture.sessions import START, dialogue, lines, transcript


class Recorded(Runner):
    """A runner that notes what it would run."""

    ran: list[tuple[str, list[str]]]

    def run(self, job, stretch=None, *, ask_again=False, only=None):
        self.ran.append((job, list(only or ())))


def recorded(monkeypatch: pytest.MonkeyPatch, days: int) -> list[tuple[str, list[str]]]:
    last = DAY.replace(day=DAY.day + days - 1) if days else DAY
    due = {"process_days": [DueRun("process_days", Stretch(DAY, last), "-")] if days else []}
    due["rebuild_memories"] = [DueRun("rebuild_memories", None, "-")]
    monkeypatch.setattr(launch, "due_runs", lambda _, job: due.get(job, []))
    runner = Recorded(small_store())
    runner.ran = []
    runner.run_recall_first()
    return runner.ran


def test_what_answers_is_built_of_all_jobs_before_the_rest_and_everything_once(
    monkeypatch: pytest.MonkeyPatch,
):
    ran = recorded(monkeypatch, 1)
    assert [job for job, _ in ran] == ["process_days", "rebuild_memories"] * 2
    for job in ("process_days", "rebuild_memories"):
        first, rest = (names for one, names in ran if one == job)
        assert set(first) <= with_sources(ANSWERING)
        assert sorted(first + rest) == sorted(table.name for table in tables_in(job))
    assert {"observations", "verdicts", "embeddings", "passages"} <= set(ran[0][1])
    assert ran[1][1] == ["merges", "memories", "vector_index", "text_index"]
    assert {"quality", "lessons", "daily_log"} <= set(ran[2][1])


@pytest.mark.slow
def test_a_run_that_is_killed_before_the_rest_leaves_it_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_NOW", (START + timedelta(minutes=20)).isoformat())
    monkeypatch.setenv("MEMORY_SOURCES", str(make_folder(tmp_path / "sources")))
    transcript(tmp_path / "sources", SESSION).write_bytes(lines(*dialogue(SESSION, 6)))
    store, run, begun = open_store(read_settings()), Runner.run, list[str]()
    send_end(store)

    def run_until_the_rest(self, job, *args, **options):
        if job in begun:
            raise KeyboardInterrupt
        begun.append(job)
        run(self, job, *args, **options)

    with Runner(store) as runner, monkeypatch.context() as killed, pytest.raises(KeyboardInterrupt):
        killed.setattr(Runner, "run", run_until_the_rest)
        runner.run_recall_first()
    assert begun == ["capture", "process_days", "rebuild_memories"]
    (found, *_) = (
        MemoryAgent(store.settings).recall(f"{SESSION}: please look at point 4", probe=True).results
    )
    assert found.session == SESSION
    assert [one.job for one in next_runs(store)] == ["process_days"]
    assert not store.tables.parts("quality")
    with Runner(store) as runner:
        launch.update(runner, AT_ONCE, recall_first=True)
    assert next_runs(store) == []
    assert store.tables.parts("quality")
    assert store.tables.parts("recalls")
