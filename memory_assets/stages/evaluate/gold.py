"""Scores the observations of a store against labelled sessions, and tells what became of every label and fact.

Takes the tables and labels, gives an `Evaluation`. Sessions that the store does not hold are listed and left out of the
figures; captured ones of which nothing was distilled count as what they are, nothing found.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from memory_assets.errors import LabelsError
from memory_assets.schema.protocols import Tables
from memory_assets.stages.evaluate.labels import LabelledFact, LabelledSession, read_labels
from memory_assets.stages.evaluate.recorded import read_against
from memory_assets.stages.evaluate.score import REACH, Counts, Fact, Paired, Score, find_noise, is_placed, score
from memory_assets.stages.evaluate.wording import agreement, content_words, likeness

Shown = Literal["misses", "wrong", "noise"]
MEASURES = ("recall", "recall_high", "recall_owner_rules", "precision", "noise", "f1")
"""Figures of an evaluation, in the order in which they are told; each is an attribute of `Counts`."""

FLOORS = {"recall": 0.30, "recall_owner_rules": 0.30, "precision": 0.20}
"""What the rules must reach on sessions that are hard in the usual ways; a model reaches twice as much."""

CEILINGS = {"noise": 0.10}
"""One allowed fact in ten that labels call noise is where readers stop trusting the rest."""


@dataclass(frozen=True)
class Finding:
    """One label or fact that went wrong, and why, for whoever wants to mend a rule."""

    session: str
    what: str
    """The label's id, or the observation's."""
    text: str
    lines: tuple[int, ...]
    why: str


@dataclass(frozen=True)
class Evaluation:
    """How well a store's observations, or others', cover the labelled sessions."""

    labels: Path
    score: Score
    missing: tuple[str, ...]
    """Labelled sessions that the store does not hold."""
    observers: tuple[str, ...]
    """Who extracted the facts."""
    against: Score | None = None
    """The same sessions with the facts of another extractor."""
    shown: tuple[Finding, ...] = ()

    @property
    def failed(self) -> tuple[str, ...]:
        """The measures that miss their floor or ceiling."""
        return failed_measures(self.score.counts)

    def to_dict(self) -> dict[str, Any]:
        """Returns the evaluation for programs."""
        return {
            "labels": self.labels,
            "observers": self.observers,
            **_figures(self.score),
            "failed": self.failed,
            "missing": self.missing,
            "per_session": [_of_session(one) for one in self.score.sessions],
            "against": _figures(self.against) if self.against else None,
            "shown": [asdict(finding) for finding in self.shown],
        }


def failed_measures(counts: Counts) -> tuple[str, ...]:
    """Returns the measures that miss their floor or ceiling."""
    low = [name for name, floor in FLOORS.items() if getattr(counts, name) < floor]
    return (*low, *(name for name, ceiling in CEILINGS.items() if getattr(counts, name) > ceiling))


def evaluate(tables: Tables, folder: Path, *, against: Path | None = None, show: Shown | None = None) -> Evaluation:
    """Returns how well the store covers the labels of the folder; raises `LabelsError` where it holds none of the sessions."""
    labelled = read_labels(folder)
    held = sessions_in(tables)
    present = [one for one in labelled if one.session in held]
    missing = tuple(one.session for one in labelled if one.session not in held)
    if not present:
        raise LabelsError(
            f"None of the {len(labelled)} labelled sessions in {folder} is in this store. Name the folder of their transcripts "
            "in MEMORY_SOURCES and run `memory ingest`, or choose the store with MEMORY_DATA."
        )
    sessions = [one.session for one in present]
    facts = facts_of(tables, sessions)
    scored = score(present, facts)
    return Evaluation(
        labels=folder,
        score=scored,
        missing=missing,
        observers=_observers(tables, sessions),
        against=score(present, read_against(against, tables, sessions)) if against else None,
        shown=tuple(find_faults(present, scored, facts, show)) if show else (),
    )


def facts_of(tables: Tables, sessions: Sequence[str]) -> list[Fact]:
    """Returns the store's facts of the sessions, allowed and held, in the order of an export."""
    columns = ["session_id", "text", "lines", "gate", "id", "gate_reason"]
    rows = tables.scan("observations").filter(pl.col("session_id").is_in(list(sessions))).select(columns).collect()
    return [Fact(session, text, tuple(lines), *rest) for session, text, lines, *rest in rows.iter_rows()]


