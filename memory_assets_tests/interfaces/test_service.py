"""The process that answers recalls for others: the same output as without it, from the present tables, and never in the way."""

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from memory_assets.interfaces import ask_service
from memory_assets.interfaces import service as served
from memory_assets.memory import MemoryAgent
from memory_assets.memory.places import find_store
from memory_assets.store.sockets import SERVICE, ask
from memory_assets_tests.small_store import FACT, index, small_store
from memory_assets_tests.stages.deliver.test_prompts import bound

START_SECONDS = 60
RECALL = ["recall", "how do we install packages", "--probe"]
ENTRY = "import sys; sys.argv[0] = 'memory'; from memory_assets.interfaces.{} import main; sys.exit(main())"
BY_SERVICE, ALONE = ENTRY.format("entry"), ENTRY.format("cli.app")


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small store whose path is longer than the address of a socket may be."""
    monkeypatch.setenv("MEMORY_DATA", str(tmp_path / ("long" * 30) / "store"))
    store = small_store()
    index(store)
    return store.root


def listening() -> set[Path]:
    return {*Path(find_store(), SERVICE).glob("*.sock")}


@contextmanager
def service() -> Iterator[subprocess.Popen[bytes]]:
    """A service that has loaded everything; it ends when its stdin closes."""
    others = listening()
    words = [sys.executable, "-W", "ignore", "-m", "memory_assets.interfaces.service"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        until = time.monotonic() + START_SECONDS
        while listening() <= others and time.monotonic() < until:
            time.sleep(0.05)
        yield process


def run(code: str, *words: str) -> tuple[int, bytes, bytes]:
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True)
    return done.returncode, done.stdout, done.stderr


def on_a_terminal(code: str, *words: str) -> tuple[int, bytes]:
    """Returns the exit code and everything that a terminal of 80 columns shows."""
    ours, theirs = pty.openpty()
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    environ = {**os.environ, "TERM": "xterm-256color"}
    with subprocess.Popen([sys.executable, "-c", code, *words], env=environ, **streams) as process:
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 65_536):
                shown += chunk
        except OSError:
            pass  # the process has ended
        os.close(ours)
    return process.returncode, shown


def test_a_recall_writes_the_same_with_the_service_and_without_it():
    with service():
        assert [path.stat().st_mode & 0o777 for path in listening()] == [0o600]
        for words in (
            RECALL,
            [*RECALL, "--answer"],
            [*RECALL, "--limit", "99"],
            ["recall", "--no"],
        ):
            assert run(BY_SERVICE, *words) == run(ALONE, *words)
        assert on_a_terminal(BY_SERVICE, *RECALL) == on_a_terminal(ALONE, *RECALL)
        _, out, _ = run(BY_SERVICE, *RECALL, "--json")
        assert json.loads(out)["data"]["results"][0]["text"] == FACT
    assert not listening()


def test_the_service_follows_what_is_written_and_loads_nothing_into_the_caller():
    after = "import json; print(json.dumps([*sys.modules]))"
    with service():
        MemoryAgent().remember("Zebras are installed with zpm.")
        code = BY_SERVICE.replace("sys.exit(main())", f"main(); {after}")
        _, out, _ = run(code, "recall", "how are zebras installed")
        assert b"Zebras are installed with zpm." in out
        loaded = {name.split(".")[0] for name in json.loads(out.splitlines()[-1])}
        assert not loaded & {"polars", "pydantic", "numpy", "typer", "orjson", "rich"}
    assert len(MemoryAgent().store.ledger.events(["memory.recalled"])) == 1


def test_the_hook_before_a_tool_tells_what_the_service_knows_and_is_silent_without_it():
    payload = {"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "pip install x"}}
    patient = "from memory_assets.stages.deliver import hook; hook.TOOL_SECONDS = 5; "
    code = patient + BY_SERVICE
    words = [sys.executable, "-c", code, "hooks", "run", "claude_code", "PreToolUse"]

    def told(**changes: object) -> str:
        text = json.dumps({**payload, **changes})
        done = subprocess.run(words, input=text, text=True, capture_output=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    assert told() == ""
    with service():
        line = json.loads(told())["hookSpecificOutput"]
        assert (line["hookEventName"], FACT in line["additionalContext"]) == ("PreToolUse", True)
        assert "permissionDecision" not in line
        assert told() == ""
        assert FACT in told(agent_id="a1") == told(agent_id="a1") + told(agent_id="a2")
        assert FACT in told(session_id="s3", tool_input={"command": "pip install" + 999 * " kiln"})
        assert told() == told(tool_input="?", session_id="s2") == told(session_id=7) == ""


def test_of_two_services_each_answers_alone_and_a_killed_one_leaves_nothing():
    with service() as first:
        with service():
            assert len(listening()) == 2
        assert ask(find_store(), "no such verb", 5.0) is None
        assert run(BY_SERVICE, *RECALL) == run(ALONE, *RECALL)
        first.kill()
        first.wait()
        assert listening()
        assert run(BY_SERVICE, *RECALL) == run(ALONE, *RECALL)
        assert not listening()


@pytest.mark.parametrize(
    "reply",
    [
        None,
        b"",
        b"\0\0\0\x02{}",
        b"\0\0\0\x03[7]",
        b"\0\0\0\x01{",
        b"\0\0\0\x09{",
        b"\xff\xff\xff\xffx",
    ],
)
def test_a_service_that_does_not_answer_is_left_out(
    reply: bytes | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ask_service, "SECONDS", 0.5)
    monkeypatch.setattr(sys, "stdin", sys.__stdin__)
    folder = Path(find_store(), SERVICE)
    folder.mkdir(parents=True)

    def answer() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(1_000_000)
            connection.sendall(reply or b"")

    with bound(folder / f"{os.getpid()}.sock") as server:
        answering = Thread(target=answer)
        if reply is not None:
            answering.start()
        began = time.monotonic()
        assert ask_service.run_by_service(RECALL) is None
        assert time.monotonic() - began < 2.0
        if reply is not None:
            answering.join()


def test_a_model_is_asked_by_the_process_of_the_caller(monkeypatch: pytest.MonkeyPatch):
    request = {"program": served.PROGRAM, "words": RECALL}
    assert served._is_answered(request)
    assert not served._is_answered({**request, "program": ["elsewhere", 0]})
    assert not served._is_answered({**request, "words": ["forget", "everything"]})
    monkeypatch.setenv("MEMORY_MODEL", "claude-code")
    assert served._is_answered(request)
    assert not served._is_answered({**request, "words": [*RECALL, "--answer"]})
    monkeypatch.setenv("MEMORY_MODEL", "claude-haiku-4-5")
    assert not served._is_answered(request)


def test_where_no_socket_can_be_made_the_service_ends_and_says_why(
    capsys: pytest.CaptureFixture[str],
):
    folder = Path(find_store(), SERVICE)
    folder.write_text("in the way")
    assert served.main() == 0
    assert "recalls of other processes are not answered" in capsys.readouterr().err
    assert ask_service.run_by_service(RECALL) is None
