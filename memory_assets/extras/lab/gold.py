"""Scores the observations of a store, or recorded facts, against labelled sessions; reports every
label's and fact's outcome.

Takes the tables and labels, gives an `Evaluation` and the rows of the table `evaluation`. Sessions
that the store does not have are listed and left out of the figures; a captured session without
observations counts as nothing found.

The store can be compared with the facts of another extractor as JSON Lines, or with a model's raw
answers: files of a folder, one for each session, named `<session>.answer.xml` (or with another
ending). They go through parser, grounding and gate against the session's messages as one window, so
that the extraction alone is measured.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from memory_assets.errors import LabelsError
from memory_assets.extras.lab.labels import (
    LabelledFact,
    LabelledSession,
    read_labels,
    session_id,
)
from memory_assets.extras.lab.score import (
    REACH,
    Counts,
    Fact,
    Score,
    find_noise,
    is_placed,
    score,
)
from memory_assets.stages.distill.day import build_day
from memory_assets.stages.distill.model.observer import Answered
from memory_assets.stages.distill.standards import MOST_ALLOWED
from memory_assets.stages.maintain.wording import agreement, content_words, likeness
from memory_assets.store.parquet_tables import ParquetTables

Shown = Literal["misses", "wrong", "noise"]
MEASURES = ("recall", "recall_high", "recall_owner_rules", "precision", "noise", "f1")
"""Figures of an evaluation, in their order; each is an attribute of `Counts`."""

ALL = "all"
"""In place of a session: the figures of all sessions."""

COUNTS = ("allowed", "judged", "right", "noisy")

FLOORS = {"recall": 0.10, "recall_owner_rules": 0.30, "precision": 0.40}
"""What the rules must reach on sessions of usual difficulty. They keep few facts; a model recalls
several times as many.
"""

CEILINGS = {"noise": 0.06}
"""With much more than one noise fact in twenty, readers stop trusting the rest."""


@dataclass(frozen=True)
class Finding:
    """One label or fact with a wrong outcome, and why."""

    session: str
    what: str
    """The label's id, or the observation's."""
    text: str
    lines: tuple[int, ...]
    why: str


@dataclass(frozen=True)
class Evaluation:
    """How well the observations of a store cover the labelled sessions."""

    labels: Path
    score: Score
    missing: tuple[str, ...]
    """Labelled sessions that the store does not have."""
    observers: tuple[str, ...]
    """The extractors of the facts."""
    against: Score | None = None
    """The same sessions with the facts of another extractor."""
    shown: tuple[Finding, ...] = ()

    @property
    def failed(self) -> tuple[str, ...]:
        """The measures below their floor or above their ceiling."""
        counts = self.score.counts
        low = (name for name, floor in FLOORS.items() if getattr(counts, name) < floor)
        return (
            *low,
            *(name for name, ceiling in CEILINGS.items() if getattr(counts, name) > ceiling),
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the evaluation for programs."""
        return {
            "labels": self.labels,
            "observers": self.observers,
            **_figures(self.score),
            "failed": self.failed,
            "missing": self.missing,
            "per_session": [
                {"session": one.session, **_measures(one.counts), **asdict(one.counts)}
                for one in self.score.sessions
            ],
            "against": _figures(self.against) if self.against else None,
            "shown": [asdict(finding) for finding in self.shown],
        }


def evaluate(
    tables: ParquetTables, folder: Path, *, against: Path | None = None, show: Shown | None = None
) -> Evaluation:
    """Returns how well the store covers the labels of the folder; raises `LabelsError` where it has
    none of the sessions.
    """
    labelled = read_labels(folder)
    captured = {session_id(session): session for session in sessions_in(tables)}
    present = [
        labels.model_copy(update={"session": captured[labels.id]})
        for labels in labelled
        if labels.id in captured
    ]
    if not present:
        raise LabelsError(
            f"None of the {len(labelled)} labelled sessions in {folder} is in this store. "
            "Name the folder of their transcripts "
            "in MEMORY_SOURCES and run `memory ingest`, or choose the store with MEMORY_DATA."
        )
    sessions = [one.session for one in present]
    facts = facts_of(tables, sessions)
    scored = score(present, facts)
    observers = (
        tables.scan("observations")
        .filter(pl.col("session_id").is_in(sessions))
        .select("observer")
        .unique()
        .collect()
    )
    return Evaluation(
        labels=folder,
        score=scored,
        missing=tuple(labels.session for labels in labelled if labels.id not in captured),
        observers=tuple(sorted(observers["observer"])),
        against=score(present, read_against(against, tables, sessions)) if against else None,
        shown=tuple(find_faults(present, scored, facts, show)) if show else (),
    )


def facts_of(tables: ParquetTables, sessions: Sequence[str]) -> list[Fact]:
    """Returns the store's facts of the sessions, allowed and held, in the order of an export."""
    columns = ["session_id", "text", "lines", "gate", "id", "gate_reason"]
    rows = (
        tables.scan("observations")
        .filter(pl.col("session_id").is_in(list(sessions)))
        .select(columns)
        .collect()
    )
    return [
        Fact(session, text, tuple(lines), *rest) for session, text, lines, *rest in rows.iter_rows()
    ]


def find_faults(
    labelled: Sequence[LabelledSession], scored: Score, facts: Sequence[Fact], show: Shown
) -> Iterator[Finding]:
    """Yields the labels without a fact, the allowed facts without a label, or the facts that match
    a noise label.
    """
    for labels, paired in zip(labelled, scored.sessions, strict=True):
        if show == "misses":
            own = [fact for fact in facts if fact.session == labels.session]
            for label in paired.missed:
                why = (
                    f"{label.priority} {label.kind} of the {label.said_by}: "
                    f"{_why_missed(label, own)}"
                )
                yield Finding(labels.session, label.id, label.text, label.evidence, why)
            continue
        for fact, outcome in paired.outcomes:
            why = "no label says it" if outcome == "wrong" and show == "wrong" else ""
            if outcome == "noise":
                noise = find_noise(fact, labels.noise)
                why = f"noise: {noise.why or 'labelled as such'}" if noise else "noise"
            if why:
                yield Finding(labels.session, fact.id, fact.text, fact.lines, why)


