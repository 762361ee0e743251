"""The wheel has all that running needs but the packages that it requires: code, sample, notebook, docs, weights."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets_tests.conftest import REPOSITORY

pytestmark = pytest.mark.slow

SHOW = """
from memory_assets.adapters import local_embedder
from memory_assets.memory.documentation import read_page
from memory_assets.memory.notebook import bundled
from memory_assets.stages.capture.sample import sample_root
local_embedder.DEFAULT_PACKAGE = "no_such_package_of_weights"
embedder = local_embedder.LocalEmbedder()
print(sample_root(), bundled(), local_embedder.model_folder(embedder.name), embedder.version, read_page("model").path, sep="\\n")
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the wheel; it is built from installed packages, so nothing is fetched."""
    built, folder = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("unpacked")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", built],
        cwd=REPOSITORY,
        check=True,
    )
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_outside_a_checkout_sample_notebook_docs_and_weights_are_those_of_the_wheel(unpacked: Path):
    done = subprocess.run(
        [sys.executable, "-c", SHOW], cwd=unpacked, capture_output=True, text=True, check=True
    )
    package = unpacked / "memory_assets"
    expected = [
        package / "_sample",
        package / "_notebooks" / "memory.ipynb",
        package / "_model",
        LocalEmbedder().version,
        package / "_docs" / "model.md",
    ]
    assert done.stdout.splitlines() == list(map(str, expected))


def test_the_wheel_has_the_plugin(unpacked: Path):
    plugin = REPOSITORY / "memory_assets" / "plugin"
    files = {path.relative_to(plugin) for path in plugin.rglob("*") if path.is_file()}
    installed = unpacked / "memory_assets" / "plugin"
    assert {path.relative_to(installed) for path in installed.rglob("*") if path.is_file()} == files


def test_the_wheel_requires_what_a_checkout_requires_and_not_the_package_of_weights(unpacked: Path):
    (metadata,) = unpacked.glob("*.dist-info/METADATA")
    lines = metadata.read_text("utf-8").splitlines()
    required = {
        line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")
    }
    running = {line for line in required if "extra ==" not in line}
    assert running and not [
        line for line in running if line.startswith(("gt-all-", "sentence-transformers", "torch"))
    ]
    assert any(
        line.startswith("sentence-transformers") and "extra == 'models'" in line
        for line in required
    )
