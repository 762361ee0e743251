"""A failed run is told in the status, the briefing, a log and by the person's command, until its tables are built."""

import sys
import time
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from polars.exceptions import PanicException

from memory_assets.assets.failed_runs import failed_runs
from memory_assets.definitions import assemble
from memory_assets.errors import DamagedError, LabelsError
from memory_assets.interfaces.envelope import message_of
from memory_assets.memory import MemoryAgent
from memory_assets.runs import materialise
from memory_assets.runs.days import Stretch, range_tags
from memory_assets.runs.execute import origin_of
from memory_assets.runs.failures import clear_repeated, failures_of, note_failure
from memory_assets.runs.launch import Runner
from memory_assets.services.review.open_triage import workspace_of
from memory_assets.stages.deliver.silence import alarm
from memory_assets.store.store import Store
from memory_assets_tests.small_store import DAY, small_store

JOB = "find_friction"
DAYS = Stretch(DAY, DAY)


def fail(*_: Any) -> None:
    raise LabelsError("The model is not there.\nMore lines.")


def failed(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    """Lets a run of the command line fail."""
    with monkeypatch.context() as broken, Runner(store) as runner:
        broken.setattr(materialise, "input_versions", fail)
        with pytest.raises(dg.Failure):
            runner.run(JOB, DAYS)


def test_a_failed_run_of_the_command_line_is_told_until_each_of_its_tables_is_built(
    monkeypatch: pytest.MonkeyPatch,
):
    store = small_store()
    failed(monkeypatch, store)
    line = alarm(str(store.root))
    assert line is not None
    assert line.startswith("The run of 'find_friction' failed at ")
    assert line.endswith(
        " UTC: The model is not there. More lines. See Jobs in the UI of `memory up`."
    )
    assert MemoryAgent(store.settings).status().alarm == line
    log = (store.root / "logs" / "failures.log").read_text()
    assert log.endswith(" of 'find_friction' failed: The model is not there. More lines.\n")
    with Runner(store) as runner:
        for table, told in (("obedience", line), ("friction", None)):
            runner.run(JOB, DAYS, only=[table])
            assert alarm(str(store.root)) == told


def test_a_check_that_stops_a_run_is_named_and_is_no_bug():
    store = small_store()
    for on in ("2026-08-03", "2026-08-04"):
        (store.workspace / "MEMORY.md").write_text(
            f"# MEMORY.md\n\n## Hard Rules\n\n- {on}: Use uv.\n"
        )
        workspace_of(store).commit("Promote", ["MEMORY.md"])
    with Runner(store) as runner, pytest.raises(Exception, match="kept_every_line") as raised:
        runner.run("triage")
    problem = "1 blocking asset check failed with ERROR severity: memory_md: kept_every_line."
    assert message_of(raised.value).startswith(f"{problem} Its page")
    assert problem in str(alarm(str(store.root)))


@pytest.mark.parametrize("command", ["/nowhere/tell", "tell 'without an end"])
def test_a_command_that_cannot_be_started_hides_no_failure(
    command: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_ON_FAILURE", command)
    store = small_store()
    note_failure(store, JOB, "0123456789", "The model is not there.")
    log = (store.root / "logs" / "failures.log").read_text()
    assert "failed: The model is not there." in log
    assert "The command of `on_failure` cannot be started: " in log


def test_the_command_of_the_person_gets_the_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program, message = tmp_path / "tell.py", tmp_path / "message"
    part = tmp_path / "part"
    program.write_text(
        "import pathlib, sys\n"
        f"pathlib.Path({str(part)!r}).write_text(sys.argv[1])\n"
        f"pathlib.Path({str(part)!r}).rename({str(message)!r})\n"
    )
    monkeypatch.setenv("MEMORY_ON_FAILURE", f"'{sys.executable}' '{program}'")
    note_failure(small_store(), JOB, "0123456789", "The token sk-ant-api03-" + "a1B2" * 24)
    until = time.monotonic() + 60
    while not message.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert message.read_text().startswith("The run 01234567 of 'find_friction' failed: The token ")
    assert "a1B2a1B2" not in message.read_text()


def test_a_command_that_cannot_be_started_is_a_line_of_the_log(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_ON_FAILURE", "/no/such/program --urgent")
    store = small_store()
    note_failure(store, JOB, "0123456789", "Broken.")
    log = (store.root / "logs" / "failures.log").read_text()
    assert "cannot be started: [Errno 2]" in log.splitlines()[-1]


def test_a_problem_that_stays_is_logged_once_and_another_one_again():
    store = small_store()
    for problem in ("Broken.", "Broken.", "Worse."):
        note_failure(store, JOB, "0123456789", problem)
    log = (store.root / "logs" / "failures.log").read_text().splitlines()
    assert [line.rpartition(": ")[2] for line in log] == ["Broken.", "Worse."]


def test_a_full_disk_and_a_message_with_nul_hide_no_failure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_ON_FAILURE", sys.executable)
    store = small_store()
    note_failure(store, JOB, "0123456789", "A file\0 is broken.")
    log = store.root / "logs" / "failures.log"
    assert log.read_text().splitlines()[-1].endswith("failed: A file is broken.")
    before = failures_of(store)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("memory_assets.runs.failures.write_where_changed", full)
    monkeypatch.setattr("memory_assets.runs.failures.make_folder", full)
    note_failure(store, JOB, "0123456789", "Worse.")
    assert failures_of(store) == before


def test_a_secret_that_the_end_of_the_message_would_cut_is_masked():
    store = small_store()
    note_failure(store, JOB, "0123456789", "word " * 37 + "sk-ant-api03-" + "a1B2" * 24)
    assert "sk-ant-api03-a" not in failures_of(store)[JOB]["problem"]


@pytest.mark.parametrize("error", [PanicException("index out of bounds"), DamagedError("Broken.")])
def test_a_panic_of_polars_and_a_damaged_file_are_told(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
):
    store = small_store()

    def broken(*_: Any) -> None:
        raise error

    with monkeypatch.context() as patched, Runner(store) as runner:
        patched.setattr(materialise, "input_versions", broken)
        with pytest.raises((dg.Failure, PanicException)):
            runner.run(JOB, DAYS)
    assert failures_of(store)[JOB]["problem"] == str(error)


def test_another_job_that_builds_the_tables_ends_the_failure_of_the_ui():
    store = small_store()
    keys = [dg.AssetKey("friction")]
    definitions = assemble(store.settings, DAY, store)
    with dg.DagsterInstance.ephemeral() as instance:
        implicit = definitions.resolve_implicit_global_asset_job_def()
        failed_run = instance.create_run_for_job(
            implicit, asset_selection=frozenset(keys), status=dg.DagsterRunStatus.FAILURE
        )
        note_failure(store, failed_run.job_name, failed_run.run_id, "Broken.")
        clear_repeated(instance, store)
        assert failures_of(store)
        job = definitions.resolve_job_def(JOB)
        job.execute_in_process(instance=instance, tags=range_tags(str(DAY), str(DAY)))
        clear_repeated(instance, store)
    assert failures_of(store) == {}


def test_a_run_that_only_checks_ends_the_failure_of_checks_and_not_that_of_a_build():
    store = small_store()
    key = dg.AssetKey("friction")
    checks = {dg.AssetCheckKey(key, "schema_and_unique_keys")}
    failure, success = dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.SUCCESS
    with dg.DagsterInstance.ephemeral() as instance:
        for job, built in (("builds", {key}), ("checks", set[dg.AssetKey]())):
            run = dg.DagsterRun(job, job, asset_selection=built, status=failure)
            instance.add_run(run._replace(asset_check_selection=None if built else checks))
            note_failure(store, job, job, "Broken.")
        checked = dg.DagsterRun("again", "again", asset_selection=frozenset(), status=success)
        instance.add_run(checked._replace(asset_check_selection=frozenset(checks)))
        clear_repeated(instance, store)
        assert [*failures_of(store)] == ["builds"]
        instance.add_run(dg.DagsterRun("built", "built", asset_selection={key}, status=success))
        clear_repeated(instance, store)
    assert failures_of(store) == {}


def test_the_sensor_tells_nothing_of_a_job_of_another_part_of_the_project():
    store = small_store()

    @dg.op
    def breaks() -> None:
        raise ValueError("Not ours.")

    @dg.job
    def report() -> None:
        breaks()

    with dg.DagsterInstance.ephemeral() as instance:
        result = report.execute_in_process(instance=instance, raise_on_error=False)
        failed_runs(sensor_context(instance, store, result))
    assert failures_of(store) == {}


def sensor_context(
    instance: dg.DagsterInstance, store: Store, result: dg.ExecuteInProcessResult
) -> dg.RunFailureSensorContext:
    """What the sensor gets for the failed run, as if the daemon had started it."""
    code = dg.reconstructable(empty_job).get_python_origin()
    (event,) = [e for e in result.all_events if e.event_type_value == "PIPELINE_FAILURE"]
    run = result.dagster_run
    return dg.build_run_status_sensor_context(
        sensor_name="failed_runs",
        dagster_event=event,
        dagster_instance=instance,
        dagster_run=run._replace(job_code_origin=code, remote_job_origin=origin_of(run.job_name)),
        resources={"store": store},
    ).for_run_failure()


def test_the_sensor_tells_of_a_failed_run_of_the_daemon_and_the_next_success_ends_it(
    monkeypatch: pytest.MonkeyPatch,
):
    store = small_store()
    job = assemble(store.settings, DAY, store).resolve_job_def(JOB)
    with dg.DagsterInstance.ephemeral() as instance:
        tags = range_tags(str(DAY), str(DAY))
        with monkeypatch.context() as broken:
            broken.setattr(materialise, "input_versions", fail)
            result = job.execute_in_process(instance=instance, tags=tags, raise_on_error=False)
        failed_runs(sensor_context(instance, store, result))
        assert failures_of(store)[JOB]["problem"] == "The model is not there. More lines."
        clear_repeated(instance, store)
        assert failures_of(store)
        job.execute_in_process(instance=instance, tags=tags)
        clear_repeated(instance, store)
    assert failures_of(store) == {}


@dg.job
def empty_job() -> None: ...
