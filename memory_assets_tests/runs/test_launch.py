"""Ending the command that serves the UI ends the UI."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE = 60.0

SERVE = """
import sys
from memory_assets.runs import launch
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store

sys.executable = sys.argv[1]
sys.exit(launch.serve(open_store(read_settings()), 1, {}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that asks a process to end")
def test_a_command_that_is_asked_to_end_ends_the_ui(tmp_path: Path):
    """In Dagster's place a program that writes its number down and waits."""
    running, program = tmp_path / "running", tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $$ > {running}.part && mv {running}.part {running}\nexec sleep 90\n")
    program.chmod(0o700)
    command = subprocess.Popen([sys.executable, "-W", "ignore", "-c", SERVE, str(program)])
    try:
        until = time.monotonic() + PATIENCE
        while not running.exists() and command.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        ui = int(running.read_text())
        time.sleep(0.2)  # the signal is handled from just after the start on
        command.send_signal(signal.SIGTERM)
        assert command.wait(PATIENCE) == -signal.SIGTERM % 256
        with pytest.raises(ProcessLookupError):
            os.kill(ui, 0)
    finally:
        command.kill()