def _why_missed(label: LabelledFact, facts: Sequence[Fact]) -> str:
    """Returns where the label was lost: held, found elsewhere, taken by another label, worded
    otherwise, or never found.
    """
    alike = [fact for fact in facts if likeness(fact.text, label.text, label.key_terms)]
    placed = [fact for fact in alike if is_placed(fact, label)]
    if held := [fact for fact in placed if fact.gate != "allow"]:
        return f"held as {held[0].id} ({held[0].reason})"
    if placed:
        return f"{placed[0].id} says it, and says another label better"
    if alike:
        return f"{alike[0].id} says it, from other records"
    words = content_words(label.text)
    near = [
        (agreement(content_words(fact.text), words), fact.id, fact.gate)
        for fact in facts
        if is_placed(fact, label)
    ]
    if not near:
        return f"no observation within {REACH} records of its evidence"
    best, id, gate = max(near)
    return f"nearest is {id} ({gate}, {best:.2f} alike)"


def sessions_in(tables: ParquetTables) -> set[str]:
    """Returns the sessions of the store."""
    return set(tables.read("windows", columns=["session_id"])["session_id"])


def _figures(scored: Score) -> dict[str, Any]:
    return {
        "sessions": len(scored.sessions),
        "allowed": scored.counts.allowed,
        "allowed_per_session": round(scored.allowed_per_session, 2),
        "most_in_a_session": scored.most_in_a_session,
        "sessions_at_zero": scored.at_zero,
        "measures": _measures(scored.counts),
        "intervals_90": scored.intervals,
    }


def _measures(counts: Counts) -> dict[str, float]:
    return {name: round(getattr(counts, name), 6) for name in MEASURES}


def evaluation_rows(
    found: Evaluation, *, version: str, labels_hash: str
) -> Iterator[dict[str, Any]]:
    """Yields a row of `evaluation` for each session and measure; `version` is that of the rules of
    distillation.
    """
    made_by = {
        "observer": ", ".join(found.observers),
        "distill_version": version,
        "labels_hash": labels_hash,
    }
    for session, counts in (
        (ALL, found.score.counts),
        *((one.session, one.counts) for one in found.score.sessions),
    ):
        for measure in (*MEASURES, *COUNTS):
            low, high = (
                found.score.intervals.get(measure, (None, None)) if session == ALL else (None, None)
            )
            value = float(getattr(counts, measure))
            yield {
                "session_id": session,
                "measure": measure,
                "value": value,
                "low": low,
                "high": high,
                **made_by,
            }


def read_against(path: Path, tables: ParquetTables, sessions: Sequence[str]) -> list[Fact]:
    """Returns the facts of a file of JSON Lines, or of a folder of raw answers about the
    sessions.
    """
    if path.is_dir():
        return list(_answers(path, tables, sessions))
    return [
        _fact(path, number, line)
        for number, line in enumerate(_text(path).splitlines(), start=1)
        if line.strip()
    ]


def _answers(folder: Path, tables: ParquetTables, sessions: Sequence[str]) -> Iterator[Fact]:
    session_of = {session_id(session): session for session in sessions}
    files = dict[str, Path]()
    for file in sorted(folder.iterdir()):
        session = session_of.get(session_id(file.name.split(".")[0]))
        if session:
            files.setdefault(session, file)
    if not files:
        raise LabelsError(
            f"{folder} holds no answer about any of the {len(sessions)} labelled sessions. "
            "Name each file after its session, "
            "such as `<session>.answer.xml`."
        )
    for session, file in files.items():
        yield from _read_as_one_window(session, _text(file), tables)


def _read_as_one_window(session: str, answer: str, tables: ParquetTables) -> Iterator[Fact]:
    own = pl.col("session_id") == session
    window = (
        tables.scan("windows")
        .filter(own & pl.col("day").is_not_null())
        .sort("started_at", "window_id")
        .head(1)
        .collect()
    )
    window = window.with_columns(window_id=pl.lit(session), status=pl.lit("observed"))
    messages = tables.scan("messages").filter(own).sort("line", "message_id").collect()
    messages = messages.with_columns(
        window_id=pl.lit(session), ordinal=pl.int_range(pl.len(), dtype=pl.Int64)
    )
    answers = {session: [Answered(0, messages.height - 1, "recorded", "recorded", answer)]}
    observations = build_day(window, messages, answers=answers, allowances={session: MOST_ALLOWED})[
        "observations"
    ]
    for text, lines, gate, id, reason in observations.select(
        "text", "lines", "gate", "id", "gate_reason"
    ).iter_rows():
        yield Fact(session, text, tuple(lines), gate, id, reason)


def _fact(path: Path, number: int, line: str) -> Fact:
    try:
        row = json.loads(line)
        return Fact(
            str(row["session"]),
            str(row["text"]),
            tuple(map(int, row["lines"])),
            str(row.get("gate", "allow")),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LabelsError(
            f"Cannot use {path}, line {number}, as a fact ({type(error).__name__}). Each "
            "line is one JSON object with "
            "`session`, `text`, `lines` (record numbers) and, where it is not `allow`, `gate`."
        ) from error


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LabelsError(
            f"Cannot read {path} to compare with: {error}. Name a file of JSON Lines, or a "
            "folder of raw answers."
        ) from error
