"""Sentences that people labelled, in the JSON file beside a test that has its name: tables of cases, some of them in groups."""

import json
from pathlib import Path
from typing import Any


def labelled(test: str) -> dict[str, list[Any]]:
    """Returns the cases of each table of the test in this file, those of its groups one after the other."""
    tables = json.loads(Path(test).with_suffix(".json").read_bytes())
    return {name: _cases(table) for name, table in tables.items()}


def _cases(table: Any) -> list[Any]:
    if isinstance(table, dict):
        return [case for cases in table.values() for case in cases]
    return table
