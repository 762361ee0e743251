"""Runs of the command line belong to the code location that the UI loads, so that the UI lists them."""

import subprocess
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.remote_origin import ManagedGrpcPythonEnvCodeLocationOrigin
from dagster._core.workspace.load import location_origins_from_yaml_paths

from memory_assets import definitions
from memory_assets.errors import DamagedError
from memory_assets.runs import execute, materialise
from memory_assets.runs.days import Stretch
from memory_assets.runs.instance import CODE_LOCATION
from memory_assets.runs.launch import Runner
from memory_assets_tests.small_store import DAY, small_store

CHECKOUT = Path(__file__).parents[2]
LABEL = {".dagster/repository": "__repository__@memory_assets.definitions"}
"""What the UI asks for when it lists the runs of a job."""


def runs_of(runner: Runner, job: str) -> list[dg.DagsterRun]:
    return list(runner.instance.get_runs(dg.RunsFilter(job_name=job, tags=LABEL)))


def test_a_run_of_the_command_line_is_among_the_runs_of_its_job():
    with Runner(small_store()) as runner:
        runner.run("find_friction", Stretch(DAY, DAY))
        runner.run("brief", only=["briefing"])
        (whole,) = runs_of(runner, "find_friction")
        (part,) = runs_of(runner, "brief")
    assert whole.status == part.status == dg.DagsterRunStatus.SUCCESS
    assert whole.asset_selection is None
    assert part.asset_selection == {dg.AssetKey("briefing")}
    assert whole.remote_job_origin == execute.origin_of("find_friction")


def test_a_run_starts_no_process_beside_it(monkeypatch: pytest.MonkeyPatch):
    with Runner(small_store()) as runner:
        monkeypatch.setattr(subprocess, "Popen", lambda *words, **_: pytest.fail(f"starts {words}"))
        runner.run("find_friction", Stretch(DAY, DAY))
        (run,) = runs_of(runner, "find_friction")
    assert run.status == dg.DagsterRunStatus.SUCCESS


def test_a_failed_run_of_the_command_line_is_listed_and_dagster_does_not_repeat_it(
    monkeypatch: pytest.MonkeyPatch,
):
    def fails(*_: Any) -> None:
        raise DamagedError("The disk is full.")

    monkeypatch.setattr(materialise, "input_versions", fails)
    with Runner(small_store()) as runner:
        with pytest.raises(dg.Failure, match="The disk is full"):
            runner.run("find_friction", Stretch(DAY, DAY))
        (run,) = runs_of(runner, "find_friction")
    assert run.status == dg.DagsterRunStatus.FAILURE
    assert run.tags["dagster/max_retries"] == "0"


def test_the_ui_loads_the_code_location_under_the_name_that_runs_have():
    (location,) = location_origins_from_yaml_paths([str(CHECKOUT / "workspace.yaml")])
    assert isinstance(location, ManagedGrpcPythonEnvCodeLocationOrigin)
    assert location.location_name == CODE_LOCATION == definitions.__name__
    assert definitions.defs().get_repository_def().name == execute.REPOSITORY
