"""The rules of git: nothing that an address, a setting of git or a hook says is run, except what a push needs to authenticate."""

import os
import subprocess
from pathlib import Path

import pytest

from memory_assets.adapters.git_workspace import GitWorkspace, check_remote
from memory_assets.errors import SettingsError


def workspace(root: Path) -> GitWorkspace:
    """Returns a workspace with one commit."""
    git = GitWorkspace(root)
    git.prepare()
    (root / "MEMORY.md").write_text("# Memory\n")
    git.commit("Write", ["MEMORY.md"])
    return git


@pytest.mark.parametrize(
    "remote",
    [
        "ext::sh -c 'touch {ran}'", "ext::sh -c touch% {ran}", "fd::17", "fd::17/x", "--upload-pack=touch {ran}",
        "-oProxyCommand=touch", "ssh://-oProxyCommand=touch/x", "-host:path", "host:-path", "transport::address", "EXT::sh",
        "http::https://a.example", "", " https://a.example/x", "https://",
    ],
)  # fmt: skip
def test_an_address_that_could_run_something_is_refused_and_runs_nothing(
    remote: str, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    asked = remote.replace("{ran}", str(ran))
    with pytest.raises(SettingsError):
        check_remote(asked)
    problem = workspace(tmp_path / "w").push(asked)
    assert problem is not None and "MEMORY_REMOTE" in problem
    assert not ran.exists()


def test_neither_hooks_nor_filters_nor_monitors_of_the_user_run_and_an_alias_of_an_address_runs_no_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, hooks, bare = tmp_path / "ran", tmp_path / "hooks", tmp_path / "bare.git"
    hooks.mkdir()
    for name in (
        "pre-push",
        "pre-commit",
        "post-commit",
        "reference-transaction",
        "commit-msg",
        "prepare-commit-msg",
    ):
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {ran}\n")
        (hooks / name).chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(
        f'[core]\n hooksPath = {hooks}\n fsmonitor = "echo monitor >> {ran}"\n attributesFile = {tmp_path / "attributes"}\n'
        f'[filter "x"]\n clean = "tee -a {ran}"\n smudge = "tee -a {ran}"\n[push]\n gpgSign = true\n'
        f'[url "ext::sh -c touch% {ran}% "]\n insteadOf = https://trap.example/\n'
    )
    (tmp_path / "attributes").write_text("* filter=x\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_SSH_COMMAND", f"touch {ran};")
    subprocess.run(
        ["git", "init", "--quiet", "--bare", str(bare)],
        check=True,
        env={"PATH": os.environ["PATH"]},
    )
    git = workspace(tmp_path / "w")
    assert git.push(str(bare)) is None
    assert git.push("https://trap.example/m.git") is not None
    assert not ran.exists(), ran.read_text()
