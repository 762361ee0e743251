"""The UI and its daemon tell of a failed run, and list every run."""

import shlex
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.runs.days import range_tags
from memory_assets.runs.execute import REPOSITORY
from memory_assets.runs.instance import CODE_LOCATION
from memory_assets.runs.launch import Runner
from memory_assets.runs.liveness import NO_RETRY, WORKER, holding
from memory_assets.runs.serving import DagsterUi
from memory_assets.services.settings.which_store import environment_of
from memory_assets.stages.deliver.silence import alarm
from memory_assets.store.ready import WAITING
from memory_assets.store.store import Store
from memory_assets_tests.once import only_whole
from memory_assets_tests.small_store import small_store

pytestmark = [pytest.mark.slow, only_whole("tests of the sensor call it as the daemon does")]

OURS = {"repositoryLocationName": CODE_LOCATION, "repositoryName": REPOSITORY}
JOB, SENSOR = "find_friction", "failed_runs"
PATIENCE = 600.0

STOP = "mutation($id: String!) { stopSensor(id: $id) { ... on PythonError { message } } }"
LAUNCH = """mutation($run: ExecutionParams!) { launchRun(executionParams: $run) {
  ... on LaunchRunSuccess { run { runId } } } }"""
STATE = """query($of: RepositorySelector!) { repositoryOrError(repositorySelector: $of) {
  ... on Repository {
    sensors { name id sensorState { ticks(limit: 1) { id } } } jobs { name runs { status } } } } }"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store whose person has a command that writes the message it gets to the file `told`."""
    program = f"open({str(tmp_path / 'told')!r}, 'a').write(__import__('sys').argv[1] + '\\n')"
    monkeypatch.setenv("MEMORY_ON_FAILURE", shlex.join([sys.executable, "-c", program]))
    return small_store()


@pytest.fixture
def ask(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """The UI with its daemon as `memory up` starts them, asked by GraphQL."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the test ends at ctrl-C, too
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    ui = DagsterUi(store, port, environment_of(store.settings), print)

    def ask(query: str, **variables: Any) -> Any:
        body = {"query": query, "variables": variables}
        answer = httpx.post(f"http://127.0.0.1:{port}/graphql", json=body, timeout=PATIENCE)
        (value,) = answer.raise_for_status().json()["data"].values()
        return value

    with holding(store, WORKER):  # as `memory up` does, so that no sensor starts runs of its own
        try:
            ui.start()
            yield ask
        finally:
            ui.kill()


def wait_for(found: Callable[[], Any]) -> Any:
    """Returns the first answer that is not empty."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(httpx.TransportError):  # not served yet
            answer = found()
            if answer:
                return answer
        time.sleep(0.5)
    raise AssertionError("Nothing within the time.")


def test_the_daemon_tells_of_a_failed_run_of_the_ui_which_lists_it_beside_those_of_commands(
    store: Store, ask: Callable[..., Any], tmp_path: Path
):
    for sensor in wait_for(lambda: ask(STATE, of=OURS).get("sensors")):
        if sensor["name"] != SENSOR:  # others would start runs, too
            assert ask(STOP, id=sensor["id"]) == {}
    with Runner(store) as runner:
        runner.run("brief", only=["briefing"])
    wait_for(lambda: has_ticked(ask))
    no_such_day = {**range_tags("1999-01-01", "1999-01-01"), **NO_RETRY}
    tags = [{"key": key, "value": value} for key, value in no_such_day.items()]
    selector = {**OURS, "jobName": JOB}
    assert ask(LAUNCH, run={"selector": selector, "executionMetadata": {"tags": tags}})["run"]
    told = tmp_path / "told"
    message = wait_for(lambda: told.exists() and told.read_text())
    (store.root / WAITING).unlink(missing_ok=True)  # the clock of the store stands still
    line = alarm(str(store.root)) or ""
    assert line.startswith(f"The run of '{JOB}' failed at ")
    assert MemoryAgent(store.settings).status().alarm == line
    assert MemoryAgent(store.settings).brief().warnings == (line,)
    assert (store.root / "logs" / "failures.log").read_text().endswith(message)
    runs = {job["name"]: job["runs"] for job in ask(STATE, of=OURS)["jobs"]}
    assert runs["brief"] == [{"status": "SUCCESS"}]
    assert runs[JOB] == [{"status": "FAILURE"}]


def has_ticked(ask: Callable[..., Any]) -> bool:
    """Whether the sensor has had its first tick: it reports runs that fail after that."""
    sensors = {sensor["name"]: sensor for sensor in ask(STATE, of=OURS)["sensors"]}
    return bool(sensors[SENSOR]["sensorState"]["ticks"])
