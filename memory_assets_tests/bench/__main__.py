"""Measures what was promised and prints it: `make bench`, or `python -m memory_assets_tests.bench ROW ...` for some rows.

Every row is a ratio taken in one run on one machine, with the limit if there is one and the absolute figures beside it. The
real transcripts are used where they exist (`../shared/data`), else the bundled sample, which is too small for more than a
look. Rows are functions that return `Row`s; each stands in a module named after what it measures. `--small` runs them on little
input, so that each can be seen to run: figures mean nothing then, and no limit is judged.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module

from memory_assets_tests.bench.row import Row, render
from memory_assets_tests.bench.transcripts import described

ROWS = (
    "coverage capture-memory reading masking secrets pipeline gold replay pairs reflections doors leaving-out locomo "
    "long-messages honesty holds names remem questions relevance factors latency scale shared start friction "
    "obedience histories long-history workers first-words build one-more page"
).split()
"""Each in the module of its name, but `masking`, which is measured beside `reading`."""


def measure(name: str, small: bool) -> list[Row]:
    """Returns the lines of the row; only the modules of the rows that are asked for are imported."""
    function = name.replace("-", "_")
    module = "reading" if name == "masking" else function
    try:
        row = getattr(import_module(f"memory_assets_tests.bench.{module}"), function)
    except ModuleNotFoundError as error:
        if not str(error.name).startswith(("memory_assets.extras.", "memory_assets_tests.extras.")):
            raise
        print(f"{name}: no measurement; {error.name}, an optional capability, is not there")
        return []
    return row(small)


def main(arguments: Sequence[str]) -> int:
    """Measures the named rows, all by default; returns 1 when a limit is missed."""
    parser = argparse.ArgumentParser(prog="bench", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help=f"any of: {', '.join(ROWS)} (all by default)"
    )
    parser.add_argument(
        "--small", action="store_true", help="run each row on little input, and judge no limit"
    )
    asked = parser.parse_args(arguments)
    names = asked.rows or ROWS
    if unknown := [name for name in names if name not in ROWS]:
        parser.error(f"there is no row {unknown[0]!r}; the rows are {', '.join(ROWS)}")
    print(f"Transcripts: {described(asked.small)}", flush=True)
    missed = 0
    for name in names:
        for row in measure(name, asked.small):
            if asked.small:
                row = replace(row, limit=None, floor=None)
            print(render(row), flush=True)
            missed += row.is_missed
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
