"""What tests of the core take from those of optional capabilities, whose folder may be deleted: their `cases.py`."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from memory_assets.schema.extra_folders import extra_names

NAMES = [f"memory_assets_tests.extras.{name}.cases" for name in extra_names()]
CASES: list[Any] = [import_module(name) for name in NAMES if find_spec(name)]
