"""Scores the observations of a store against labelled sessions, and lists labels and facts that
disagree.

Takes the tables and the labels, gives an `Evaluation` and the rows of the table `evaluation`.
Labelled sessions that the store does not have are listed and left out of the figures. In a captured
session without observations, no label counts as found.

The facts of another extractor can be scored beside those of the store: a file of JSON Lines, or a
folder with one raw answer of a model for each session, named `<session>.answer.xml` (or with
another ending). Such an answer goes through parser, grounding and gate, with all messages of the
session as one window, so that only the model's extraction differs.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from memory_assets.errors import LabelsError
from memory_assets.extras.lab.labels import LabelledFact, LabelledSession, read_labels, session_id
from memory_assets.extras.lab.score import (
    REACH,
    Counts,
    Fact,
    Paired,
    Score,
    find_noise,
    is_placed,
    score,
)
from memory_assets.memory import MemoryAgent
from memory_assets.stages.distill.day import build_day
from memory_assets.stages.distill.model.observer import Answered
from memory_assets.stages.distill.standards import MOST_ALLOWED
from memory_assets.stages.maintain.text_agreement import agreement, content_words, likeness
from memory_assets.store.parquet_tables import ParquetTables

Shown = Literal["misses", "wrong", "noise"]
MEASURES = ("recall", "recall_high", "recall_owner_rules", "precision", "noise", "f1")
"""Figures of an evaluation, in their order; each is an attribute of `Counts`."""

ALL = "all"
"""Stands for a session in the rows with the figures of all sessions."""

COUNTS = ("allowed", "judged", "right", "noisy")
"""Numbers of facts in the table; each is an attribute of `Counts`."""

FLOORS = {"recall": 0.10, "recall_owner_rules": 0.30, "precision": 0.40}
"""The least that the rules should reach on sessions of usual difficulty. They are low because rules
keep few facts; a model finds several times as many.
"""

CEILINGS = {"noise": 0.06}
"""With much more than one noise fact in twenty, readers stop trusting the rest."""


@dataclass(frozen=True)
class Finding:
    """A label that no fact covers, or a fact that is wrong or noise."""

    session: str
    what: str
    """Id of the label or of the observation."""
    text: str
    lines: tuple[int, ...]
    """Record numbers in the transcript."""
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
        low = [name for name, floor in FLOORS.items() if getattr(counts, name) < floor]
        high = [name for name, ceiling in CEILINGS.items() if getattr(counts, name) > ceiling]
        return (*low, *high)

    def to_dict(self) -> dict[str, Any]:
        """Returns the evaluation for JSON."""
        per_session = [
            {"session": paired.session, **_measures(paired.counts), **asdict(paired.counts)}
            for paired in self.score.sessions
        ]
        return {
            "labels": self.labels,
            "observers": self.observers,
            **_figures(self.score),
            "failed": self.failed,
            "missing": self.missing,
            "per_session": per_session,
            "against": _figures(self.against) if self.against else None,
            "shown": [asdict(finding) for finding in self.shown],
        }


def evaluate_store(
    agent: MemoryAgent,
    labels: Path | None = None,
    *,
    against: Path | None = None,
    show: Shown | None = None,
) -> Evaluation:
    """Returns how well the observations of the agent's store cover labelled sessions.

    `labels` is their folder, by default that of the setting `gold`. `against` is a file or folder
    with the facts of another extractor. `show` lists missed labels, wrong facts or noise.
    """
    folder = labels or agent.settings.gold
    if folder is None:
        raise LabelsError(
            "No folder of labelled sessions is given. Name one, or set MEMORY_GOLD; see "
            "`memory docs operating`."
        )
    return evaluate(agent.store.tables, folder, against=against, show=show)


def evaluate(
    tables: ParquetTables, folder: Path, *, against: Path | None = None, show: Shown | None = None
) -> Evaluation:
    """Returns how well the store covers the labels of the folder.

    Raises `LabelsError` where the store has none of the sessions.
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
            "Name the folder of their transcripts in MEMORY_SOURCES and run `memory ingest`, or "
            "choose the store with MEMORY_DATA."
        )
    sessions = [labels.session for labels in present]
    facts = facts_of(tables, sessions)
    scored = score(present, facts)
    observations = tables.scan("observations").filter(pl.col("session_id").is_in(sessions))
    observers = observations.select(pl.col("observer").unique().sort()).collect()
    return Evaluation(
        labels=folder,
        score=scored,
        missing=tuple(labels.session for labels in labelled if labels.id not in captured),
        observers=tuple(observers["observer"]),
        against=score(present, read_against(against, tables, sessions)) if against else None,
        shown=tuple(find_faults(present, scored, facts, show)) if show else (),
    )


