"""Opens the notebook of the memory in Jupyter.

The owner works in a copy of it, in the folder `notebooks` of the store. The copy is saved without
outputs: they quote sessions, and `memory forget` would not erase them.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from memory_assets.errors import StoreError
from memory_assets.interfaces.ports import LOOPBACK

HOOK = f"{__name__}.without_outputs"
"""Name of the function that Jupyter calls before it saves a notebook."""


def command(notebook: Path, port: int, *, opens_browser: bool) -> list[str]:
    """Returns the command with which Jupyter serves the notebook to this machine alone.

    Raises `StoreError` where Jupyter is not installed.
    """
    if find_spec("notebook") is None:
        from memory_assets.memory.notebook import how_to_install

        raise StoreError(f"Jupyter is not installed. Run `{how_to_install()}`, then try again.")
    options = {
        "ServerApp.ip": LOOPBACK[0],
        "ServerApp.port": port,
        "ServerApp.root_dir": notebook.parent,
        "JupyterNotebookApp.default_url": f"/notebooks/{notebook.name}",
        "ServerApp.open_browser": opens_browser,
        "ServerApp.allow_root": hasattr(os, "geteuid") and os.geteuid() == 0,  # in a container
        "ContentsManager.pre_save_hook": HOOK,
        "Application.log_level": "WARN",
    }
    words = (f"--{name}={value}" for name, value in options.items())
    return [sys.executable, "-m", "notebook", *words]


def serve(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Runs the command until ctrl-C or SIGTERM stops it; returns its exit code.

    The command runs in a session of its own, where ctrl-C does not reach it: Jupyter would ask on
    the terminal whether it should stop.
    """
    process: subprocess.Popen[bytes] | None = None
    is_stopped = False

    def stop(*_: object) -> None:
        nonlocal is_stopped
        is_stopped = True
        if process:
            process.terminate()

    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, stop)
    process = subprocess.Popen(arguments, env=os.environ | environ, start_new_session=True)
    if is_stopped:  # while it was being started
        process.terminate()
    code = process.wait()
    if is_stopped:
        return 0 if code in (0, -signal.SIGTERM) else 1
    return code


def without_outputs(model: dict[str, Any], **_: object) -> None:
    """Removes the outputs from a notebook before Jupyter saves it."""
    if model["type"] != "notebook" or model["content"]["nbformat"] != 4:
        return
    for cell in model["content"]["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
            cell["execution_count"] = None
