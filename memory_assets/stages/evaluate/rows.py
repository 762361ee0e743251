"""Makes the rows of the table `evaluation` from a score: the figures of all sessions together, and of each."""

from collections.abc import Iterator
from typing import Any

from memory_assets.stages.evaluate.gold import MEASURES, Evaluation

ALL = "all"
"""Stands in the place of a session for the figures of all together."""

COUNTS = ("allowed", "judged", "right", "noisy")


def evaluation_rows(found: Evaluation, *, version: str, labels_hash: str) -> Iterator[dict[str, Any]]:
    """Yields one row for each session and measure; `version` is that of the rules of distillation."""
    made_by = {"observer": ", ".join(found.observers), "distill_version": version, "labels_hash": labels_hash}
    for session, counts in ((ALL, found.score.counts), *((one.session, one.counts) for one in found.score.sessions)):
        for measure in (*MEASURES, *COUNTS):
            low, high = found.score.intervals.get(measure, (None, None)) if session == ALL else (None, None)
            yield {
                "session_id": session,
                "measure": measure,
                "value": float(getattr(counts, measure)),
                "low": low,
                "high": high,
                **made_by,
            }
