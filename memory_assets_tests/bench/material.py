"""What truncating quoted material costs and keeps: the tokens of what a model is shown, and the words that labels rest on.

Of each labelled session: the estimated tokens of its messages as they are shown, for several lengths of what neither the owner nor
the assistant said; and of the key terms of the labels that occur in the messages around their evidence, those that are still shown.
"""

from collections.abc import Sequence
from typing import Any

import polars as pl

from memory_assets.stages.distill.model.material import QUOTED_CHARS, shown
from memory_assets.stages.distill.model.questions import prompt
from memory_assets.stages.evaluate.labels import LabelledSession, read_labels
from memory_assets.stages.evaluate.score import REACH
from memory_assets.text.words import count_tokens
from memory_assets_tests.bench.gold import capture_labelled
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import LABELS

LENGTHS = (150, QUOTED_CHARS, 600, 1_500)
"""1,500 is the baseline."""

EVERYTHING = 10_000_000


def material(small: bool = False) -> list[Row]:
    """Returns a row for each length: its tokens as a share of those at 1,500, and the share of terms that it shows."""
    if not LABELS.is_dir():
        print(f"material: no labelled sessions; {LABELS} does not exist on this machine")
        return []
    labelled = read_labels(LABELS)
    captured = capture_labelled([one.session for one in labelled], small)
    return measure(labelled, captured.messages)


def measure(labelled: Sequence[LabelledSession], messages: pl.DataFrame) -> list[Row]:
    """Returns the rows for the labelled sessions that have messages."""
    rows_of = {
        str(session): own.sort("line").to_dicts()
        for (session,), own in messages.group_by("session_id")
    }
    sessions = [
        (labels, rows_of[labels.session]) for labels in labelled if labels.session in rows_of
    ]
    baseline = sum(_tokens(rows, LENGTHS[-1]) for _, rows in sessions)
    found = []
    for length in LENGTHS:
        tokens, terms = (
            sum(_tokens(rows, length) for _, rows in sessions),
            [_terms(*session, length) for session in sessions],
        )
        kept, all_terms = (sum(column) for column in zip(*terms, strict=True))
        figures = f"{tokens / len(sessions):,.0f} tokens a session, {kept / max(all_terms, 1):.3f} of {all_terms} terms"
        found.append(Row(f"material: tokens at {length} characters", tokens / baseline, figures))
    prompt_tokens = count_tokens(prompt())
    return [
        *found,
        Row(
            "material: the prompt beside it",
            prompt_tokens * len(sessions) / baseline,
            f"{prompt_tokens} tokens",
        ),
    ]


def _tokens(rows: Sequence[dict[str, Any]], length: int) -> int:
    return sum(count_tokens(shown(row, length)) for row in rows)


def _terms(labels: LabelledSession, rows: Sequence[dict[str, Any]], length: int) -> tuple[int, int]:
    """Returns how many key terms are shown, and how many the messages near the evidence have."""
    kept = found = 0
    for label in labels.facts:
        near = [
            row for row in rows if any(abs(row["line"] - line) <= REACH for line in label.evidence)
        ]
        whole, cut = (
            "\n".join(shown(row, limit) for row in near).lower() for limit in (EVERYTHING, length)
        )
        terms = [term for term in label.key_terms if term.lower() in whole]
        found, kept = found + len(terms), kept + sum(term.lower() in cut for term in terms)
    return kept, found
