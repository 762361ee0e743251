"""Compares the verdicts of a store with people's decisions, and judges past rows with other limits.

This module reads the tables and the ledger. `calibration` counts, `reruling` applies the limits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import polars as pl

from memory_assets.extras.lab import calibration, reruling
from memory_assets.schema.progress import track
from memory_assets.services.review.open_triage import rules_of
from memory_assets.services.search.corpus import open_embedder
from memory_assets.stages.distill.day import WindowFindings, find_in_windows
from memory_assets.stages.distill.model.answer_rows import answers_by_window
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.standards import standards_of
from memory_assets.stages.triage.current import read_current, read_proposals
from memory_assets.store.store import Store

By = Literal["reason", "category", "version"]


@dataclass(frozen=True)
class Calibration:
    """Verdicts compared with people's decisions, and the past rows that other limits would flip."""

    rows: tuple[dict[str, Any], ...]
    """Sums of the table `calibration`."""
    by: By | None
    limits: tuple[str, ...]
    flips: tuple[reruling.Flip, ...]


def calibrate_all(
    store: Store, *, by: By | None = None, limits: Sequence[str] = (), days: Sequence[date] = ()
) -> Calibration:
    """Returns the present calibration of the store.

    With limits (`NAME=VALUE`), also the rows of the days whose verdict would change.
    """
    flips = tuple(_flips(store, limits, [day.isoformat() for day in days])) if limits else ()
    columns = ["judge", "verdict", by] if by else ["judge", "verdict"]
    rows = calibration.sum_up(calibration_of(store), columns)
    return Calibration(tuple(rows.iter_rows(named=True)), by, tuple(limits), flips)


def calibration_of(store: Store) -> pl.DataFrame:
    """Returns the table `calibration`."""
    tables = store.tables
    verdicts = tables.read("verdicts", columns=["candidate_id", "verdict", "reason", "observer"])
    columns = ["id", "category", "observer", "prompt_hash"]
    observations = tables.read("observations", columns=columns)
    reviews = tables.read("model_reviews")
    return calibration.calibrate(
        verdicts, observations, read_proposals(tables), reviews, _history_of(store)
    )


def _history_of(store: Store) -> calibration.ReviewHistory:
    decisions = store.tables.read("decisions")
    entries = store.tables.read("entries")
    return calibration.ReviewHistory(
        decisions, store.ledger.events(), entries, rules_of(store.settings)
    )


def _flips(store: Store, options: Sequence[str], days: list[str]) -> Iterator[reruling.Flip]:
    """Yields the rows of the days that flip: candidates of the gate, then proposals."""
    standards = standards_of(store.settings)
    history = _history_of(store)
    limits = reruling.parse_limits(options, reruling.Limits(gate=standards.limits))
    added = calibration.line_proposals(read_proposals(store.tables))
    outcomes = calibration.find_outcomes(added, history)
    if any(option.startswith("gate.") for option in options):
        verdicts = store.tables.read("verdicts", days, columns=["candidate_id", "verdict"])
        windows = store.tables.read("windows")
        findings = list(_findings(store, windows, days))
        fact_outcomes = calibration.outcomes_by_observation(added, outcomes)
        stored = dict(verdicts.iter_rows())
        yield from reruling.flips_of_gate(
            findings, windows, limits.gate, stored, fact_outcomes, standards
        )
    current = read_current(store.tables)
    ids = (row["proposal_id"] for row in added if row["day"].isoformat() in days)
    proposals = [current[id] for id in ids]
    states = {
        id: ruling["state"] for id, ruling in calibration.verdicts_of_rules(history.events).items()
    }
    yield from reruling.flips_of_triage(
        proposals, limits.triage, history.rules.guarded, states, outcomes
    )


def _findings(store: Store, windows: pl.DataFrame, days: Sequence[str]) -> Iterator[WindowFindings]:
    """Yields the candidates in each window of the days, by rules or in the stored answers."""
    answers = AnswerStore(store.root / "answers")
    for day in track(days, "Applying the rules again"):
        replies = answers_by_window(store.tables.read("observer_answers", [day]), answers)
        day_windows = windows.filter(day=date.fromisoformat(day))
        embedder = open_embedder(store.settings.embedding_model) if replies else None
        messages = store.tables.read("messages", [day])
        yield from find_in_windows(day_windows, messages, replies, embedder)