def find_faults(labelled: Sequence[LabelledSession], scored: Score, facts: Sequence[Fact], show: Shown) -> Iterator[Finding]:
    """Yields the labels that nobody said, the allowed facts that no label says, or those that a noise label says."""
    for labels, paired in zip(labelled, scored.sessions, strict=True):
        own = [fact for fact in facts if fact.session == labels.session]
        if show == "misses":
            yield from (_miss(labels.session, label, own) for label in paired.missed)
        else:
            yield from _wrong(labels, paired, show)


def _miss(session: str, label: LabelledFact, facts: Iterable[Fact]) -> Finding:
    said_by = f"{label.priority} {label.kind} of the {label.said_by}"
    return Finding(session, label.id, label.text, label.evidence, f"{said_by}: {_why_missed(label, list(facts))}")


def _why_missed(label: LabelledFact, facts: Sequence[Fact]) -> str:
    """Returns where the label stopped: held by the gate, said elsewhere, taken by another label, worded otherwise, or never."""
    said = [fact for fact in facts if likeness(fact.text, label.text, label.key_terms)]
    placed = [fact for fact in said if is_placed(fact, label)]
    if held := [fact for fact in placed if fact.gate != "allow"]:
        return f"held as {held[0].id} ({held[0].reason})"
    if placed:
        return f"{placed[0].id} says it, and says another label better"
    if said:
        return f"{said[0].id} says it, from other records"
    words = content_words(label.text)
    near = [(agreement(content_words(fact.text), words), fact) for fact in facts if is_placed(fact, label)]
    if not near:
        return f"no observation within {REACH} records of its evidence"
    best, fact = max(near, key=lambda entry: (entry[0], entry[1].id))
    return f"nearest is {fact.id} ({fact.gate}, {best:.2f} alike)"


def _wrong(labels: LabelledSession, paired: Paired, show: Shown) -> Iterator[Finding]:
    for fact, outcome in paired.outcomes:
        if outcome == "noise":
            noise = find_noise(fact, labels.noise)
            why = f"noise: {noise.why or 'labelled as such'}" if noise else "noise"
            yield Finding(labels.session, fact.id, fact.text, fact.lines, why)
        elif outcome == "wrong" and show == "wrong":
            yield Finding(labels.session, fact.id, fact.text, fact.lines, "no label says it")


def sessions_in(tables: Tables) -> set[str]:
    """Returns the sessions that the store holds."""
    return set(tables.read("windows", columns=["session_id"])["session_id"])


def _observers(tables: Tables, sessions: Sequence[str]) -> tuple[str, ...]:
    rows = tables.scan("observations").filter(pl.col("session_id").is_in(list(sessions))).select("observer").unique().collect()
    return tuple(sorted(rows["observer"]))


def _figures(scored: Score) -> dict[str, Any]:
    return {
        "sessions": len(scored.sessions),
        "allowed": scored.counts.allowed,
        "allowed_per_session": round(scored.allowed_per_session, 2),
        "most_in_a_session": scored.most_in_a_session,
        "sessions_at_zero": scored.at_zero,
        "measures": {name: round(getattr(scored.counts, name), 6) for name in MEASURES},
        "intervals_90": scored.intervals,
    }


def _of_session(one: Paired) -> dict[str, Any]:
    measures = {name: round(getattr(one.counts, name), 6) for name in MEASURES}
    return {"session": one.session, **measures, **asdict(one.counts)}
