"""The service at login: a unit that systemd accepts, a launch agent that plistlib reads, no keys in either."""

import os
import plistlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from memory_assets.errors import SettingsError, StoreError
from memory_assets.extras.service import login_service
from memory_assets.extras.service.login_service import (
    ABSENT,
    CURRENT,
    INSTALLED,
    OUTDATED,
    REMOVED,
    Platform,
    install,
    read_keys,
    status,
    uninstall,
)

LINUX, MAC = "linux", "darwin"
PLATFORMS = [LINUX, MAC]


class Manager:
    """Takes the commands of systemd and launchd."""

    def __init__(self, *failing: str) -> None:
        self.asked: list[str] = []
        self.failing = failing

    def __call__(self, words: Sequence[str]) -> tuple[int, str]:
        line = " ".join(words)
        self.asked.append(line)
        return (
            (1, "Failed to connect to bus\nmore")
            if any(word in line for word in self.failing)
            else (0, "")
        )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.mark.parametrize("where", PLATFORMS, ids=str)
def test_it_is_installed_for_a_store_started_and_removed(where: str, home: Path, tmp_path: Path):
    run, store = Manager(), tmp_path / "my store"
    machine = Platform(where, home, {}, run)
    assert status(store, machine=machine).state == ABSENT
    done = install(store, 3456, machine=machine)
    assert (done.state, done.is_running) == (INSTALLED, True)
    assert done.path.stat().st_mode & 0o777 == 0o600
    assert any("enable --now" in line or "bootstrap" in line for line in run.asked)
    assert status(store, machine=machine).state == INSTALLED
    assert install(store, 3456, machine=machine).state == CURRENT
    assert status(tmp_path / "other", machine=machine).state == OUTDATED
    assert uninstall(store, machine=machine).state == REMOVED
    assert not done.path.exists()
    assert any("disable --now" in line or "bootout" in line for line in run.asked)
    assert uninstall(store, machine=machine).state == ABSENT


@pytest.mark.parametrize("where", PLATFORMS, ids=str)
def test_a_dry_run_writes_and_starts_nothing(where: str, home: Path, tmp_path: Path):
    run = Manager()
    found = install(tmp_path, is_dry=True, machine=Platform(where, home, {}, run))
    assert "service" in found.text and not found.path.exists() and run.asked == []


def test_where_the_manager_cannot_be_reached_the_commands_to_run_are_named(
    home: Path, tmp_path: Path
):
    found = install(tmp_path, machine=Platform(LINUX, home, {}, Manager("enable", "is-active")))
    assert found.path.is_file() and not found.is_running
    assert found.warnings == (
        "`systemctl --user enable --now memory-assets.service` failed (Failed to connect to bus). "
        "The file is written; run by hand: systemctl --user enable --now memory-assets.service",
    )


def test_systemd_accepts_the_unit_whatever_the_paths_are(home: Path, tmp_path: Path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    store = tmp_path / 'a "store" of 100% $HOME \\ more'
    environ = {"PATH": '/opt/my tools:/usr/bin:"$x"', "CODEX_HOME": "/home/mira/100%"}
    unit = install(store, machine=Platform(LINUX, home, environ, Manager())).path
    (tmp_path / "runtime").mkdir()
    variables = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "runtime")}
    command = ["systemd-analyze", "verify", "--user", str(unit)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_launch_agent_is_a_property_list_with_the_store_and_a_restart_after_failures(
    home: Path, tmp_path: Path
):
    path = install(
        tmp_path / "a & b", machine=Platform(MAC, home, {"CODEX_HOME": "/x"}, Manager())
    ).path
    found = plistlib.loads(path.read_bytes())
    assert path == home / "Library" / "LaunchAgents" / "local.memory-assets.plist"
    assert found["ProgramArguments"][-4:] == ["service", "run", "--store", str(tmp_path / "a & b")]
    assert found["EnvironmentVariables"] == {"CODEX_HOME": "/x"}
    assert (found["RunAtLoad"], found["KeepAlive"], found["Umask"]) == (
        True,
        {"SuccessfulExit": False},
        0o077,
    )


@pytest.mark.parametrize("where", PLATFORMS, ids=str)
def test_keys_and_settings_of_the_shell_are_named_and_never_written(
    where: str, home: Path, tmp_path: Path
):
    environ = {
        "ANTHROPIC_API_KEY": "sk-secret",
        "MEMORY_REVIEW_DAYS": "9",
        "MEMORY_TODOIST_TOKEN": "tok",
        "MEMORY_DATA": "x",
    }
    found = install(tmp_path, machine=Platform(where, home, environ, Manager()))
    assert "sk-secret" not in found.text and "tok" not in found.text.replace("token", "")
    said = " ".join(found.warnings)
    assert "MEMORY_REVIEW_DAYS" in said and "ANTHROPIC_API_KEY" in said and "service.env" in said
    assert "MEMORY_DATA" not in said


def test_keys_are_read_from_a_file_that_only_the_owner_may_read(tmp_path: Path):
    file = tmp_path / "memory_assets" / "service.env"
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert read_keys(environ) == {}
    file.parent.mkdir()
    file.write_text(
        "# keys\nANTHROPIC_API_KEY='abc'\nexport MEMORY_TODOIST_TOKEN=def\n\nnonsense\n"
    )
    file.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        read_keys(environ)
    file.chmod(0o600)
    assert read_keys(environ) == {"ANTHROPIC_API_KEY": "abc", "MEMORY_TODOIST_TOKEN": "def"}


def test_other_platforms_are_told_what_to_start(home: Path, tmp_path: Path):
    with pytest.raises(StoreError, match="Start this at login: .* service run --store"):
        install(tmp_path, machine=Platform("win32", home, {}, Manager()))


def test_a_program_that_does_not_exist_is_a_failure_and_no_error():
    assert login_service.run_command(["no-such-program-here"])[0] == -1
