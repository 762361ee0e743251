"""The notebook is the owner's own copy, is served to this machine alone, and is saved without what was said."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from memory_assets.adapters.optional_packages import install_command
from memory_assets.errors import StoreError
from memory_assets.interfaces import notebook
from memory_assets.store.settings import read_settings
from memory_assets_tests.small_store import small_store


def test_without_jupyter_the_command_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(notebook, "find_spec", lambda name: None)
    with pytest.raises(
        StoreError, match=re.escape(f"not installed. Run `{install_command('notebook')}`")
    ):
        notebook.command(tmp_path / "memory.ipynb", 8888, opens_browser=True)


def test_jupyter_serves_the_folder_of_the_notebook_to_this_machine_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(notebook, "find_spec", lambda name: object())
    command = notebook.command(tmp_path / "memory.ipynb", 8888, opens_browser=False)
    assert command[:3] == [sys.executable, "-m", "notebook"]
    assert {
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=8888",
        "--ServerApp.open_browser=False",
        f"--ServerApp.root_dir={tmp_path}",
        "--ContentsManager.pre_save_hook=memory_assets.interfaces.notebook.without_outputs",
    } <= set(command)


def test_a_notebook_is_saved_without_outputs_and_other_files_as_they_are():
    cells = [
        nbformat.v4.new_markdown_cell("# Mine"),
        nbformat.v4.new_code_cell("1 + 1", execution_count=3),
    ]
    cells[1]["outputs"] = [nbformat.v4.new_output("stream", text="what was said")]
    model = {"type": "notebook", "content": nbformat.v4.new_notebook(cells=cells)}
    notebook.without_outputs(model, path="memory.ipynb", contents_manager=None)
    assert "what was said" not in json.dumps(model) and "1 + 1" in json.dumps(model)
    assert not nbformat.validate(nbformat.from_dict(model["content"]))
    text = {"type": "file", "content": "what was said"}
    notebook.without_outputs(text)
    assert text["content"] == "what was said"


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no signal that asks a process to end"
)
def test_ending_the_command_ends_jupyter(tmp_path: Path):
    running = tmp_path / "running"
    code = (
        "import os, sys; from memory_assets.interfaces import notebook; "
        f"sys.exit(notebook.serve(['sh', '-c', 'echo $$ > {running}; exec sleep 90'], {{}}))"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as command:
        while not (running.exists() and running.read_text().strip()):
            assert command.poll() is None
        command.terminate()
        assert command.wait(30) == 0
    assert not Path(f"/proc/{running.read_text().strip()}").exists()


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no signal that asks a process to end"
)
@pytest.mark.parametrize("asked_to_end_by", [signal.SIGTERM, signal.SIGINT])
def test_ending_the_command_while_jupyter_is_being_started_ends_jupyter(
    asked_to_end_by: signal.Signals,
):
    code = f"""
import os, subprocess, sys
from memory_assets.interfaces import notebook
from memory_assets.memory.notebook import bundled, own_copy

class Ended(subprocess.Popen):
    def __init__(self, *call, **options):
        super().__init__(*call, **options)
        print(self.pid, flush=True)
        os.kill(os.getpid(), {int(asked_to_end_by)})

subprocess.Popen = Ended
sys.exit(notebook.serve(["sleep", "90"], {{}}))
"""
    command = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (command.returncode, command.stderr) == (0, "")
    with pytest.raises(ProcessLookupError):
        os.kill(int(command.stdout), 0)


def test_the_report_of_the_present_holds_figures_and_pictures():
    from memory_assets.memory import MemoryAgent

    store = small_store()
    report = MemoryAgent(read_settings()).health_report()
    assert report.figures["active facts"] == "1"
    assert [chart.name for section in report.sections for chart in section.charts][:2] == [
        "growth",
        "facts",
    ]
    assert not (store.workspace / "health").exists()