def facts_of(tables: ParquetTables, sessions: Sequence[str]) -> list[Fact]:
    """Returns the store's facts of the sessions, allowed and held, in the order of an export."""
    observations = tables.scan("observations").filter(pl.col("session_id").is_in(sessions))
    return list(_facts_in(observations.select(_FACT_COLUMNS).collect()))


_FACT_COLUMNS = ("session_id", "text", "lines", "gate", "id", "gate_reason")


def _facts_in(observations: pl.DataFrame) -> Iterator[Fact]:
    rows = observations.select(_FACT_COLUMNS).iter_rows()
    for session, text, lines, gate, id, reason in rows:
        yield Fact(session, text, tuple(lines), gate, id, reason)


def find_faults(
    labelled: Sequence[LabelledSession], scored: Score, facts: Sequence[Fact], show: Shown
) -> Iterator[Finding]:
    """Yields the labels without a fact, the allowed facts without a label, or the facts that match
    a noise label.
    """
    for labels, paired in zip(labelled, scored.sessions, strict=True):
        if show == "misses":
            yield from _misses(paired, [fact for fact in facts if fact.session == paired.session])
        else:
            yield from _wrong_facts(labels, paired, show)


def _misses(paired: Paired, facts: Sequence[Fact]) -> Iterator[Finding]:
    for label in paired.missed:
        what = f"{label.priority} {label.kind} of the {label.said_by}"
        why = f"{what}: {_why_missed(label, facts)}"
        yield Finding(paired.session, label.id, label.text, label.evidence, why)


def _wrong_facts(labels: LabelledSession, paired: Paired, show: Shown) -> Iterator[Finding]:
    """Yields the facts that match noise; for `wrong`, also those that match no label."""
    for fact, outcome in paired.outcomes:
        why = "no label says it" if outcome == "wrong" and show == "wrong" else ""
        noise = find_noise(fact, labels.noise) if outcome == "noise" else None
        if noise:
            why = f"noise: {noise.why or 'labelled as such'}"
        if why:
            yield Finding(labels.session, fact.id, fact.text, fact.lines, why)


def _why_missed(label: LabelledFact, facts: Sequence[Fact]) -> str:
    """Returns why no allowed fact covers the label.

    A fact that says it may be held, match another label better, or come from other records.
    Otherwise the most similar fact from the same records is named.
    """
    matches = [fact for fact in facts if likeness(fact.text, label.text, label.key_terms)]
    nearby = [fact for fact in facts if is_placed(fact, label)]
    candidates = [fact for fact in matches if fact in nearby]
    held = [fact for fact in candidates if fact.gate != "allow"]
    if held:
        return f"held as {held[0].id} ({held[0].reason})"
    if candidates:
        return f"{candidates[0].id} says it, and says another label better"
    if matches:
        return f"{matches[0].id} says it, from other records"
    return _describe_nearest(label, nearby)


