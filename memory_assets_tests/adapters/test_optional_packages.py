"""The command that installs an extra fits the environment and the way that memory_assets was installed."""

import sys
from pathlib import Path
from types import SimpleNamespace

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


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an environment, outside a checkout, with the package from a registry."""
    monkeypatch.setattr(optional_packages, "CHECKOUT", tmp_path)
    monkeypatch.setattr(optional_packages, "_source", lambda: "")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path


def test_from_a_wheel_the_installed_package_gets_the_extra(outside: Path):
    assert install_command("scaling") == f'{sys.executable} -m pip install "memory_assets[scaling]"'


@pytest.mark.parametrize(
    ("record", "text", "command"),
    [
        (
            "uv-receipt.toml",
            'requirements = [{ name = "memory-assets", extras = ["models"], path = "/w.whl" }]',
            'uv tool install --force "memory_assets[models,notebook]"',
        ),
        (
            "pipx_metadata.json",
            '{"main_package": {"package_or_url": "memory_assets[library,models]"}}',
            'pipx install --force "memory_assets[library,models,notebook]"',
        ),
        ("uv-receipt.toml", "", 'uv tool install --force "memory_assets[notebook]"'),
    ],
)
def test_a_tool_of_uv_or_pipx_is_installed_again_with_the_extras_that_it_has(
    record: str, text: str, command: str, outside: Path
):
    (outside / record).write_text(text)
    assert install_command("notebook") == command


def test_uvx_makes_an_environment_with_the_extra(outside: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "prefix", str(outside / "archive-v0" / "k3x"))
    assert install_command("notebook") == 'uvx --from "memory_assets[notebook]" memory'


@pytest.mark.parametrize(
    ("direct_url", "source"),
    [
        (None, ""),
        ('{"url": "file:///w.whl", "archive_info": {}}', "file:///w.whl"),
        (
            '{"url": "https://example.org/m.git", "vcs_info": {"vcs": "git", "commit_id": "c"}}',
            "git+https://example.org/m.git",
        ),
    ],
)
def test_the_extra_comes_from_where_the_package_came_from(
    direct_url: str | None, source: str, outside: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.undo()
    monkeypatch.setattr(optional_packages, "CHECKOUT", outside)
    installed = SimpleNamespace(read_text=lambda _: direct_url)
    monkeypatch.setattr(optional_packages, "distribution", lambda _: installed)
    at = f" @ {source}" if source else ""
    assert install_command("todoist").endswith(f'"memory_assets[todoist]{at}"')
