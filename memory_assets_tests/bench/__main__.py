"""Measures what was promised and prints it: `make bench`, or `python -m memory_assets_tests.bench ROW ...` for some rows.

Every row is a ratio taken in one run on one machine, with the limit if there is one and the absolute figures beside it. The
real transcripts are used where they exist (`../shared/data`), else the bundled sample, which is too small for more than a
look. Rows are functions that return `Row`s; each stands in a module named after what it measures. `--small` runs them on little
input, so that each can be seen to run: figures mean nothing then, and no limit is judged.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory_assets_tests.bench.capture_memory import capture_memory
from memory_assets_tests.bench.coverage import coverage
from memory_assets_tests.bench.doors import doors
from memory_assets_tests.bench.factors import factors
from memory_assets_tests.bench.friction import friction
from memory_assets_tests.bench.gold import gold
from memory_assets_tests.bench.honesty import honesty
from memory_assets_tests.bench.latency import latency
from memory_assets_tests.bench.leaving_out import leaving_out
from memory_assets_tests.bench.locomo import locomo
from memory_assets_tests.bench.long_messages import long_messages
from memory_assets_tests.bench.pairs import pairs
from memory_assets_tests.bench.pipeline import pipeline
from memory_assets_tests.bench.questions import questions
from memory_assets_tests.bench.reading import masking, reading
from memory_assets_tests.bench.reflections import reflections
from memory_assets_tests.bench.relevance import relevance
from memory_assets_tests.bench.replay import replay
from memory_assets_tests.bench.row import Row, render
from memory_assets_tests.bench.scale import scale
from memory_assets_tests.bench.secrets import secrets
from memory_assets_tests.bench.shared import shared
from memory_assets_tests.bench.start import start
from memory_assets_tests.bench.transcripts import described
from memory_assets_tests.bench.workers import workers

ROWS: dict[str, Callable[[bool], list[Row]]] = {
    "coverage": coverage,
    "capture-memory": capture_memory,
    "reading": reading,
    "masking": masking,
    "secrets": secrets,
    "pipeline": pipeline,
    "gold": gold,
    "replay": replay,
    "pairs": pairs,
    "reflections": reflections,
    "doors": doors,
    "leaving-out": leaving_out,
    "locomo": locomo,
    "long-messages": long_messages,
    "honesty": honesty,
    "questions": questions,
    "relevance": relevance,
    "factors": factors,
    "latency": latency,
    "scale": scale,
    "shared": shared,
    "start": start,
    "friction": friction,
    "workers": workers,
}


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
    names = asked.rows or list(ROWS)
    if unknown := [name for name in names if name not in ROWS]:
        parser.error(f"there is no row {unknown[0]!r}; the rows are {', '.join(ROWS)}")
    print(f"Transcripts: {described(asked.small)}", flush=True)
    missed = 0
    for name in names:
        for row in ROWS[name](asked.small):
            if asked.small:
                row = replace(row, limit=None, floor=None)
            print(render(row), flush=True)
            missed += row.is_missed
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
