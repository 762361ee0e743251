"""The command that installs an extra fits the environment and the way that memory_assets was installed."""

import sys
from pathlib import Path

import pytest

from memory_assets.adapters import optional_packages
from memory_assets.adapters.optional_packages import install_command


def test_in_a_checkout_an_extra_comes_in_versions_that_the_tests_passed_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(optional_packages, "CHECKOUT", tmp_path)
    (tmp_path / "constraints.txt").touch()
    expected = f'{sys.executable} -m pip install -c "{tmp_path / "constraints.txt"}" -e "{tmp_path}[scaling]"'
    assert install_command("scaling") == expected


def test_from_a_wheel_the_installed_package_gets_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(optional_packages, "CHECKOUT", tmp_path)
    assert install_command("scaling") == f'{sys.executable} -m pip install "memory_assets[scaling]"'
