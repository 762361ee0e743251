"""Judges past rows again with other limits, and reports the verdicts that would change.

Takes the candidates of windows, or proposals, with limits by name (`gate.least_useful=0.75`); gives
a `Flip` for each changed verdict, with what people decided about the row. Nothing is written and no
model is asked.

A session may add only so many facts, so a candidate can flip because another candidate of the
session did. Each proposal is judged alone: one that was merged or repeated keeps its state. Rows
whose stored verdict the present rules do not reproduce are left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Literal

import polars as pl

from memory_assets.errors import QuestionError
from memory_assets.schema.protocols import Row
from memory_assets.stages.distill import standards
from memory_assets.stages.distill.day import WindowFindings, judge_windows
from memory_assets.stages.distill.rows import candidate_id
from memory_assets.stages.triage.auto import TriageLimits, decide
from memory_assets.stages.triage.wording import line_of


@dataclass(frozen=True)
class Limits:
    """The limits of the write gate and of triage."""

    gate: standards.GateLimits = field(default_factory=standards.GateLimits)
    triage: TriageLimits = field(default_factory=TriageLimits)


NAMES = (
    *(f"gate.{field.name}" for field in fields(standards.GateLimits)),
    *(f"triage.{field.name}" for field in fields(TriageLimits)),
)
"""The names of all limits, each with its judge before the dot."""


@dataclass(frozen=True)
class Flip:
    """A past row that gets another verdict under other limits."""

    judge: Literal["gate", "triage"]
    id: str
    """Id of the candidate or of the proposal."""
    text: str
    category: str
    was: str
    why_was: str
    becomes: str
    why_becomes: str
    outcome: str
    """What people decided, as in the table `calibration`."""


def parse_limits(options: Sequence[str], present: Limits = Limits()) -> Limits:
    """Returns the present limits, changed by each `NAME=VALUE`.

    Raises `QuestionError` for an unknown name, with the known names, or for a wrong value.
    """
    limits = present
    for option in options:
        name, _, value = option.partition("=")
        if name not in NAMES:
            raise QuestionError(
                f"There is no limit '{name}'; name one as NAME=VALUE: {', '.join(NAMES)}."
            )
        judge, _, limit = name.partition(".")
        judge_limits = getattr(limits, judge)
        number = _number(name, value, type(getattr(judge_limits, limit)))
        changed = replace(judge_limits, **{limit: number})
        limits = replace(limits, **{judge: changed})
    return limits


def _number(name: str, value: str, kind: type) -> int | float:
    try:
        number = kind(value)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise QuestionError(f"'{value}' is no value of {name}; give {what}.") from None
    if not 0 <= number < float("inf"):
        raise QuestionError(f"{name} cannot be {value}; give a number from 0.")
    return number


def flips_of_gate(
    findings: Sequence[WindowFindings],
    windows: pl.DataFrame,
    limits: standards.GateLimits,
    stored: Mapping[str, str],
    outcomes: Mapping[str, str],
    present: standards.Standards = standards.DEFAULT_STANDARDS,
) -> Iterator[Flip]:
    """Yields the candidates in the findings that flip.

    `windows` are all windows of the store, because what a window may add depends on earlier ones.
    `stored` has the verdict of each candidate, `outcomes` what people decided about each
    observation, by id. `present` are today's standards.
    """
    past_allowances = standards.plan_allowances(windows, present.limits.most_allowed)
    past_results = judge_windows(findings, past_allowances, present)
    new_allowances = standards.plan_allowances(windows, limits.most_allowed)
    new_results = judge_windows(findings, new_allowances, replace(present, limits=limits))
    for (window, past), (_, new) in zip(past_results, new_results, strict=True):
        for was, becomes in zip(past, new, strict=True):
            id = candidate_id(was.candidate, window.segments)
            if was.verdict != becomes.verdict and stored.get(id) == was.verdict:
                outcome = outcomes.get(id, "unseen") if was.verdict == "allow" else "unseen"
                change = (was.verdict, was.reason, becomes.verdict, becomes.reason, outcome)
                yield Flip("gate", id, was.candidate.text, was.category, *change)


def flips_of_triage(
    proposals: Iterable[Row],
    limits: TriageLimits,
    guarded: frozenset[str],
    states: Mapping[str, str],
    outcomes: Mapping[str, str],
) -> Iterator[Flip]:
    """Yields the proposals that flip; each has all its later confirmations.

    `states` has the verdict of rules on each proposal, by id. A proposal without one is `pending`:
    it was left to a model or a person.
    """
    for row in proposals:
        text = line_of(row["text"])
        proposal = {**row, "text": text, "said": row["text"], "memory_state": "active"}
        was = decide(proposal, guarded=guarded)
        becomes = decide(proposal, guarded=guarded, limits=limits)
        id = row["proposal_id"]
        if was.state != becomes.state and states.get(id, "pending") == was.state:
            change = (was.state, was.reason, becomes.state, becomes.reason, outcomes[id])
            yield Flip("triage", id, text, row["category"], *change)
