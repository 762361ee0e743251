"""The requirements can be resolved in their newest and oldest allowed versions, and beside an older torch, polars or pydantic.

Asks the package registry, so it runs with `make test-all` only.
"""

import os
import subprocess
import tomllib
from functools import cache

import pytest
from packaging.requirements import Requirement

from memory_assets_tests.conftest import REPOSITORY

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get("TEST_ALL"), reason="asks a registry: `make test-all`"),
]
PROJECT = REPOSITORY / "pyproject.toml"


@cache
def versions(resolution: str, *pins: str) -> dict[str, str]:
    """The version of each package, as uv resolves what running and the extra `models` need."""
    done = subprocess.run(
        [
            *("uv", "pip", "compile", "--quiet", "--no-header", "--no-annotate"),
            *("--python-version", "3.12", "--resolution", resolution, "--extra", "models"),
            *(str(PROJECT), "-"),
        ],
        input="\n".join(pins),
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.partition(" ;")[0] for line in done.stdout.splitlines()]
    return dict(line.split("==") for line in lines if "==" in line)


@pytest.mark.parametrize("resolution", ["lowest-direct", "highest"])
def test_oldest_and_newest_allowed_versions_fit_together(resolution: str):
    resolved = versions(resolution)
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    required = [*project["dependencies"], *project["optional-dependencies"]["models"]]
    for requirement in map(Requirement, required):
        assert requirement.specifier.contains(resolved[requirement.name]), requirement


@pytest.mark.parametrize("name", ["torch", "polars", "pydantic"])
def test_a_project_that_keeps_the_oldest_allowed_version_of_one_gets_the_rest(name: str):
    oldest = versions("lowest-direct")[name]
    assert oldest != versions("highest")[name]
    assert versions("highest", f"{name}=={oldest}")[name] == oldest
