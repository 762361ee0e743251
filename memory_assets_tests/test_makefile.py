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
SHOWS_CALL = """#!/bin/sh
echo "$(basename "$0") $*, links $UV_FIND_LINKS, index $UV_DEFAULT_INDEX"
"""
LOCKED = "pip install --quiet --python .venv/bin/python --no-deps --require-hashes -r"
RUNNING = [
    f"uv {LOCKED} requirements.lock",
    "uv pip install --quiet --python .venv/bin/python --no-deps -e .",
]
DEV = "uv pip install --quiet --python .venv/bin/python -c constraints.txt -e .[dev]"
TESTING = [f"uv {LOCKED} requirements-dev.lock", DEV]
FILES = ("pyproject.toml", "constraints.txt", "requirements.lock", "requirements-dev.lock")

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("make") is None, reason="there is no make"
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in FILES:
        (tmp_path / name).write_text("uv==1.0\n")
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, text in (("python", PYTHON), ("uv", SHOWS_CALL), ("memory", SHOWS_CALL)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return tmp_path


def make(checkout: Path, target: str, **environ: str) -> list[str]:
    """Returns the lines that a target prints."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MAKE", "MFLAGS", "PIP_", "UV_"))
    }
    own = {"SECRET": "hunter2-of-mine", **environ}
    done = subprocess.run(
        ["make", target],
        cwd=checkout,
        env=inherited | own,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "hunter2" not in done.stdout + done.stderr
    return done.stdout.splitlines()


def calls(lines: list[str]) -> list[str]:
    """Returns the calls of programs, without what they find in the environment."""
    return [line.partition(", links")[0] for line in lines if ", links" in line]


@pytest.mark.parametrize(
    ("found_at", "links"), [("", ""), ("/opt/wheels /mnt/wheels", "/opt/wheels,/mnt/wheels")]
)
def test_an_install_takes_over_the_settings_of_pip_and_prints_no_environment(
    checkout: Path, found_at: str, links: str
):
    first, *others = make(checkout, "install", FOUND_AT=found_at)
    assert first.startswith("Installing into .venv")
    assert [line.partition(", links ")[2] for line in others if line.startswith("uv ")] == [
        f"{links}, index "
    ] * 4


def test_running_installs_what_running_needs_and_the_tests_add_the_rest(checkout: Path):
    assert calls(make(checkout, "run")) == [*RUNNING, "memory up"]
    assert calls(make(checkout, "run")) == ["memory up"]
    assert calls(make(checkout, "install")) == TESTING
    assert calls(make(checkout, "install")) == []


@pytest.mark.parametrize(
    ("changed", "installed"),
    [("requirements.lock", RUNNING + TESTING), ("requirements-dev.lock", TESTING)],
)
def test_what_changed_is_installed_again(checkout: Path, changed: str, installed: list[str]):
    make(checkout, "install")
    newest = (checkout / ".venv" / ".testing").stat().st_mtime + 5
    os.utime(checkout / changed, (newest, newest))
    assert calls(make(checkout, "install")) == installed
