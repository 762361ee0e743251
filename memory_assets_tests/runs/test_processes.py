"""Days that several processes build at once: the tables of one process, also where one of them is killed or fails."""

import os
import shutil
import signal
import sys
import threading
import time
from datetime import date
from pathlib import Path

import pytest

from memory_assets.errors import DamagedError
from memory_assets.runs.days import Stretch
from memory_assets.runs.launch import Runner
from memory_assets.runs.liveness import FOLDER, UNFINISHED
from memory_assets.runs.processes import DayProcesses
from memory_assets.schema.tables import tables_in
from memory_assets.store.store import Store
from memory_assets_tests import story
from memory_assets_tests.once import only_whole


def at(folder: Path, sources: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> Store:
    """Opens the store with so many workers, in this process and in those that it starts."""
    for name, value in {
        **story.environment(folder, sources),
        "MEMORY_WORKERS": str(workers),
    }.items():
        monkeypatch.setenv(name, value)
    store = story.open_at(folder, sources)
    return Store(store.settings.model_copy(update={"workers": workers}), store.root)


def kill_one(store: Store, processes: DayProcesses, killed: list[int]) -> None:
    """Kills the first process that has begun a run."""
    until = time.monotonic() + 60
    while not killed and time.monotonic() < until:
        if [*(store.dagster_home / FOLDER).glob("*.lock")] and (pids := processes.pids()):
            os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])
        time.sleep(0.01)


@pytest.mark.slow
@only_whole("the same with processes that only answer, and the locks of a store, are fast tests")
def test_two_processes_write_days_at_once_and_a_killed_one_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    sources = story.lay_out_sample(tmp_path / "sources", "/pi/")
    one = at(tmp_path / "one", sources, monkeypatch, 1)
    with Runner(one) as runner:
        runner.run_due("capture")
    shutil.copytree(one.root, tmp_path / "two")
    with Runner(one) as runner:
        runner.run_due("process_days")
    two, killed = at(tmp_path / "two", sources, monkeypatch, 2), list[int]()
    with Runner(two) as runner:
        killer = threading.Thread(target=kill_one, args=[two, runner.processes, killed])
        killer.start()
        runner.run_due("process_days")
        killer.join()
        assert killed
        runs = runner.instance.get_runs()
        assert (
            len([run for run in runs if run.job_name == "process_days" and not run.is_success]) <= 1
        )
        assert len([run for run in runs if run.job_name == "process_days" and run.is_success]) > 2
        assert runner.instance.get_runs(UNFINISHED) == []
        assert runner.instance.event_log_storage.get_concurrency_run_ids() == set()
    names = [table.name for table in tables_in("process_days") if table.record]
    found, expected = ({name: each.tables.read(name) for name in names} for each in (two, one))
    story.assert_same_tables(found, expected)
    assert sum(frame.height for frame in expected.values()) > 300


def answering(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Has processes of days run these lines for each question instead of a run."""
    lines = "".join(f"    {line}\n" for line in script.splitlines())
    code = f"import json, os, pathlib, signal, sys\nfor question in map(json.loads, sys.stdin):\n{lines}"
    monkeypatch.setattr("memory_assets.runs.processes.COMMAND", (sys.executable, "-c", code))


def run(store: Store, shares: list[Stretch]) -> tuple[list[Stretch], int]:
    """Runs the shares; returns those that are done in order, and how many processes were killed."""
    finished, killed = list[Stretch](), list[int]()
    with DayProcesses(store) as processes:
        processes.run(
            "process_days",
            shares,
            started_by="test",
            done=finished.append,
            killed=lambda: killed.append(1),
        )
        pids = processes.pids()
    assert pids
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    return sorted(finished, key=lambda one: one.first), len(killed)


SHARES = [Stretch(date(2026, 8, day), date(2026, 8, day)) for day in range(1, 7)]


def test_shares_are_run_once_each_and_one_whose_process_is_killed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store, asked = at(tmp_path / "store", tmp_path, monkeypatch, 2), tmp_path / "asked"
    asked.mkdir()
    answering(
        monkeypatch,
        f"""
with pathlib.Path({str(asked)!r}, question["first"]).open("a") as file: print(question["job"], file=file)
first = not pathlib.Path({str(tmp_path / "killed")!r}).exists()
if question["first"] == "2026-08-03" and first:
    pathlib.Path({str(tmp_path / "killed")!r}).touch()
    os.kill(os.getpid(), signal.SIGKILL)
print(json.dumps(dict(problem=None)), flush=True)
""",
    )
    assert run(store, SHARES) == (SHARES, 1)
    counts = {path.name: path.read_text().count("process_days") for path in asked.iterdir()}
    assert counts == {str(share.first): 1 + (share.first.day == 3) for share in SHARES}


def test_the_first_problem_ends_all_and_keeps_its_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = at(tmp_path / "store", tmp_path, monkeypatch, 2)
    answering(
        monkeypatch,
        'print(json.dumps(dict(problem=dict(kind="DamagedError", message="windows"))), flush=True)',
    )
    with pytest.raises(DamagedError, match="windows"):
        run(store, SHARES)
