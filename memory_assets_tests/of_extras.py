"""What tests of the core know of optional capabilities, whose folder may be deleted with its tests."""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from memory_assets.schema.extra_folders import extra_names

DELETED = {"lab", "library", "project", "replay", "scaling", "service", "sharing"} - {
    *extra_names()
}

TRIGGERS = ("triggers",) if "lab" in DELETED else ("lab", "triggers")
"""The command of that verb."""

NAMES = [f"memory_assets_tests.extras.{name}.cases" for name in extra_names()]
CASES: list[Any] = [import_module(name) for name in NAMES if find_spec(name)]
"""The `cases.py` of their tests."""

needs_all = pytest.mark.skipif(bool(DELETED), reason=f"docs describe {sorted(DELETED)} too")


def commands_there(commands: Iterable[Any]) -> list[Any]:
    """Returns the commands that are not those of a deleted capability, which are named after it."""
    return [words for words in commands if words[0].split()[0] not in DELETED]
