"""Reads facts to compare a store with: of another extractor as JSON Lines, or a model's raw answers.

Raw answers are files of a folder, one for each session, named `<session>.answer.xml` (or with another ending). They go through
parser, grounding and gate against the session's messages as one window, so that the extraction alone is measured.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from memory_assets.errors import LabelsError
from memory_assets.schema.protocols import Tables
from memory_assets.stages.distill.day import build_day
from memory_assets.stages.distill.model.observer import Answered
from memory_assets.stages.distill.write_gate import MOST_ALLOWED
from memory_assets.stages.evaluate.score import Fact


def read_against(path: Path, tables: Tables, sessions: Sequence[str]) -> list[Fact]:
    """Returns the facts of a file of JSON Lines, or of a folder of raw answers about the sessions."""
    if path.is_dir():
        return list(_answers(path, tables, sessions))
    return [_fact(path, number, line) for number, line in enumerate(_text(path).splitlines(), start=1) if line.strip()]


def _answers(folder: Path, tables: Tables, sessions: Sequence[str]) -> Iterator[Fact]:
    files = {session: found[0] for session in sessions if (found := sorted(folder.glob(f"{session}.*")))}
    if not files:
        raise LabelsError(
            f"{folder} holds no answer about any of the {len(sessions)} labelled sessions. Name each file after its session, "
            "such as `<session>.answer.xml`."
        )
    for session, file in files.items():
        yield from _read_as_one_window(session, _text(file), tables)


def _read_as_one_window(session: str, answer: str, tables: Tables) -> Iterator[Fact]:
    own = pl.col("session_id") == session
    window = tables.scan("windows").filter(own & pl.col("day").is_not_null()).sort("started_at", "window_id").head(1).collect()
    window = window.with_columns(window_id=pl.lit(session), status=pl.lit("observed"))
    messages = tables.scan("messages").filter(own).sort("line", "message_id").collect()
    messages = messages.with_columns(window_id=pl.lit(session), ordinal=pl.int_range(pl.len(), dtype=pl.Int64))
    answers = {session: [Answered(0, messages.height - 1, "recorded", "recorded", answer)]}
    observations = build_day(window, messages, answers=answers, allowances={session: MOST_ALLOWED})["observations"]
    for text, lines, gate, id, reason in observations.select("text", "lines", "gate", "id", "gate_reason").iter_rows():
        yield Fact(session, text, tuple(lines), gate, id, reason)


def _fact(path: Path, number: int, line: str) -> Fact:
    try:
        row = json.loads(line)
        return Fact(str(row["session"]), str(row["text"]), tuple(map(int, row["lines"])), str(row.get("gate", "allow")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LabelsError(
            f"Cannot use {path}, line {number}, as a fact ({type(error).__name__}). Each line is one JSON object with "
            "`session`, `text`, `lines` (record numbers) and, where it is not `allow`, `gate`."
        ) from error


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LabelsError(
            f"Cannot read {path} to compare with: {error}. Name a file of JSON Lines, or a folder of raw answers."
        ) from error
