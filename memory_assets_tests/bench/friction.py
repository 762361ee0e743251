"""Whether planted frictions are found, with the right target, change and evidence, and nothing else is.

Synthetic weeks (`memory_assets_tests/stages/friction/weeks`) are written as transcripts of the harnesses and captured for real. `dev`
is there to develop with; `held` was written before any detector, and `later` before they were last changed, with corrections
and failures in other wordings. Nobody looks at what is found or missed in these two.
"""

import tempfile
from pathlib import Path

from memory_assets.services.search.corpus import open_embedder
from memory_assets_tests.bench.row import Row
from memory_assets_tests.stages.friction.scoring import Score, findings_of, score
from memory_assets_tests.stages.friction.weeks import SyntheticWeek, captured, weeks


def friction(small: bool = False) -> list[Row]:
    """Returns precision and recall of each part, and what is found in clean weeks."""
    embedder = open_embedder("all-MiniLM-L6-v2")
    rows = []
    for part, floor in (("dev", 0.9), ("held", None), ("later", 0.85)):
        total, clean = Score(), 0
        with tempfile.TemporaryDirectory(prefix="bench-friction-") as root:
            for week in _weeks(part, small):
                found = score(
                    week, findings_of(week, captured(week, Path(root) / week.name).tables, embedder)
                )
                total += found
                clean += 0 if week.planted else len(found.extra)
        planted, said = len(total.found) + len(total.missed), len(total.found) + len(total.extra)
        rows += [
            Row(
                f"friction: precision, {part}",
                total.precision,
                f"{len(total.found)} of {said} found were planted",
                floor=floor,
            ),
            Row(
                f"friction: recall, {part}",
                total.recall,
                f"{len(total.found)} of {planted} planted were found",
                floor=floor,
            ),
            Row(
                f"friction: found in clean weeks, {part}",
                clean,
                f"{sum(not w.planted for w in _weeks(part, small))} weeks",
                limit=0,
            ),
        ]
    return rows


def _weeks(part: str, small: bool) -> tuple[SyntheticWeek, ...]:
    return weeks(part)[: 1 if small else None]
