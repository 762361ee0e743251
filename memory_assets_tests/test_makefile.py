"""The targets of the Makefile, with stand-ins for the programs that they call."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYTHON = """#!/bin/sh
case "$*" in
  *"config get"*find-links*) test -n "$FOUND_AT" && echo "$FOUND_AT" ;;
  *"config get"*) exit 1 ;;
esac
"""
UV = """#!/bin/sh
echo "uv $1 $2, links $UV_FIND_LINKS, index $UV_DEFAULT_INDEX"
"""


@pytest.mark.skipif(sys.platform == "win32" or shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(("found_at", "links"), [("", ""), ("/opt/wheels /mnt/wheels", "/opt/wheels,/mnt/wheels")])
def test_an_install_takes_over_the_settings_of_pip_and_prints_no_environment(tmp_path: Path, found_at: str, links: str):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "requirements.lock").write_text("uv==1.0 \\\n")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name, text in (("python", PYTHON), ("uv", UV)):
        (tmp_path / ".venv" / "bin" / name).write_text(text)
        (tmp_path / ".venv" / "bin" / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PIP_", "UV_"))}
    own = {"SECRET": "hunter2-of-mine", "FOUND_AT": found_at}
    made = subprocess.run(["make", "install"], cwd=tmp_path, env=kept | own, capture_output=True, text=True, check=True)
    first, *others = made.stdout.splitlines()
    assert first.startswith("Installing into .venv")
    assert others == [f"uv pip install, links {links}, index "] * 2
    assert "hunter2" not in made.stdout + made.stderr
