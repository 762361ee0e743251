"""A client of a harness: alone, in an empty folder, without a session around it; it ends with its question and with its asker."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_assets.adapters.harness_model import SESSION_VARIABLES, ClientOutput, HarnessModel
from memory_assets.errors import ModelBusyError, ModelError, ModelSetupError
from memory_assets.schema.protocols import ModelAnswer, ModelRequest
from memory_assets_tests.adapters.clients import FakeClient
from memory_assets_tests.conftest import REPOSITORY

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="the stand-in is a script with a first line"
)
REQUEST = ModelRequest("You observe.", "The question, with an umlaut: ü.")


class Plain(HarnessModel):
    """A harness that prints its answer."""

    title, program, log_in = "Plain", "plain", "Log in."

    def arguments(self, request: ModelRequest, folder: Path) -> list[str]:
        (folder / "prompt.md").write_text(request.system)
        return ["--prompt", str(folder / "prompt.md")]

    def parse(self, output: ClientOutput, folder: Path) -> ModelAnswer:
        return ModelAnswer(output.out, self.name, 1, 1, stop_reason=str(output.exit_code))


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    made = FakeClient(tmp_path, "plain")
    monkeypatch.setenv("PATH", f"{made.folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return made


def model(tmp_path: Path, timeout: float = 20.0, **how: Any) -> Plain:
    environ = {"MEMORY_HOOKS_OFF": "1"}
    lock = tmp_path / "harness.lock"
    return Plain("plain:small", lock, timeout_seconds=timeout, environ=environ, **how)


def test_its_input_is_the_question_in_an_empty_folder(
    client: FakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in SESSION_VARIABLES:
        monkeypatch.setenv(name, "1")
    client.does(out="said", exit_code=3)
    answer = model(tmp_path).ask(REQUEST)
    assert (answer.text, answer.stop_reason, answer.seconds > 0) == ("said", "3", True)
    (call,) = client.calls()
    assert (call["input"], call["folder"], [*call["files"].values()]) == (
        REQUEST.material,
        [],
        ["You observe."],
    )
    assert call["environ"]["MEMORY_HOOKS_OFF"] == "1"
    assert not set(SESSION_VARIABLES) & set(call["environ"])
    assert not list(tmp_path.glob("memory-model-*"))


def test_a_client_that_is_not_installed_is_named_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        ModelSetupError, match="Plain is not installed: there is no command `plain`"
    ):
        model(tmp_path).ask(REQUEST)


def test_a_killed_client_is_named_with_its_signal(client: FakeClient, tmp_path: Path):
    client.does(signal=int(signal.SIGKILL))
    with pytest.raises(
        ModelBusyError, match=r"Plain was killed \(signal 9\); the next run asks again"
    ):
        model(tmp_path).ask(REQUEST)


def is_running(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    if state.exists():
        return state.read_text().rpartition(")")[2].split()[0] != "Z"
    return subprocess.run(["ps", "-p", str(pid)], capture_output=True).returncode == 0


def ends_soon(pid: int) -> bool:
    until = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not is_running(pid)


def test_a_client_that_takes_too_long_is_killed_with_its_children(
    client: FakeClient, tmp_path: Path
):
    client.does(seconds=600, child=str(tmp_path / "pid"))
    with pytest.raises(
        ModelBusyError, match=r"Plain did not answer within 2 s.*MEMORY_MODEL_TIMEOUT_SECONDS"
    ):
        model(tmp_path, timeout=2).ask(REQUEST)
    assert ends_soon(int((tmp_path / "pid").read_text()))


ASK = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from memory_assets_tests.adapters.test_harness_model import REQUEST, model
model(Path({folder!r}), 600).ask(REQUEST)
"""


def test_the_client_and_its_folder_do_not_outlive_the_process_that_asks_however_it_ends(
    client: FakeClient, tmp_path: Path
):
    client.does(seconds=600, child=str(tmp_path / "pid"))
    asker = subprocess.Popen(
        [sys.executable, "-c", ASK.format(tests=str(REPOSITORY), folder=str(tmp_path))]
    )
    until = time.monotonic() + 30
    while (
        not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        and time.monotonic() < until
    ):
        time.sleep(0.05)
    child = int((tmp_path / "pid").read_text())
    assert is_running(child)
    asker.kill()
    asker.wait()
    assert ends_soon(child)
    until = time.monotonic() + 10
    while list(tmp_path.glob("memory-model-*")) and time.monotonic() < until:
        time.sleep(0.05)
    assert not list(tmp_path.glob("memory-model-*"))


@pytest.mark.parametrize("at_once", [1, 2])
def test_as_many_questions_as_wanted_are_asked_side_by_side(
    client: FakeClient, tmp_path: Path, at_once: int
):
    client.does(out="said", seconds=1)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: model(tmp_path, at_once=at_once).ask(REQUEST), range(3)))
    starts = sorted(call["at"] for call in client.calls())
    assert (min(client.ends()) > starts[1]) == (at_once == 2)
    assert sorted(client.ends())[0] <= starts[at_once]


@pytest.mark.parametrize("inherits", [False, True])
def test_keys_are_only_inherited_on_demand(
    client: FakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inherits: bool
):
    names = {
        "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
        "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "ANTHROPIC_VERTEX_PROJECT_ID",
        "OPENAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_CUSTOM_HEADERS",
    }  # fmt: skip
    for name in (*names, "CLAUDE_CODE_OAUTH_TOKEN", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "1")
    client.does(out="said")
    model(tmp_path, inherits_keys=inherits).ask(REQUEST)
    (call,) = client.calls()
    assert names & set(call["environ"]) == (names if inherits else set())
    assert {"CLAUDE_CODE_OAUTH_TOKEN", "HTTPS_PROXY"} <= set(call["environ"])


def test_a_question_does_not_wait_for_ever_behind_another(client: FakeClient, tmp_path: Path):
    client.does(out="said", seconds=3)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(model(tmp_path).ask, REQUEST)
        while not client.calls():
            time.sleep(0.05)
        with pytest.raises(ModelBusyError, match="Another process is still asking Plain"):
            model(tmp_path, timeout=0.04).ask(REQUEST)
        assert first.result().text == "said"


def test_a_harness_answers_no_batches(tmp_path: Path):
    asked = model(tmp_path)
    for call in (
        lambda: asked.submit({"a": REQUEST}),
        lambda: asked.batch("b"),
        lambda: asked.batches(datetime.now(UTC)),
        lambda: asked.results("b"),
    ):
        with pytest.raises(
            ModelError, match="Plain answers no batches. Set MEMORY_MODEL_BATCHES=auto or never"
        ):
            call()