def _describe_nearest(label: LabelledFact, nearby: Sequence[Fact]) -> str:
    if not nearby:
        return f"no observation within {REACH} records of its evidence"
    words = content_words(label.text)
    similarities = [
        (agreement(content_words(fact.text), words), fact.id, fact.gate) for fact in nearby
    ]
    best, id, gate = max(similarities)
    return f"nearest is {id} ({gate}, {best:.2f} alike)"


def sessions_in(tables: ParquetTables) -> set[str]:
    """Returns the ids of the sessions of the store."""
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
    evaluation: Evaluation, *, version: str, labels_hash: str
) -> Iterator[dict[str, Any]]:
    """Yields a row of `evaluation` for each session and measure.

    `version` is that of the rules that extract facts.
    """
    scored = evaluation.score
    counts_of = {ALL: scored.counts}
    counts_of |= {paired.session: paired.counts for paired in scored.sessions}
    for session, counts in counts_of.items():
        intervals = scored.intervals if session == ALL else {}
        for measure in (*MEASURES, *COUNTS):
            low, high = intervals.get(measure, (None, None))
            yield {
                "session_id": session,
                "measure": measure,
                "value": float(getattr(counts, measure)),
                "low": low,
                "high": high,
                "observer": ", ".join(evaluation.observers),
                "distill_version": version,
                "labels_hash": labels_hash,
            }


def read_against(path: Path, tables: ParquetTables, sessions: Sequence[str]) -> list[Fact]:
    """Returns the facts in a file of JSON Lines, or in a folder of raw answers."""
    if path.is_dir():
        return list(_answers(path, tables, sessions))
    lines = enumerate(_text(path).splitlines(), start=1)
    return [_fact(path, number, line) for number, line in lines if line.strip()]


def _answers(folder: Path, tables: ParquetTables, sessions: Sequence[str]) -> Iterator[Fact]:
    session_of = {session_id(session): session for session in sessions}
    files = dict[str, Path]()
    for file in sorted(folder.iterdir()):
        name = file.name.partition(".")[0]
        session = session_of.get(session_id(name))
        if session:
            files.setdefault(session, file)
    if not files:
        raise LabelsError(
            f"{folder} holds no answer about any of the {len(sessions)} labelled sessions. "
            "Name each file after its session, such as `<session>.answer.xml`."
        )
    for session, file in files.items():
        yield from _read_as_one_window(session, _text(file), tables)


def _read_as_one_window(session: str, answer: str, tables: ParquetTables) -> Iterator[Fact]:
    """Yields the facts of a model's answer about the session, as one window with all messages.

    The window is the first one of the session, under the session's id.
    """
    window_id = pl.lit(session)
    windows = tables.scan("windows").filter(pl.col("day").is_not_null(), session_id=session)
    window = windows.sort("started_at", "window_id").head(1).collect()
    window = window.with_columns(window_id=window_id, status=pl.lit("observed"))
    messages = tables.scan("messages").filter(session_id=session).sort("line", "message_id")
    ordinal = pl.int_range(pl.len(), dtype=pl.Int64)
    messages = messages.collect().with_columns(window_id=window_id, ordinal=ordinal)
    answers = {session: [Answered(0, messages.height - 1, "recorded", "recorded", answer)]}
    day = build_day(window, messages, answers=answers, allowances={session: MOST_ALLOWED})
    observations = day["observations"].with_columns(session_id=window_id)
    yield from _facts_in(observations)


def _fact(path: Path, number: int, line: str) -> Fact:
    try:
        row = json.loads(line)
        lines = tuple(map(int, row["lines"]))
        return Fact(str(row["session"]), str(row["text"]), lines, str(row.get("gate", "allow")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LabelsError(
            f"Cannot use {path}, line {number}, as a fact ({type(error).__name__}). Each line is "
            "one JSON object with `session`, `text`, `lines` (record numbers) and, where it is not "
            "`allow`, `gate`."
        ) from error


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LabelsError(
            f"Cannot read {path} to compare with: {error}. Name a file of JSON Lines, or a "
            "folder of raw answers."
        ) from error
