"""The command that serves the UI tells where it is, keeps its output in a file, and ends with all of its processes."""

import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from memory_assets.runs import serving
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets.text.files import make_folder

PATIENCE = 60.0

SERVE = """
import sys
from memory_assets.runs import serving
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store

sys.executable = sys.argv[1]
sys.exit(serving.Serving(open_store(read_settings()), int(sys.argv[2]), print).start().wait())
"""


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no signal that asks a process to end"
)
def test_a_command_that_is_asked_to_end_ends_the_ui(tmp_path: Path):
    """In Dagster's place a program that writes its number down and waits; its home exists, which takes long to make."""
    home = make_folder(open_store(read_settings()).dagster_home)
    (home / "dagster.yaml").write_text("telemetry:\n  enabled: false\n")
    running, program = tmp_path / "running", tmp_path / "program"
    program.write_text(
        f"#!/bin/sh\necho $$ > {running}.part && mv {running}.part {running}\nexec sleep 90\n"
    )
    program.chmod(0o700)
    command = subprocess.Popen([sys.executable, "-W", "ignore", "-c", SERVE, str(program), "1"])
    try:
        until = time.monotonic() + PATIENCE
        while not running.exists() and command.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        ui = int(running.read_text())
        command.send_signal(signal.SIGTERM)
        assert command.wait(PATIENCE) == -signal.SIGTERM % 256
        with pytest.raises(ProcessLookupError):
            os.kill(ui, 0)
    finally:
        command.kill()


def is_running(id: int) -> bool:
    """Whether the process exists and has not ended."""
    status = Path(f"/proc/{id}/stat")
    if status.parent.parent.joinpath("self").exists():
        return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"
    state = subprocess.run(
        ["ps", "-o", "state=", "-p", str(id)], capture_output=True, text=True
    ).stdout
    return state.strip()[:1] not in ("", "Z")


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no signal that asks a process to end"
)
def test_a_signal_during_the_start_ends_the_ui_too(monkeypatch: pytest.MonkeyPatch):
    import_module(
        "memory_assets.runs.liveness"
    )  # imports Dagster, which starts programs of its own
    store, started = open_store(read_settings()), []
    (make_folder(store.dagster_home) / "dagster.yaml").write_text("telemetry:\n  enabled: false\n")
    start = subprocess.Popen

    def start_slowly(*_, **__) -> subprocess.Popen:
        process = start(["sleep", "90"], stdout=subprocess.PIPE, text=True)
        started.append(process)
        os.kill(os.getpid(), signal.SIGTERM)
        return process

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    monkeypatch.setattr(subprocess, "Popen", start_slowly)
    try:
        assert serving.Serving(store, 1, print).start().wait() == -signal.SIGTERM
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        started[0].kill()


def make_home() -> Path:
    home = make_folder(open_store(read_settings()).dagster_home)
    (home / "dagster.yaml").write_text("telemetry:\n  enabled: false\n")
    return home


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no signal that asks a process to end"
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_during_a_build_interrupts_it_and_ends_the_ui(tmp_path: Path, number: int):
    """A run takes signals for itself while it is in the main thread."""
    make_home()
    running, program = tmp_path / "running", tmp_path / "program"
    program.write_text(
        f"#!/bin/sh\necho $$ > {running}.part && mv {running}.part {running}\nexec sleep 90\n"
    )
    program.chmod(0o700)
    build = SERVE.replace(
        ".start().wait())",
        ".start().during(run))",
    ).replace(
        "sys.exit(",
        "import threading, time\n\ndef run():\n    assert threading.current_thread() is not threading.main_thread()\n    time.sleep(90)\n\nsys.exit(",
    )
    words = [sys.executable, "-W", "ignore", "-c", build, str(program), "1"]
    command = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + PATIENCE
        while not running.exists() and command.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        command.send_signal(number)
        _, errors = command.communicate(timeout=PATIENCE)
        assert "KeyboardInterrupt" in errors
        assert not is_running(int(running.read_text()))
    finally:
        command.kill()


@pytest.mark.skipif(not serving.HAS_SOCKETS, reason="this system has no sockets for it")
def test_a_killed_service_is_started_again_and_ends_with_the_ui(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(serving, "RESTART_SECONDS", 0.0)
    service = serving.KeptProcess([serving.SERVICE], {})
    service.keep()
    first = service._process
    service.keep()
    assert first is not None
    assert service._process is first
    first.kill()
    first.wait(PATIENCE)
    service.keep()
    assert service._process is not None
    assert service._process is not first
    service.stop()
    assert not is_running(service._process.pid)
